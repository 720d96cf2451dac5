"""What a command may know of the session that runs it, as environment variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zot_core.ctx.protocols import ToolContext
    from zot_plugins.tool_bash.settings import BashSettings


def session_variables(ctx: ToolContext, settings: BashSettings) -> dict[str, str]:
    """`ZOT_SESSION_ID` and its like, and the same as `PI_…` for scripts written for that agent.

    The plugin's setting `expose_session_environment` false leaves them out.
    """
    if not settings.expose_session_environment:
        return {}
    session, models = getattr(ctx, "session", None), getattr(ctx, "models", None)
    model = models.current if models is not None else None
    values = {
        "SESSION_ID": session.id if session is not None else "",
        "SESSION_FILE": (session.file or "") if session is not None else "",
        "SESSION_CWD": str(ctx.cwd) if session is not None else "",
        "PROVIDER": model.provider if model is not None else "",
        "MODEL": model.id if model is not None else "",
        "REASONING_LEVEL": models.thinking if models is not None and model is not None else "",
    }
    return {prefix + name: value for prefix in ("ZOT_", "PI_") for name, value in values.items() if value}

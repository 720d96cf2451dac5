"""Whether the project of a Runtime is trusted: asks plugins that are no matter of trust themselves, then the person.

The order of who decides is `zot_core.config.trust`'s; this is the part that needs plugins and a front end.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from zot_core.config.trust import REMEMBER, TrustStore, decide, found_to_trust

if TYPE_CHECKING:
    from zot_core.app import App
    from zot_core.config.settings import LoadedSettings
    from zot_core.ctx.protocols import Ui
    from zot_core.events.session import Trust
    from zot_core.plugins.host import PluginHost

_ONCE = "Yes, this time"
_NO = "No"
_NEVER = "No, and remember it"


class TrustContext:
    """`ctx` of `project_trust`: there is no session yet, only a person to ask."""

    def __init__(self, *, cwd: str, mode: str, has_ui: bool, ui: Ui) -> None:
        self.cwd = Path(cwd)
        self.mode = mode
        self.has_ui = has_ui
        self.ui = ui


async def is_trusted(app: App, host: PluginHost, settings: LoadedSettings, cwd: str) -> bool:
    """Decides, says once what is left out, and keeps a decision for this process."""
    if cwd in app.trust_decisions:
        return app.trust_decisions[cwd]
    found = found_to_trust(cwd, app.paths.home)
    # A program is asked by plugins only: the person's trust is not for it to give, and it may wait for ever.
    has_ui, asks = app.front.mode in ("repl", "rpc"), app.front.mode == "repl"
    ctx = TrustContext(cwd=cwd, mode=app.front.mode, has_ui=has_ui, ui=app.front.ui)

    async def ask_plugins() -> Trust | None:
        if not host.pipeline.wants("project_trust"):
            return None
        from zot_core.events.session import ProjectTrustEvent, Trust

        answer = await host.pipeline.ask(ProjectTrustEvent(cwd=cwd, found=found), ctx_for=lambda plugin: ctx)
        return answer.value if answer is not None and isinstance(answer.value, Trust) else None

    async def ask_person() -> Trust | None:
        from zot_core.events.session import Trust

        listed = ", ".join(found)
        title = f"Trust {cwd}? Its own {listed} can act and steer without asking."
        chosen = await app.front.ui.select(title, [_NO, _ONCE, REMEMBER, _NEVER])
        return {
            REMEMBER: Trust(True, remember=True),
            _ONCE: Trust(True),
            _NO: Trust(False),
            _NEVER: Trust(False, remember=True),
        }.get(chosen or "")

    decision = await decide(
        cwd,
        found,
        TrustStore(app.paths),
        command_line=app.options.trust,
        plugins=ask_plugins,
        default=settings.values.default_project_trust,
        person=ask_person if asks else None,
    )
    app.problems(decision.problems)
    if decision.notice:
        app.note(decision.notice, "warning")
    if found:
        app.trust_decisions[cwd] = decision.trusted
    return decision.trusted

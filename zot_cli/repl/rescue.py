"""When a model could not answer and no fallback is left: the person may try again, or let another model answer.

Offered for failures that another try or model may mend, never for a wrong request. Knows the application.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zot_cli.repl.dialogs.select import Choice
from zot_core.types.messages import AssistantMessage

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl
    from zot_core.agent.loop import RunEnd
    from zot_core.app import App
    from zot_core.types.failure import Failure
    from zot_core.types.specs import ModelSpec

KINDS = frozenset({"auth", "rate_limit", "overloaded", "network", "provider", "refused"})
_AGAIN, _NOT = "again", "no"


async def offered(repl: Repl, app: App, failure: Failure) -> RunEnd | None:
    """What came of the person's choice; None when there was nothing to choose, or the answer was no."""
    if failure.kind not in KINDS or not app.is_idle:
        return None
    messages = app.runtime.state.messages
    if not messages or isinstance(messages[-1], AssistantMessage):
        return None  # it has begun to answer: what is there is kept, and the next prompt goes on from it
    current = app.runtime.choice.model
    others = [model for model in _usable(app) if current is None or model.id != current.id]
    if failure.kind == "auth" and not others:
        return None
    choices = [Choice(value=_NOT, label="Not now"), Choice(value=_AGAIN, label="Try again")]
    choices += [Choice(value=f"{m.provider}/{m.id}", label=f"Let {m.provider}/{m.id} answer") for m in others]
    chosen = await repl.ui.choose("The model could not answer. What now?", choices)
    if chosen in (None, _NOT):
        return None
    if chosen != _AGAIN and not await app.runtime.choice.set_model(str(chosen)):
        return None
    return await app.again()


def _usable(app: App) -> list[ModelSpec]:
    there = {spec.id for spec in app.runtime.models.providers() if app.looks_usable(spec)}
    return [model for model in app.runtime.models.models() if model.provider in there]

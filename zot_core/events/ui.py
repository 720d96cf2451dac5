"""Events of waiting for a person."""

from __future__ import annotations

from typing import Literal

from zot_core.events.base import Fact
from zot_core.types.record import record

__all__ = ["UiPromptEndEvent", "UiPromptStartEvent"]


@record(kw_only=True)
class UiPromptStartEvent(Fact):
    """Sent when a dialog begins to wait for a person; overlapping dialogs are one span."""

    kind: Literal["select", "confirm", "input", "editor", "question", "custom"]
    title: str = ""
    reason: str = "ui_prompt"
    awaited = False
    modes = "R I"


@record(kw_only=True)
class UiPromptEndEvent(Fact):
    """Sent when the span that `ui_prompt_start` opened is over."""

    reason: str = "ui_prompt"
    awaited = False
    modes = "R I"

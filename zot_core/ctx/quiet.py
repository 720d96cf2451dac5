"""A front end for commands that only look at a session. Knows no output: its notes are the caller's to show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zot_core.ctx.null_ui import NullUi
from zot_core.frontend import Note

if TYPE_CHECKING:
    from zot_core.agent.sink import Stored
    from zot_core.events.base import Block, Event, Handled
    from zot_core.types.specs import Mode


class QuietFront:
    """Wants no event, asks nobody and keeps the `notes` in their order."""

    mode: Mode = "print"
    plugin: object = None
    wants: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.ui = NullUi(self.note, self.mode)

    def event(self, event: Event, stop: Block | Handled | None = None, plugin: str = "") -> None:
        """Nothing is shown."""

    def stored(self, stored: Stored) -> None:
        """Nothing is shown."""

    def note(self, note: Note) -> None:
        """Kept."""
        self.notes.append(note)

"""Completions as data: what providers of suggestions answer. Plugins stack theirs on the screen's. Knows no screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from zot_core.types.record import record


@record(kw_only=True)
class Suggestion:
    """What would be inserted, what is shown (the value if that is empty), and a word on it."""

    value: str
    label: str = ""
    description: str = ""


@record(kw_only=True)
class Found:
    """Suggestions for `prefix`, the text before the cursor that one of them would replace."""

    prefix: str
    items: tuple[Suggestion, ...]


class Provider(Protocol):
    """What `ctx.ui.add_autocomplete_provider` stacks. Only `get_suggestions` must be there; it is asked at each change
    of the text, so it should be quick. One that has `trigger_characters` is asked by a Tab too when only such a
    character stands before the cursor."""

    async def get_suggestions(self, lines: Sequence[str], line: int, column: int, *, forced: bool) -> Found | None:
        """Suggestions at a place, None for none; `forced` when the person asked (Tab)."""

    def apply_completion(
        self, lines: Sequence[str], line: int, column: int, item: Suggestion, prefix: str
    ) -> tuple[list[str], int, int]:
        """The lines with the suggestion in them, and where the cursor is then."""

    def should_trigger_file_completion(self, lines: Sequence[str], line: int, column: int) -> bool:
        """Whether a Tab may complete a path here; True where it is not said."""

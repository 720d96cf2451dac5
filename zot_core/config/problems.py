"""What is wrong with a file of the person's, in a form that every front end can show. Knows no file format."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from zot_core.types.failure import ZotError
from zot_core.types.record import record

Level: TypeAlias = Literal["info", "warning", "error"]


@record
class Problem:
    """One thing that is wrong: where (`line` counts from 1; None is the whole file) and what, for a person to read."""

    level: Level
    file: str
    line: int | None
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.message}" if place else self.message

    def plain(self) -> list[Any]:
        """The problem as JSON; `Problem(*plain)` is the way back."""
        return [self.level, self.file, self.line, self.message]


class SaveRefused(ZotError):
    """A file was not written, and nothing was lost: it does not parse, cannot be read, or another process holds it."""


def nearest(word: str, known: tuple[str, ...] | list[str], cutoff: float = 0.6) -> str | None:
    """The known spelling nearest to `word`, or None. camelCase counts as its snake_case."""
    from difflib import get_close_matches

    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in word).lstrip("_").replace("-", "_")
    if snake in known:
        return snake
    matches = get_close_matches(snake, known, n=1, cutoff=cutoff)
    return matches[0] if matches else None

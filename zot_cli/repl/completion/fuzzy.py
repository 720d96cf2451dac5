"""How well a typed word fits a name: letters in order, runs and beginnings of words worth more. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def score(word: str, name: str) -> int | None:
    """How well `word` fits `name`, higher is better; None when its letters are not all there in this order."""
    if not word:
        return 0
    low, wanted = name.casefold(), word.casefold()
    place = low.rfind(wanted, low.rfind("/") + 1)
    if place < 0:
        place = low.find(wanted)
    if place >= 0:
        base = low.rfind("/") + 1
        start = place == 0 or not low[place - 1].isalnum()
        return 1000 + 200 * (place >= base) + 200 * (place == base) + 50 * start - len(name)
    found, at, run = 0, -1, 0
    for letter in wanted:
        place = low.find(letter, at + 1)
        if place < 0:
            return None
        run = run + 1 if place == at + 1 else 0
        found += 1 + 5 * run + 8 * (place == 0 or not low[place - 1].isalnum())
        at = place
    return found - len(name) // 8


def best(word: str, items: Iterable[T], name: Callable[[T], str], limit: int) -> list[T]:
    """The items that fit, the best first; of equal ones the first stays first."""
    scored = [(found, item) for item in items if (found := score(word, name(item))) is not None]
    scored.sort(key=lambda pair: -pair[0])
    return [item for _, item in scored[:limit]]

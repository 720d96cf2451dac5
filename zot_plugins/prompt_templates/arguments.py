"""Arguments in a template: one pass over the template's own text, so that nothing in an argument is ever read again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_PLACE = re.compile(
    r"""\\(?P<kept>\$(?:[1-9@{]|ARGUMENTS))          # \$1 is the text $1
    | \$(?P<bare>[1-9]\d*|@|ARGUMENTS\b)
    | \$\{(?P<name>[1-9]\d*|@|ARGUMENTS)(?::-(?P<default>[^}]*))?\}
    | \$\{(?:@|ARGUMENTS):(?P<first>[1-9]\d*)(?::(?P<count>\d+))?\}
    """,
    re.VERBOSE,
)


class Argument(NamedTuple):
    """One argument: its text without quotes, and where it stands in what was typed."""

    text: str
    start: int
    end: int


def parsed(typed: str) -> list[Argument]:
    """The arguments in what was typed after the name.

    Blanks part them. One that begins with `'` or `"` ends at the same sign before a blank or the end, and may have
    blanks and newlines in it; without such a sign the quote is text like any other. A backslash is text.
    """
    found: list[Argument] = []
    place = 0
    while place < len(typed):
        if typed[place].isspace():
            place += 1
            continue
        end = _closing(typed, place) if typed[place] in "'\"" else -1
        if end > place:
            found.append(Argument(typed[place + 1 : end], place, end + 1))
            place = end + 1
            continue
        end = next((at for at in range(place, len(typed)) if typed[at].isspace()), len(typed))
        found.append(Argument(typed[place:end], place, end))
        place = end
    return found


def filled(template: str, typed: str) -> str:
    """The template with the arguments in their places. Text that no place takes in comes after it, and is not lost."""
    arguments = parsed(typed)
    used = False

    def put(match: re.Match[str]) -> str:
        nonlocal used
        if match["kept"]:
            return match["kept"]
        used = True
        if match["first"]:
            return _slice(typed, arguments, int(match["first"]), match["count"])
        name = match["bare"] or match["name"]
        value = typed if not name.isdigit() else _positional(arguments, int(name))
        return value or match["default"] or ""

    text = _PLACE.sub(put, template)
    return text if used or not typed else f"{text.rstrip()}\n\n{typed}"


def _closing(typed: str, start: int) -> int:
    quote = typed[start]
    end = typed.find(quote, start + 1)
    while end >= 0 and end + 1 < len(typed) and not typed[end + 1].isspace():
        end = typed.find(quote, end + 1)
    return end


def _positional(arguments: Sequence[Argument], number: int) -> str:
    return arguments[number - 1].text if number <= len(arguments) else ""


def _slice(typed: str, arguments: Sequence[Argument], first: int, count: str | None) -> str:
    """What was typed from one argument on, as it was typed: its blanks, newlines and quotes too."""
    chosen = arguments[first - 1 :] if count is None else arguments[first - 1 : first - 1 + int(count)]
    if not chosen:
        return ""
    return typed[chosen[0].start :] if count is None else typed[chosen[0].start : chosen[-1].end]

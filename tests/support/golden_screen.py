"""A screen as a text that a person can read: its rows, and below them which colours stand where, by the theme's names.

Paths, times and the project's random folder are replaced, so that the text is the same on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from support.pty_screen import PtyScreen

from zot_core.ui.theme import built_in
from zot_core.ui.tokens import KNOWN, is_background

_CLOCK = re.compile(r"\b\d+(?:\.\d)? s\b|\b\d+ min \d+ s\b")
_VERSION = re.compile(r"^zot \d\S*", re.MULTILINE)
_SPINNER = re.compile("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]")
_FIRST = ("text", "accent", "dim", "muted", "success", "warning", "error", "border", "toolOutput")
"""Names that are taken for a colour that several tokens have."""
_ATTRIBUTES = ("bold", "italics", "underscore", "strikethrough", "reverse")


def as_text(screen: PtyScreen, appearance: Any, replaced: Mapping[str, str] | None = None) -> str:
    """Rows, a rule, and a line for each row that has colours: `row: name column-column …`, columns from 1."""
    rows = [_stable(line, replaced or {}) for line in screen.text.split("\n")]
    names = _names(appearance)
    colours = []
    for number in range(len(rows)):
        spans = _spans(screen, number, names)
        if spans:
            colours.append(f"{number + 1:>2}  {'  '.join(spans)}")
    edge = "+" + "-" * screen.screen.columns + "+"
    return "\n".join([edge, *rows, edge, *colours]) + "\n"


def _stable(line: str, replaced: Mapping[str, str]) -> str:
    for path, word in replaced.items():
        line = line.replace(path, word)
    line = _SPINNER.sub("*", _VERSION.sub("zot X.Y.Z", line))
    return _CLOCK.sub("<time>", line).rstrip()


def _names(appearance: Any) -> dict[str, str]:
    """The theme's colours by their digits, the first token of each; as the terminal is told them."""
    theme, names = built_in(appearance), {}
    for token in (*_FIRST, *sorted(KNOWN)):
        colour = theme.style(token)
        if not colour.is_default and colour.rgb is not None:
            key = "".join(f"{part:02x}" for part in colour.rgb)
            names.setdefault(("bg " if is_background(token) else "") + key, token)
    return names


def _spans(screen: PtyScreen, number: int, names: Mapping[str, str]) -> list[str]:
    spans: list[tuple[str, int, int]] = []
    row = screen.screen.buffer[number]
    for column in range(screen.screen.columns):
        char = row[column]
        words = [] if char.data in ("", " ") else _words(char, names)
        said = "+".join(words)
        if said and spans and spans[-1][0] == said and _blank_between(row, spans[-1][2], column):
            spans[-1] = (said, spans[-1][1], column + 1)
        elif said:
            spans.append((said, column + 1, column + 1))
    return [f"{name} {first}-{last}" if last > first else f"{name} {first}" for name, first, last in spans]


def _words(char: Any, names: Mapping[str, str]) -> list[str]:
    words = [] if char.fg == "default" else [names.get(char.fg, f"#{char.fg}")]
    words += [] if char.bg == "default" else [names.get(f"bg {char.bg}", f"bg #{char.bg}")]
    return words + [name for name in _ATTRIBUTES if getattr(char, name)]


def _blank_between(row: Any, after: int, column: int) -> bool:
    return all(row[place].data in ("", " ") for place in range(after, column))

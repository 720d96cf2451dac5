"""Several lines to type in, as a component for use inside others: a page of its own, a form. The screen's own editor is
`AppEditor`. Knows no terminal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from zot_core.ui.ansi import CURSOR, plain, wrap
from zot_core.ui.component import Component
from zot_core.ui.controls import is_key_name
from zot_core.ui.keys import Keybindings

if TYPE_CHECKING:
    from zot_core.ui.theme import Theme

NEW_LINE = ("shift+enter", "alt+enter", "ctrl+j")


class Editor(Component):
    """Lines to type in. `on_submit(text)` and `on_cancel()` are called; `text` and `at`, the cursor's place in it, may
    be set. Enter submits and shift+enter begins a line, the other way round with `enter_breaks` (then ctrl+d submits).
    """

    def __init__(
        self,
        on_submit: Callable[[str], object],
        on_cancel: Callable[[], object] = lambda: None,
        *,
        text: str = "",
        placeholder: str = "",
        enter_breaks: bool = False,
        theme: Theme | None = None,
        keybindings: Keybindings | None = None,
        rows: int = 10,
    ) -> None:
        self.text = text
        self.at = len(text)
        self._on_submit, self._on_cancel = on_submit, on_cancel
        self._placeholder, self._enter_breaks = placeholder, enter_breaks
        self._theme, self._keys, self._rows = theme, keybindings or Keybindings(), rows
        self._column: int | None = None

    def render(self, width: int) -> list[str]:
        """The text with the cursor, wrapped, at most `rows` lines around it."""
        mark, blank = (self._theme.fg("accent", "› ") if self._theme is not None else "› "), "  "
        if not self.text:
            word = self._theme.fg("dim", self._placeholder) if self._theme is not None else self._placeholder
            return [f"{mark}{CURSOR}{word or ' '}"]
        at = max(0, min(self.at, len(self.text)))
        after = self.text[at:]
        shown = self.text[:at] + CURSOR + (after if after[:1] not in ("", "\n") else f" {after}")
        lines = wrap(shown, max(width - 2, 1))
        here = next((number for number, line in enumerate(lines) if CURSOR in line), 0)
        first = max(0, min(here - self._rows + 1, len(lines) - self._rows))
        shown_lines = enumerate(lines[first : first + self._rows], first)
        return [(mark if number == 0 else blank) + line for number, line in shown_lines]

    def handle_key(self, key: str) -> None:
        """Types, moves, erases, submits. A paste keeps its line breaks."""
        before, column = self.text[: self.at], self._column
        self._column = None
        if self._keys.matches(key, "tui.select.cancel"):
            self._on_cancel()
        elif key == ("ctrl+d" if self._enter_breaks else "enter"):
            self._on_submit(self.text)
        elif key in NEW_LINE or key == "enter":
            self._put(before + "\n")
        elif key == "backspace":
            self._put(before[:-1])
        elif key == "delete":
            self._put(before, self.text[self.at + 1 :])
        elif key in ("ctrl+w", "alt+backspace"):
            self._put(before[: _word_left(before)])
        elif key == "ctrl+u":
            self._put(before[: before.rfind("\n") + 1])
        elif key == "ctrl+k":
            self._put(before, self.text[self._line_end() :] if self._line_end() > self.at else self.text[self.at + 1 :])
        elif key in ("up", "down"):
            self._vertical(-1 if key == "up" else 1, column)
        elif key in _MOVES or not is_key_name(key):
            self._type_or_move(key, before)

    def _type_or_move(self, key: str, before: str) -> None:
        moves = {
            "left": self.at - 1,
            "right": self.at + 1,
            "home": before.rfind("\n") + 1,
            "end": self._line_end(),
            "ctrl+left": _word_left(before),
            "ctrl+right": self.at + _word_right(self.text[self.at :]),
        }
        name = {"ctrl+a": "home", "ctrl+e": "end", "alt+b": "ctrl+left", "alt+f": "ctrl+right"}.get(key, key)
        if name in moves:
            self.at = max(0, min(moves[name], len(self.text)))
        else:
            self._put(before + plain(key.replace("\r\n", "\n").replace("\r", "\n")))

    def _vertical(self, step: int, column: int | None) -> None:
        lines = self.text.split("\n")
        row = self.text[: self.at].count("\n")
        column = self.at - (self.text[: self.at].rfind("\n") + 1) if column is None else column
        target = row + step
        if 0 <= target < len(lines):
            self.at = sum(len(line) + 1 for line in lines[:target]) + min(column, len(lines[target]))
            self._column = column
        else:
            self.at = 0 if step < 0 else len(self.text)

    def _line_end(self) -> int:
        end = self.text.find("\n", self.at)
        return len(self.text) if end < 0 else end

    def _put(self, before: str, after: str | None = None) -> None:
        after = self.text[self.at :] if after is None else after
        self.text, self.at = before + after, len(before)


_MOVES = frozenset("left right home end ctrl+left ctrl+right ctrl+a ctrl+e alt+b alt+f".split())  # noqa: SIM905


def _word_left(text: str) -> int:
    kept = text.rstrip()
    while kept and not kept[-1].isspace():
        kept = kept[:-1]
    return len(kept)


def _word_right(text: str) -> int:
    blank = len(text) - len(text.lstrip())
    rest = text[blank:]
    return blank + next((place for place, char in enumerate(rest) if char.isspace()), len(rest))

"""Typing into a dialog: one line or several, hidden for secrets."""

from __future__ import annotations

from collections.abc import Callable

from zot_cli.plain import clean
from zot_cli.repl.components import CURSOR
from zot_cli.repl.graphemes import clusters, end_of, start_before
from zot_cli.repl.look import Look
from zot_cli.repl.spans import Line, wrap


class TextDialog:
    """Asks for text. With `lines` Enter makes a new line and Ctrl-D (or Alt-Enter) is the end; `hidden` shows none."""

    def __init__(
        self,
        look: Look,
        title: str,
        done: Callable[[str | None], None],
        *,
        text: str = "",
        placeholder: str = "",
        lines: bool = False,
        hidden: bool = False,
    ) -> None:
        self._look, self._title, self._done = look, clean(title), done
        self._text, self._at = clean(text), len(clean(text))
        self._placeholder, self._lines, self._hidden = clean(placeholder), lines, hidden
        self.countdown = ""

    def render(self, width: int) -> list[Line]:
        look = self._look
        head = wrap(self._title, width, look.style("accent"))
        shown, at = self._text, self._at
        if self._hidden:  # a dot for each character that people see: their number tells no more
            at = sum(1 for _ in clusters(shown[:at]))
            shown = "•" * sum(1 for _ in clusters(shown))
        if not self._text:
            body: list[Line] = [
                [(look.style("accent"), "› "), (f"{CURSOR} {look.style('dim')}", self._placeholder or " ")]
            ]
        else:
            body = _with_cursor(shown, at, width, look)
        keys = "ctrl+d done" if self._lines else "enter done"
        hint = f"{keys} · esc cancel{self.countdown}"
        return [*head, *body, [(look.style("dim"), hint)]]

    def handle_key(self, key: str) -> None:
        if key in ("esc", "ctrl+c"):
            self._done(None)
        elif key == "ctrl+d" if self._lines else key == "enter":
            self._done(self._text)
        elif key == "enter":
            self._insert("\n")
        elif key == "backspace":
            if self._at:
                start = start_before(self._text, self._at)
                self._text, self._at = self._text[:start] + self._text[self._at :], start
        elif key == "delete":
            self._text = self._text[: self._at] + self._text[end_of(self._text, self._at) :]
        elif key == "ctrl+u":
            self._text, self._at = self._text[self._at :], 0
        elif key == "ctrl+k":
            self._text = self._text[: self._at]
        elif key in ("left", "right", "home", "end", "ctrl+a", "ctrl+e"):
            left, right = start_before(self._text, self._at), end_of(self._text, self._at)
            self._at = {"left": left, "right": right, "home": 0, "ctrl+a": 0}.get(key, len(self._text))
        elif len(key) == 1 or not key.isascii() or " " in key or "\n" in key:
            self.handle_paste(key)

    def handle_paste(self, text: str) -> None:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        self._insert(text if self._lines else text.strip("\n").replace("\n", " "))

    def _insert(self, text: str) -> None:
        text = clean(text)
        self._text = self._text[: self._at] + text + self._text[self._at :]
        self._at += len(text)


def _with_cursor(text: str, at: int, width: int, look: Look) -> list[Line]:
    """The text in lines, the cursor before the character at `at`."""
    lines: list[Line] = []
    start = 0
    for number, part in enumerate(text.split("\n")):
        mark = (look.style("accent"), "› ") if number == 0 else ("", "  ")
        here = at - start
        if 0 <= here <= len(part):
            end = end_of(part, here)
            lines.append([mark, ("", part[:here]), (CURSOR, part[here:end] or " "), ("", part[end:])])
        else:
            lines.append([mark, ("", part)])
        start += len(part) + 1
    return lines

"""Choosing from a list: typed letters filter it, arrows move, Enter takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from zot_cli.plain import clean, one_line
from zot_cli.repl.components import CURSOR
from zot_cli.repl.look import Look
from zot_cli.repl.spans import Line, width_of, wrap
from zot_core.types.record import record

ROWS = 10
"""Entries that are shown at once."""


@record(kw_only=True)
class Choice:
    """An entry: what is answered, what is shown, and a word more in a second column."""

    value: str
    label: str = ""
    hint: str = ""


class SelectDialog:
    """Asks for one of `choices`. `filters` lets typed letters narrow the list."""

    def __init__(
        self,
        look: Look,
        title: str,
        choices: Sequence[Choice],
        done: Callable[[str | None], None],
        *,
        message: str = "",
        filters: bool = True,
        at: int = 0,
        moved: Callable[[str], None] | None = None,
    ) -> None:
        self._look, self._title, self._done = look, clean(title), done
        self._message = clean(message)
        self._choices = list(choices)
        self._filters = filters
        self._filter = ""
        self._at = at
        self._moved = moved
        self.countdown = ""

    @property
    def matching(self) -> list[Choice]:
        """The entries that have all typed words in them."""
        words = self._filter.casefold().split()
        return [c for c in self._choices if all(word in f"{c.label or c.value} {c.hint}".casefold() for word in words)]

    def render(self, width: int) -> list[Line]:
        look, found = self._look, self.matching
        lines = wrap(self._title, width, look.style("accent"))
        if self._message:
            lines += wrap(self._message, width)
        if self._filters and (self._filter or len(self._choices) > ROWS):
            lines.append([(look.style("dim"), "filter: "), ("", self._filter), (CURSOR, " ")])
        self._at = max(0, min(self._at, len(found) - 1))
        first = max(0, min(self._at - ROWS // 2, len(found) - ROWS))
        seen = found[first : first + ROWS]
        labels = min(max((width_of(_label(one)) for one in seen if one.hint), default=0), width // 2)
        for number, choice in enumerate(seen, first):
            lines.append(self._line(choice, number == self._at, labels))
        if not found:
            lines.append([(look.style("muted"), "  nothing matches")])
        elif len(found) > ROWS:
            lines.append([(look.style("dim"), f"  {self._at + 1} of {len(found)}")])
        return [*lines, [(look.style("dim"), f"↑↓ move · enter take · esc cancel{self.countdown}")]]

    def handle_key(self, key: str) -> None:
        found = self.matching
        steps = {"up": -1, "down": 1, "ctrl+p": -1, "ctrl+n": 1, "pageup": -ROWS, "pagedown": ROWS}
        if key in ("esc", "ctrl+c"):
            self._done(None)
        elif key == "enter":
            if found:
                self._done(found[self._at].value)
        elif key in steps and found:
            step = steps[key]
            self._at = (
                (self._at + step) % len(found) if abs(step) == 1 else max(0, min(self._at + step, len(found) - 1))
            )
            if self._moved is not None:
                self._moved(found[self._at].value)
        elif key == "backspace":
            self._filter = self._filter[:-1]
        elif len(key) == 1 and key.isprintable():
            if self._filters:
                self._filter += key
                self._at = 0
            elif key.isdecimal() and 0 < int(key) <= len(found):
                self._done(found[int(key) - 1].value)

    def _line(self, choice: Choice, here: bool, labels: int) -> Line:
        look, label = self._look, _label(choice)
        line: Line = [
            (look.style("accent"), "› " if here else "  "),
            (look.style("selectedText") if here else "", label),
        ]
        if not choice.hint:
            return line
        gap = " " * (max(labels - width_of(label), 0) + 2)
        return [*line, (look.style("dim"), f"{gap}{one_line(choice.hint, 200)}")]


def _label(choice: Choice) -> str:
    return one_line(choice.label or choice.value, 200)

"""Whether a tool call may run: its name, what it will do, and five answers.

A long preview is cut in its middle, so that neither its beginning nor its end is hidden, and a key shows all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from zot_cli.plain import clean
from zot_cli.repl.dialogs.select import Choice, SelectDialog
from zot_cli.repl.look import Look
from zot_cli.repl.spans import Line, wrap

MOST = 14
"""Lines of a preview that are shown at once, on a screen that has room for them."""
LEAST = 4
BESIDE = 12
"""Rows that the answers, the footer and what is above need."""
_TOKENS = {"+": "toolDiffAdded", "-": "toolDiffRemoved", "@": "dim"}


class ApproveDialog:
    """Asks; `done` is given `once`, `tool`, `session`, `no` or `why`, None when it was dismissed. `rows` tells the
    screen's height; one of the `keys` calls `show_all`."""

    def __init__(
        self,
        look: Look,
        tool_name: str,
        preview: str,
        done: Callable[[str | None], None],
        *,
        rows: Callable[[], int],
        keys: Sequence[str],
        show_all: Callable[[], None],
    ) -> None:
        self._look, self._preview, self._rows = look, clean(preview), rows
        self._keys, self._show_all = tuple(keys), show_all
        self._title = f"Run {tool_name}?"
        choices = [
            Choice(value="once", label="Yes, this time"),
            Choice(value="tool", label=f"Yes, and every {tool_name} in this session"),
            Choice(value="session", label="Yes, and everything in this session"),
            Choice(value="no", label="No"),
            Choice(value="why", label="No, and say why"),
        ]
        self._select = SelectDialog(look, self._title, choices, done, filters=False)

    @property
    def countdown(self) -> str:
        """What is left of the time, in words."""
        return self._select.countdown

    @countdown.setter
    def countdown(self, words: str) -> None:
        self._select.countdown = words

    def render(self, width: int) -> list[Line]:
        """Title, preview, answers."""
        answers = self._select.render(width)
        head = len(wrap(clean(self._title), width))
        lines = preview_lines(self._preview, width, self._look)
        most = max(LEAST, min(MOST, self._rows() - BESIDE))
        if len(lines) > most:
            after = max(most // 3, 1)
            before = most - after - 1
            hidden = len(lines) - before - after
            key = f" ({self._keys[0]} shows all)" if self._keys else ""
            note: Line = [(self._look.style("dim"), f"… {hidden} lines more{key}")]
            lines = [*lines[:before], note, *lines[-after:]]
        return [*answers[:head], *lines, *answers[head:]]

    def handle_key(self, key: str) -> None:
        """A key of the answers, or the one that shows all."""
        if key in self._keys:
            self._show_all()
        else:
            self._select.handle_key(key)


def preview_lines(preview: str, width: int, look: Look) -> list[Line]:
    """A preview as lines; where it is a title and then added and removed lines alone, these are coloured."""
    rows = clean(preview).rstrip("\n").split("\n")
    body = [row for row in rows[1:] if row]
    is_diff = bool(body) and all(row[0] in "+-@ " for row in body) and any(row[0] in "+-" for row in body)
    lines: list[Line] = []
    for number, row in enumerate(rows):
        style = look.style(_TOKENS.get(row[:1], "toolDiffContext")) if is_diff and number else ""
        lines += wrap(row, width, style)
    return lines

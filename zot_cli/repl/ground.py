"""What the terminal has of the screen above and around the cursor, reckoned without asking it: how many rows lie
between the cursor and the first line that was printed, and which live rows a lower screen has pushed out.

Terminals answer such questions too late, or never, and their answers would be typed into the editor. Numbers and lines;
knows no terminal.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from prompt_toolkit.data_structures import Point
from prompt_toolkit.layout.screen import Screen as Drawn

from zot_cli.repl.spans import Line, line_width, plain, rows_of, split

MOST = 1000
"""Rows that are remembered: more than any screen has."""


def rewraps(environ: Mapping[str, str]) -> bool:
    """Whether the terminal wraps what it shows anew for another width. Nearly all do; those that cut are named."""
    term = environ.get("TERM", "")
    if environ.get("TMUX"):
        return True
    return not (environ.get("XTERM_VERSION") or term.startswith(("linux", "rxvt", "vt", "screen")))


class Ground:
    """`printed` for each line that goes to the scrollback, `area` before the width changes, `up` when it has."""

    def __init__(self, wraps: bool) -> None:
        self.wraps = wraps
        self._owned: deque[int] = deque(maxlen=MOST)
        self._area: tuple[list[int], Point] = ([], Point(0, 0))
        self._pushed: list[str] = []

    def forget(self) -> None:
        """Somebody else has written above the live area, or it is another conversation's: it is not ours to erase."""
        self._owned.clear()
        self._pushed = []

    # --- the rows above ----------------------------------------------------------------------------------------------

    def printed(self, lines: Sequence[Line], columns: int) -> list[Line]:
        """Notes the lines, and gives them as they may be printed: none is wider than the screen, so none wraps, and
        none ends in blanks, which would be selected with it."""
        found: list[Line] = []
        for whole in lines:
            line = _ended(whole)
            width = line_width(line)
            pieces = [line] if width <= columns else [_ended(piece) for piece in split(line, columns)]
            found += pieces
            self._owned.extend([width] if len(pieces) == 1 else map(line_width, pieces))
            self._owned.extend([0] * (rows_of([line]) - 1))  # of a picture
        return found

    def drawn(self, area: Drawn | None, cursor: Point) -> None:
        """The live area as the terminal has it, before another width changes that."""
        rows = area.data_buffer if area is not None else {}
        widths = [max((x for x, cell in rows[y].items() if cell.char != " "), default=-1) + 1 for y in range(cursor.y)]
        self._area = (widths, cursor if area is not None else Point(0, 0))

    def up(self, columns: int) -> int:
        """Rows from the cursor up to the first of ours, in a terminal that is so wide now."""
        widths, cursor = self._area
        wrapped = cursor.x // columns if self.wraps else 0
        return wrapped + sum(self._rows(width, columns) for width in (*widths, *self._owned))

    def erase(self, columns: int, rows: int) -> int:
        """Says that what is seen of ours is about to be erased; rows to go up for that, `rows` for the whole screen."""
        up = self.up(columns)
        if up < rows - 1:
            self.forget()
            return up
        # What is above the screen may come back into it with a higher one; a line at the edge is left alone.
        for _ in range(min(self.visible(columns, rows) + 1, len(self._owned))):
            self._owned.pop()
        self._pushed = []
        return rows

    def visible(self, columns: int, rows: int) -> int:
        """How many of the lines that were printed can still be seen on a screen of that size."""
        used, count = self.up(columns) - sum(self._rows(width, columns) for width in self._owned), 0
        for width in reversed(self._owned):
            used += self._rows(width, columns)
            if used > rows:
                break
            count += 1
        return count

    def _rows(self, width: int, columns: int) -> int:
        return max(-(-width // columns), 1) if self.wraps else 1

    # --- a lower screen ----------------------------------------------------------------------------------------------

    def lowered(self, live: Sequence[Line], cursor: int, rows: int) -> None:
        """The screen has only `rows` rows now. What was above keeps its place, the cursor's row is still seen: so the
        first of the live lines are in the scrollback. They cannot be taken back, so they count as printed."""
        lost = cursor + 1 - rows
        if lost > 0:
            self._pushed += [plain(line).rstrip() for line in live[:lost]]

    def still_live(self, lines: Sequence[Line]) -> Sequence[Line]:
        """The live lines without those that have been pushed out as they are."""
        return lines[self._same(lines) :] if self._pushed else lines

    @property
    def pushed(self) -> int:
        """How many lines have been pushed out."""
        return len(self._pushed)

    def left(self, lines: Sequence[Line]) -> Sequence[Line]:
        """Of lines that move up, those that have not been pushed out before."""
        if not self._pushed:
            return lines
        same = self._same(lines)
        self._pushed = self._pushed[same:] if same == len(lines) else []
        return lines[same:]

    def _same(self, lines: Sequence[Line]) -> int:
        same = 0
        for line, pushed in zip(lines, self._pushed, strict=False):
            if plain(line).rstrip() != pushed:
                break
            same += 1
        return same


def _ended(line: Line) -> Line:
    """The line without blanks at its end that show nothing."""
    while line and line[-1][1].endswith(" ") and type(line[-1][0]) is str and not _shows(line[-1][0]):
        style, text = line[-1]
        text = text.rstrip(" ")
        line = [*line[:-1], (style, text)] if text else line[:-1]
    return line


def _shows(style: str) -> bool:
    return any(word in style for word in ("bg:", "reverse", "underline", "strike"))

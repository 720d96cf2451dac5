"""Pictures within the terminal's text: which protocol it speaks, the cells that a picture takes, and the bytes.

Pure: a picture's pixels are `pixels.py`'s, when one is printed is `gallery.py`'s. Nothing here asks the terminal
anything, because its answer would be typed into the editor.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Literal, TypeAlias

from zot_core.types.content import Image
from zot_core.types.record import record

Protocol: TypeAlias = Literal["kitty", "iterm2"]

MOST_ROWS = 20
"""Rows of the screen that a picture takes at most."""
CHUNK = 4096
"""Characters of one piece of a picture in Kitty's protocol; a multiple of four, as base64 wants it."""
KITTY = "\x1b_G"
"""Begins what is said in Kitty's protocol."""
KITTY_FORGET = f"{KITTY}a=d,d=A,q=2\x1b\\"
"""Takes the pictures away that are seen: in Kitty erasing text leaves them, unless the whole screen is emptied."""
_CELL = (10.0, 20.0)
"""Pixels of a cell where the terminal does not tell."""
_OF_TERM = {"xterm-kitty": "kitty", "xterm-ghostty": "kitty"}
_OF_PROGRAM = {
    "kitty": "kitty",
    "ghostty": "kitty",
    "iTerm.app": "iterm2",
    "WezTerm": "iterm2",  # its Kitty graphics are experimental
    "mintty": "iterm2",
}


def protocol(environ: Mapping[str, str], setting: str = "auto") -> Protocol | None:
    """How the terminal draws pictures, by the setting `images` or else by its environment; None if it does not.

    What stands nearest decides, as variables are inherited by terminals that are started from others.
    """
    if setting != "auto":
        return "kitty" if setting == "kitty" else "iterm2" if setting == "iterm2" else None
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    if term.startswith(("screen", "tmux", "dumb", "linux")) or any(map(environ.get, ("TMUX", "STY", "ZELLIJ"))):
        return None
    found = _OF_TERM.get(term) or _OF_PROGRAM.get(program)
    if found is None and not program:
        if environ.get("KITTY_WINDOW_ID"):
            found = "kitty"
        elif environ.get("LC_TERMINAL") == "iTerm2":  # goes along with ssh
            found = "iterm2"
    return found  # type: ignore[return-value]


@record(kw_only=True)
class Space:
    """What there is for pictures: columns, rows, and the pixels of a cell."""

    columns: int
    rows: int
    cell: tuple[float, float] = _CELL


def space(fd: int, columns: int, rows: int) -> Space:
    """The space in a terminal of `columns` x `rows`; a picture's first row has to be on the screen with its last."""
    return Space(columns=columns, rows=max(min(MOST_ROWS, rows - 4), 1), cell=_cell(fd))


def _cell(fd: int) -> tuple[float, float]:
    try:
        import fcntl
        import termios

        rows, columns, width, height = struct.unpack("HHHH", fcntl.ioctl(fd, termios.TIOCGWINSZ, bytes(8)))
    except (ImportError, OSError):
        return _CELL
    if not (rows and columns and width and height):
        return _CELL
    cell = width / columns, height / rows
    return cell if 2 <= cell[0] <= 200 and 0.5 <= cell[1] / cell[0] <= 5 else _CELL


def cells(size: tuple[int, int], room: Space) -> tuple[int, int]:
    """Columns and rows for a picture of so many pixels: as large as it is, or smaller, in its own proportions."""
    width, height = size[0] / room.cell[0], size[1] / room.cell[1]
    scale = min(1.0, room.columns / width, room.rows / height)
    rows = max(round(height * scale), 1)
    columns = max(round(rows * width / height), 1)
    if columns > room.columns:  # flatter than a row, or rounded up
        columns = room.columns
        rows = max(min(round(columns * height / width), room.rows), 1)
    return columns, rows


@record(kw_only=True)
class Drawing:
    """A picture ready for the terminal: `data` is a whole file in base64 of `size` bytes."""

    protocol: Protocol
    data: str
    size: int
    columns: int
    rows: int

    def printed(self, column: int) -> str:
        """What draws it from `column` on, with the cursor at the start of an empty line and, afterwards, of the line
        below the picture. The rows are made first, so that drawing scrolls nothing."""
        right = f"\x1b[{column}C" if column else ""
        there, back = f"\x1b[{self.rows}A{right}\x1b7", f"\x1b8\r\x1b[{self.rows}B"
        return "\r\n" * self.rows + there + (self._kitty() if self.protocol == "kitty" else self._iterm2()) + back

    def _kitty(self) -> str:
        """Transmitted and shown (a=T) as PNG (f=100), with no answer (q=2) and no move of the cursor (C=1)."""
        keys = f"a=T,f=100,q=2,C=1,c={self.columns},r={self.rows},"
        parts = [self.data[at : at + CHUNK] for at in range(0, len(self.data), CHUNK)] or [""]
        last = len(parts) - 1
        return "".join(
            f"{KITTY}{'q=2,' if at else keys}m={int(at < last)};{part}\x1b\\" for at, part in enumerate(parts)
        )

    def _iterm2(self) -> str:
        keys = f"inline=1;size={self.size};width={self.columns};height={self.rows};preserveAspectRatio=1"
        return f"\x1b]1337;File={keys};doNotMoveCursor=1:{self.data}\x07"


class Art(str):
    """The style of a picture's line of facts. Where lines are printed for good, its drawing stands below the line;
    wherever they can still change, it is a style like others."""

    image: Image
    drawing: Drawing | None

    def __new__(cls, style: str, image: Image, drawing: Drawing | None = None) -> Art:
        made = super().__new__(cls, style)
        made.image, made.drawing = image, drawing
        return made

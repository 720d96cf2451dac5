"""Lines of styled text: measuring, wrapping, cutting, and the bytes for a terminal. Pure; knows no screen.

A span is (style, text) as prompt-toolkit has it; a style is a blank-separated list of `bold`, `dim`, `italic`,
`underline`, `strike`, `reverse`, `fg:COLOUR` and `bg:COLOUR`, a colour being `#rrggbb` or `ansi` and a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

from wcwidth import wcswidth, wcwidth

Span: TypeAlias = tuple[str, str]
Line: TypeAlias = list[Span]
Depth: TypeAlias = Literal["none", "16", "256", "truecolor"]

_SGR = {"bold": "1", "dim": "2", "italic": "3", "underline": "4", "reverse": "7", "strike": "9"}
_ANSI = (
    ("black", 0, 0, 0),
    ("red", 205, 0, 0),
    ("green", 0, 205, 0),
    ("yellow", 205, 205, 0),
    ("blue", 0, 0, 238),
    ("magenta", 205, 0, 205),
    ("cyan", 0, 205, 205),
    ("gray", 229, 229, 229),
    ("brightblack", 127, 127, 127),
    ("brightred", 255, 0, 0),
    ("brightgreen", 0, 255, 0),
    ("brightyellow", 255, 255, 0),
    ("brightblue", 92, 92, 255),
    ("brightmagenta", 255, 0, 255),
    ("brightcyan", 0, 255, 255),
    ("white", 255, 255, 255),
)
"""xterm's sixteen colours, by prompt-toolkit's names, for the nearest one of a given colour."""
_NAMES = {name: number for number, (name, *_) in enumerate(_ANSI)}


def width_of(text: str) -> int:
    """The columns that `text` takes; grapheme clusters such as joined emoji count once."""
    if text.isascii():
        return len(text)
    found = wcswidth(text)
    return found if found >= 0 else sum(max(wcwidth(char), 0) for char in text)


def line_width(line: Line) -> int:
    """The columns of a line."""
    return sum(width_of(text) for _, text in line)


def plain(line: Line) -> str:
    """A line's text without its styles."""
    return "".join(text for _, text in line)


def cut(line: Line, width: int, more: str = "…") -> Line:
    """The line within `width` columns, its end replaced by `more` if it is longer."""
    if line_width(line) <= width:
        return line
    room = max(width - width_of(more), 0)
    kept: Line = []
    for style, text in line:
        piece = _head(text, room)
        if piece:
            kept.append((style, piece))
            room -= width_of(piece)
        if piece != text:
            break
    return [*kept, (kept[-1][0] if kept else "", more[:width])]


def cut_left(text: str, width: int, more: str = "…") -> str:
    """`text` within `width` columns, its beginning replaced by `more` if it is longer."""
    if width_of(text) <= width:
        return text
    kept = text
    while kept and width_of(kept) > width - 1:
        kept = kept[1:]
    return more + kept


def wrap(text: str, width: int, style: str = "", first: Line | None = None, rest: Line | None = None) -> list[Line]:
    """`text` in lines of at most `width` columns, broken at blanks where that is possible.

    `first` begins the first line and `rest` the others; they take room from the text.
    """
    lines: list[Line] = []
    first, rest = first or [], rest if rest is not None else (first or [])
    for paragraph in text.split("\n"):
        before = rest if lines else first
        room = max(width - line_width(before), 1)
        for piece in _pieces(paragraph.replace("\t", "    "), room):
            lines.append([*(rest if lines else first), (style, piece)])
    return lines


def _pieces(text: str, room: int) -> list[str]:
    """A paragraph in pieces of at most `room` columns."""
    if width_of(text) <= room:
        return [text]
    pieces, line = [], ""
    for word in _words(text):
        if width_of(line) + width_of(word.rstrip(" ")) <= room:
            line += word
            continue
        if line.strip(" "):
            pieces.append(line.rstrip(" "))
            line = ""
        while width_of(word.rstrip(" ")) > room:
            head = _head(word, room) or word[:1]
            pieces.append(head)
            word = word[len(head) :]
        line = word
    return [*pieces, line.rstrip(" ")] if line.strip(" ") or not pieces else pieces


def _words(text: str) -> Iterable[str]:
    """Words with the blanks after them; leading blanks are a word of their own."""
    start = 0
    for place in range(1, len(text)):
        if text[place] != " " and text[place - 1] == " ":
            yield text[start:place]
            start = place
    yield text[start:]


def _head(text: str, room: int) -> str:
    """The longest beginning of `text` within `room` columns that ends between grapheme clusters."""
    if text.isascii():
        return text[:room]
    used, place = 0, 0
    while place < len(text):
        end = place + 1
        while end < len(text) and (wcwidth(text[end]) == 0 or text[end - 1] == "\u200d"):
            end += 1
        used += width_of(text[place:end])
        if used > room:
            break
        place = end
    return text[:place]


def to_ansi(lines: Sequence[Line], depth: Depth) -> str:
    """The bytes that print the lines, each ended with CR LF and with no style left on."""
    out: list[str] = []
    for line in lines:
        for style, text in line:
            code = sgr(style, depth)
            out.append(f"{code}{text}\x1b[0m" if code else text)
        out.append("\r\n")
    return "".join(out)


@lru_cache(maxsize=4096)
def sgr(style: str, depth: Depth) -> str:
    """The escape sequence of a style, "" for none. Without colours bold, underline and the like stay."""
    codes = []
    for word in style.split():
        if word in _SGR:
            codes.append(_SGR[word])
        elif word.startswith(("fg:", "bg:")):
            codes += _colour(word[3:], depth, 40 if word[0] == "b" else 30)
    return f"\x1b[{';'.join(codes)}m" if codes else ""


def _colour(name: str, depth: Depth, base: int) -> list[str]:
    if depth == "none" or name in ("", "default", "ansidefault"):
        return []
    if name.startswith("ansi"):
        number = _NAMES.get(name.removeprefix("ansi"))
        return [] if number is None else [str(base + number if number < 8 else base + 52 + number)]
    red, green, blue = (int(name[place : place + 2], 16) for place in (1, 3, 5))
    if depth == "truecolor":
        return [str(base + 8), "2", str(red), str(green), str(blue)]
    if depth == "256":
        return [str(base + 8), "5", str(_of_256(red, green, blue))]
    number = min(range(16), key=lambda one: _distance(_ANSI[one][1:], (red, green, blue)))
    return [str(base + number if number < 8 else base + 52 + number)]


def _of_256(red: int, green: int, blue: int) -> int:
    """The nearest colour of the 6 x 6 x 6 cube and the grey ramp of 256-colour terminals."""
    levels = (0, 95, 135, 175, 215, 255)
    near = [min(range(6), key=lambda n: abs(levels[n] - part)) for part in (red, green, blue)]
    cube = 16 + 36 * near[0] + 6 * near[1] + near[2]
    grey = min(range(24), key=lambda n: abs(8 + 10 * n - (red + green + blue) // 3))
    level = 8 + 10 * grey
    in_cube = (levels[near[0]], levels[near[1]], levels[near[2]])
    closer = _distance((level, level, level), (red, green, blue)) < _distance(in_cube, (red, green, blue))
    return 232 + grey if closer else cube


def _distance(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))

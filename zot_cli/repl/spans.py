"""Lines of styled text: measuring, wrapping, cutting, and the bytes for a terminal. Pure; knows no screen.

A span is (style, text) as prompt-toolkit has it; a style is a blank-separated list of `bold`, `dim`, `italic`,
`underline`, `strike`, `reverse`, `fg:COLOUR` and `bg:COLOUR`, a colour being `#rrggbb` or `ansi` and a name. A style
that is an `Art` has a picture, which is printed below its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

from wcwidth import wcswidth, wcwidth

from zot_cli.repl.graphemes import clusters
from zot_cli.repl.inline import Art, Drawing
from zot_core.ui.color import Depth, named

Span: TypeAlias = tuple[str, str]
Line: TypeAlias = list[Span]

_SGR = {"bold": "1", "dim": "2", "italic": "3", "underline": "4", "reverse": "7", "strike": "9"}


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


def wrap_line(line: Line, width: int) -> list[Line]:
    """A styled text in lines of at most `width` columns, broken as `wrap` breaks and at line breaks; no line ends in
    blanks."""
    lines: list[Line] = []
    rest = iter(line)
    style, text = next(rest, ("", ""))
    for piece in (one for part in plain(line).split("\n") for one in _pieces(part, max(width, 1))):
        found: Line = []
        while piece:
            while not text:
                style, text = next(rest)
            if text[0] == piece[0]:
                taken = _common(text, piece)
                found.append((style, text[:taken]))
                text, piece = text[taken:], piece[taken:]
            else:  # a blank or a line break where the line was broken
                text = text[1:]
        lines.append(found)
    return lines


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    if other.startswith(one):
        return len(one)
    if one.startswith(other):
        return len(other)
    return next(place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)


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
    for cluster in clusters(text):
        used += width_of(cluster)
        if used > room:
            break
        place += len(cluster)
    return text[:place]


def split(line: Line, width: int) -> list[Line]:
    """The line in pieces of at most `width` columns, cut wherever that falls; nothing is lost."""
    pieces: list[Line] = [[]]
    room = width
    for style, text in line:
        while text:
            piece = _head(text, room) or (text[:1] if room == width else "")
            if piece:
                pieces[-1].append((style, piece))
                text, room = text[len(piece) :], room - width_of(piece)
            if text:
                pieces.append([])
                room = width
    return pieces


def rows_of(lines: Iterable[Line]) -> int:
    """The rows of the screen that lines take when they are printed, with the pictures below them."""
    return sum(1 + sum(one.rows for _, one in _drawings(line)) for line in lines)


def last_rows(lines: Sequence[Line], rows: int) -> list[Line]:
    """The last lines that take at most `rows` rows; where a picture does not fit in, its line stands without it."""
    kept: list[Line] = []
    left = rows
    for line in reversed(lines):
        if left <= 0:
            break
        whole = rows_of([line]) <= left
        kept.append(line if whole else [(str(style), text) for style, text in line])
        left -= rows_of(kept[-1:])
    return kept[::-1]


def _drawings(line: Line) -> list[tuple[int, Drawing]]:
    """The pictures of a line and the columns where they begin."""
    return [
        (line_width(line[:place]), style.drawing)
        for place, (style, _) in enumerate(line)
        if isinstance(style, Art) and style.drawing is not None
    ]


def to_ansi(lines: Sequence[Line], depth: Depth) -> str:
    """The bytes that print the lines, each ended with CR LF and with no style left on, and pictures below theirs."""
    out: list[str] = []
    for line in lines:
        for style, text in line:
            code = sgr(str(style), depth)  # what is kept by its style must not keep a picture
            out.append(f"{code}{text}\x1b[0m" if code else text)
        out.append("\r\n")
        out += [drawing.printed(column) for column, drawing in _drawings(line)]
    return "".join(out)


@lru_cache(maxsize=4096)
def sgr(style: str, depth: Depth) -> str:
    """The escape sequence of a style, "" for none. Without colours bold, underline and the like stay."""
    codes = []
    for word in style.split():
        if word in _SGR:
            codes.append(_SGR[word])
        elif word.startswith(("fg:", "bg:")):
            codes += _colour(word[3:], depth, background=word[0] == "b")
    return f"\x1b[{';'.join(codes)}m" if codes else ""


def _colour(name: str, depth: Depth, *, background: bool) -> list[str]:
    if depth == "none":
        return []
    found = named(name).at(depth)
    return [] if found.is_default else [found.sgr(background)]

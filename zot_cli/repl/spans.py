"""Lines of styled text: measuring, wrapping, cutting, and the bytes for a terminal. Pure; knows no screen.

A span is (style, text) as prompt-toolkit has it; a style is a blank-separated list of `bold`, `dim`, `italic`,
`underline`, `strike`, `reverse`, `fg:COLOUR` and `bg:COLOUR`, a colour being `#rrggbb` or `ansi` and a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

from wcwidth import wcswidth, wcwidth

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
            codes += _colour(word[3:], depth, background=word[0] == "b")
    return f"\x1b[{';'.join(codes)}m" if codes else ""


def _colour(name: str, depth: Depth, *, background: bool) -> list[str]:
    if depth == "none":
        return []
    found = named(name).at(depth)
    return [] if found.is_default else [found.sgr(background)]

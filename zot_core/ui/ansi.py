"""Lines of text with styles in them: measuring, cutting, wrapping. What plugins' components are made of.

A style is an SGR sequence, as `Theme.fg` writes it; every other control sequence is taken out, so that text of a model
or a file cannot move the cursor. Knows no terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from wcwidth import wcswidth, wcwidth

from zot_core.types.record import record
from zot_core.ui.color import DEFAULT, Color

CURSOR = "\x1b_zot:cursor\x07"
"""Stands in a component's line before the character that the terminal's cursor is on."""
_TOKEN = re.compile(
    f"(?P<cursor>{re.escape(CURSOR)})|\x1b\\[(?P<sgr>[0-9;:]*)m"
    # The rest is dropped: strings of OSC and its like if they are ended, other sequences, single controls, and the
    # marks that reorder text. No class includes what could begin another sequence, so that the search stays linear.
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x18\x1a\x1b\x80-\x9f]*(?:\x07|\x1b\\\\|\x9c)"
    "|(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"
    "|\x1b[ -/]*[0-~]?"
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike"}
_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("reverse",), 29: ("strike",)}
_CODE = {name: code for code, name in _ON.items()}
_ENDS = {name: code for code, names in _OFF.items() for name in names}


@record
class Style:
    """What SGR sequences have set: two colours, and attributes such as `bold`."""

    fg: Color = DEFAULT
    bg: Color = DEFAULT
    attributes: frozenset[str] = frozenset()

    def sgr(self) -> str:
        """The sequence that sets it from nothing; "" for nothing."""
        codes = [str(_CODE[name]) for name in sorted(self.attributes, key=_CODE.__getitem__)]
        codes += [] if self.fg.is_default else [self.fg.sgr()]
        codes += [] if self.bg.is_default else [self.bg.sgr(background=True)]
        return f"\x1b[{';'.join(codes)}m" if codes else ""

    def off(self) -> str:
        """The sequence that ends it and leaves alone what is around it, such as a background."""
        codes = sorted({_ENDS[name] for name in self.attributes})
        codes += ([] if self.fg.is_default else [39]) + ([] if self.bg.is_default else [49])
        return f"\x1b[{';'.join(map(str, codes))}m" if codes else ""

    def after(self, parameters: str) -> Style:
        """The style once a sequence with these parameters was read; what is unknown changes nothing."""
        found, codes = self, [int(one or 0) for one in parameters.replace(":", ";").split(";")]
        while codes:
            code = codes.pop(0)
            if code in (38, 48):
                colour, codes = _colour(codes)
                if colour is not None:
                    found = replace(found, fg=colour) if code == 38 else replace(found, bg=colour)
            else:
                found = found._with(code)
        return found

    def _with(self, code: int) -> Style:
        if code == 0:
            return PLAIN
        if code in _ON:
            return replace(self, attributes=self.attributes | {_ON[code]})
        if code in _OFF:
            return replace(self, attributes=self.attributes - set(_OFF[code]))
        for first, index in ((30, 0), (90, 8)):
            if first <= code < first + 8:
                return replace(self, fg=Color(code - first + index))
            if first + 10 <= code < first + 18:
                return replace(self, bg=Color(code - first - 10 + index))
        if code in (39, 49):
            return replace(self, fg=DEFAULT) if code == 39 else replace(self, bg=DEFAULT)
        return self


PLAIN = Style()
Run: TypeAlias = tuple[Style, str]
Cell: TypeAlias = tuple[Style, str, int]
"""A style, what stands in one place of the terminal, and the columns that it takes."""


def _colour(codes: list[int]) -> tuple[Color | None, list[int]]:
    if codes[:1] == [5] and len(codes) > 1:
        return (Color(codes[1]) if codes[1] < 256 else None), codes[2:]
    if codes[:1] == [2] and len(codes) > 3:
        red, green, blue = codes[1:4]
        return (Color(rgb=(red, green, blue)) if max(red, green, blue) < 256 else None), codes[4:]
    return None, []


def runs(text: str) -> Iterator[Run]:
    """The text in pieces of one style, without control sequences; the mark of the cursor is a piece of its own."""
    style, place = PLAIN, 0
    for match in _TOKEN.finditer(text):
        if match.start() > place:
            yield style, text[place : match.start()].replace("\t", "    ")
        place = match.end()
        if match["cursor"]:
            yield style, CURSOR
        elif match["sgr"] is not None:
            style = style.after(match["sgr"])
    if place < len(text):
        yield style, text[place:].replace("\t", "    ")


def plain(text: str) -> str:
    """The text without styles, control sequences and the mark of the cursor."""
    return "".join(piece for _, piece in runs(text) if piece != CURSOR)


def width_of(text: str) -> int:
    """The columns that a line takes."""
    shown = plain(text)
    if shown.isascii():
        return len(shown)
    found = wcswidth(shown)
    return found if found >= 0 else sum(max(wcwidth(char), 0) for char in shown)


def cells(text: str) -> list[Cell]:
    """The line place by place: letters with their accents, joined emoji, the mark of the cursor (of no width)."""
    found: list[Cell] = []
    for style, piece in runs(text):
        if piece == CURSOR:
            found.append((style, CURSOR, 0))
        elif piece.isascii():
            found += [(style, char, 1) for char in piece]
        else:
            found += [(style, cluster, max(wcswidth(cluster), 0)) for cluster in _clusters(piece)]
    return found


def joined(line: list[Cell]) -> str:
    """Cells as text again, with no style left on at its end."""
    out: list[str] = []
    before = PLAIN
    for style, piece, _ in line:
        if style != before:
            out.append(before.off() + style.sgr())
            before = style
        out.append(piece)
    return "".join(out) + before.off()


def cut(text: str, width: int, more: str = "…") -> str:
    """The line within `width` columns, its end replaced by `more` if it is longer."""
    if width_of(text) <= width:
        return text
    room, kept = max(width - width_of(more), 0), []
    for cell in cells(text):
        if cell[2] > room:
            break
        room -= cell[2]
        kept.append(cell)
    style = kept[-1][0] if kept else PLAIN
    return joined([*kept, *((style, char, 1) for char in more[:width])])


def padded(text: str, width: int) -> str:
    """The line with blanks up to `width` columns."""
    return text + " " * (width - width_of(text))


def wrap(text: str, width: int) -> list[str]:
    """The text in lines of at most `width` columns, broken at blanks where that is possible; styles go on."""
    lines: list[str] = []
    line: list[Cell] = []
    for cell in [*cells(text), (PLAIN, "\n", 1)]:
        if cell[1] == "\n":
            lines += [joined(part) for part in _wrapped(line, max(width, 1))]
            line = []
        else:
            line.append(cell)
    return lines


def _wrapped(line: list[Cell], width: int) -> list[list[Cell]]:
    parts: list[list[Cell]] = []
    start = used = 0
    blank = -1
    for place, (_, piece, columns) in enumerate(line):
        while used + columns > width and place > start and piece != " ":
            end = blank + 1 if blank >= start else place
            parts.append(_stripped(line[start:end]))
            start, blank = end, -1
            used = sum(cell[2] for cell in line[start:place])
        if piece == " ":
            blank = place
        used += columns
    return [*parts, _stripped(line[start:])] if parts or used > width else [line]


def _stripped(part: list[Cell]) -> list[Cell]:
    while part and part[-1][1] == " ":
        part = part[:-1]
    return part


def _clusters(text: str) -> Iterator[str]:
    place = 0
    while place < len(text):
        end = place + 1
        while text[place] != "\n" and end < len(text) and text[end] != "\n":
            if wcwidth(text[end]) != 0 and text[end - 1] != "\u200d":
                break
            end += 1
        yield text[place:end]
        place = end

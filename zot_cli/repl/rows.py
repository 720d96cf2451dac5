"""A typed text in rows of a width: where each row begins, and where a place of the text stands. Pure; draws nothing."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from zot_cli.repl.graphemes import clusters
from zot_cli.repl.spans import width_of

TAB = "    "


class Row(NamedTuple):
    """A row's part of the text. `wrapped`: its line goes on in the next row."""

    start: int
    end: int
    wrapped: bool


class Cell(NamedTuple):
    """A grapheme cluster at a place of the text: how it is drawn, and the columns that this takes."""

    at: int
    drawn: str
    width: int


def rows_of(text: str, width: int) -> list[Row]:
    """The rows of a text, at least one; a row takes at most `width` columns, and at least one cluster."""
    rows: list[Row] = []
    start = 0
    for line in text.split("\n"):
        if len(line) <= width and line.isascii() and line.isprintable():
            rows.append(Row(start, start + len(line), False))
        else:
            cuts = _cuts(line, width)
            ends = (*cuts[1:], len(line))
            rows += [
                Row(start + first, start + last, last != len(line)) for first, last in zip(cuts, ends, strict=True)
            ]
        start += len(line) + 1
    return rows


def cells(text: str, row: Row) -> Iterator[Cell]:
    """The clusters of a row as they are drawn; one without a width of its own is drawn with the one before it."""
    at, held = row.start, None
    for cluster in clusters(text[row.start : row.end]):
        drawn, width = _drawn(cluster)
        if held is not None and width == 0:
            held = Cell(held.at, held.drawn + drawn, held.width)
        else:
            if held is not None:
                yield held
            held = Cell(at, drawn, width)
        at += len(cluster)
    if held is not None:
        yield held


def place_of(text: str, rows: Sequence[Row], at: int) -> tuple[int, int]:
    """The row and the column of a place."""
    number = max(bisect_right(rows, at, key=lambda row: row.start) - 1, 0)
    row = rows[number]
    column = sum(_drawn(cluster)[1] for cluster in clusters(text[row.start : min(at, row.end)]))
    return number, column


def at_place(text: str, rows: Sequence[Row], number: int, column: int) -> int:
    """The place of the text at a row and a column, or the nearest before it that is between clusters."""
    row = rows[number]
    at, used = row.start, 0
    for cluster in clusters(text[row.start : row.end]):
        used += _drawn(cluster)[1]
        if used > column or (row.wrapped and at + len(cluster) >= row.end):
            break
        at += len(cluster)
    return at


@lru_cache(maxsize=512)
def _cuts(line: str, width: int) -> tuple[int, ...]:
    """Where the rows of a line begin."""
    if line.isascii() and line.isprintable():
        return tuple(range(0, len(line), width)) or (0,)
    found, used, at = [0], 0, 0
    for cluster in clusters(line):
        columns = _drawn(cluster)[1]
        if used + columns > width and at > found[-1]:
            found.append(at)
            used = 0
        used += columns
        at += len(cluster)
    return tuple(found)


def _drawn(cluster: str) -> tuple[str, int]:
    """How a cluster is drawn and how wide that is; a control is two characters that a terminal does not obey."""
    if cluster == "\t":
        return TAB, len(TAB)
    if len(cluster) == 1 and (cluster < " " or "\x7f" <= cluster < "\xa0"):
        return f"^{chr((ord(cluster) & 0x7F) ^ 0x40)}", 2
    if len(cluster) == 1 and ("\u202a" <= cluster <= "\u202e" or "\u2066" <= cluster <= "\u2069"):
        return "·", 1  # marks that would reorder what stands after them
    if len(cluster) == 1 and "\ud800" <= cluster <= "\udfff":
        return "\ufffd", 1
    return cluster, width_of(cluster)

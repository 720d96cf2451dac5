"""What a search prints, taken in as it comes and kept in bounded memory: the first matching lines in path order.

The form is `rg --null --line-number --column`: `./path NUL number:column:text`, context lines `./path NUL number-text`.
Knows neither how the search runs nor how results are worded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from zot_core.toolkit.spelling import path_order
from zot_core.toolkit.text import without_controls
from zot_core.toolkit.truncation import boundary

LINE_CHARS = 500
"""How much of a line is shown."""
OUTPUT_BYTES = 16 << 20
"""How much output is taken before a search counts as too wide to be counted."""
_BEFORE = 160
_WINDOW = 4 * LINE_CHARS
_PATH_BYTES = 1 << 16
_LONG = 1 << 20
_BINARIES = 1000
_NUMBERS = re.compile(rb"(\d+)(?::(\d+):|-)")
_BINARY = re.compile(rb"(\./.*): binary file matches \(found .* around offset \d+\)\r?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Line:
    """A line or the part of it around its match. `column` counts bytes from 1, 0 for a context line."""

    number: int
    column: int
    data: bytes
    begin: int = 0
    ends: bool = True

    def text(self) -> str:
        """The line as it is shown, with `…` where something is missing."""
        data, begin = self.data, self.begin
        if self.ends:
            data = data.removesuffix(b"\r")
        if begin:
            data = data.lstrip(bytes(range(0x80, 0xC0)))
        if not self.ends:
            data = data[: boundary(data)]
        text = without_controls(_decoded(data).replace("\r", "\u240d").replace("\n", "\u240a"))
        cut = text[:LINE_CHARS]
        return ("…" if begin else "") + cut + ("…" if not self.ends or len(cut) < len(text) else "")

    @property
    def is_cut(self) -> bool:
        """Whether `text` is only a part."""
        if len(self.data) <= LINE_CHARS:
            return False
        return bool(self.begin) or not self.ends or len(self.text()) > LINE_CHARS


def _decoded(data: bytes) -> str:
    """Text of one line, too little to guess an encoding by: UTF-8, or Latin-1 where nothing in it is UTF-8."""
    text = data.decode("utf-8", "replace")
    if "\ufffd" not in text or any("\x7f" < char != "\ufffd" for char in text):
        return text
    return data.decode("latin-1")


def windowed(number: int, column: int, data: bytes) -> Line:
    """A line of which only the surroundings of its first match are kept, where it is long."""
    begin = _begin(column) if len(data) > LINE_CHARS else 0
    end = begin + _WINDOW
    return Line(number, column, data[begin:end], begin, end >= len(data))


def _line(piece: bytes, numbers: re.Match[bytes]) -> Line:
    return windowed(int(numbers[1]), int(numbers[2] or 0), piece[numbers.end() :])


def _parsed(kept: Line | bytes) -> Line:
    if isinstance(kept, Line):
        return kept
    numbers = _NUMBERS.match(kept)
    assert numbers is not None  # it was looked at before it was kept
    return _line(kept, numbers)


def _begin(column: int) -> int:
    return column - 1 - _BEFORE if column > LINE_CHARS // 2 else 0


@dataclass(slots=True)
class FileHits:
    """One file's lines, as many as may be shown, and how many match in all."""

    matches: int = 0
    lines: list[Line | bytes] = field(default_factory=list)
    """Short ones as they came: most are never shown."""


@dataclass(slots=True)
class _Long:
    """A line too long to be held: only its window is."""

    path: bytes
    number: int
    column: int
    at: int = 0
    kept: bytearray = field(default_factory=bytearray)

    def take(self, data: bytes) -> None:
        begin = _begin(self.column)
        self.kept += data[max(0, begin - self.at) : max(0, begin + _WINDOW - self.at)]
        self.at += len(data)

    def line(self) -> Line:
        begin = _begin(self.column)
        return Line(self.number, self.column, bytes(self.kept), begin, begin + _WINDOW >= self.at)


class Hits:
    """Collects a search's output with `feed`, which answers false once nothing more is wanted.

    `accepts` says whether a path (relative to the searched folder) counts. With `first_only` the output is in order and
    no more is taken than the limit; otherwise everything is counted, up to `OUTPUT_BYTES`.
    """

    def __init__(self, limit: int, accepts: Callable[[str], bool], *, first_only: bool = False) -> None:
        self.matches = 0
        self.matching_files = 0
        self.binaries: list[str] = []
        self.too_much = False
        self._limit = limit
        self.accepts = accepts
        self.first_only = first_only
        self._files: dict[str, FileHits] = {}
        self._kept = 0
        self._last: list[bytes] | None = None
        self._rest = b""
        self._name = b""
        self._long: _Long | None = None
        self._path: bytes | None = None
        self._current: FileHits | None = None
        self._bytes = 0

    def feed(self, data: bytes) -> bool:
        """Takes the next bytes."""
        self._bytes += len(data)
        if self._long is not None:
            part, newline, data = data.partition(b"\n")
            self._long.take(part)
            if not newline:
                return self._wants_more()
            self._end_long()
        *pieces, self._rest = (self._rest + data).split(b"\n")
        for piece in pieces:
            self._piece(piece)
            if self.first_only and self.matches > self._limit:
                return False
        if len(self._rest) > _LONG:
            self._begin_long()
        return self._wants_more()

    def _wants_more(self) -> bool:
        if self.first_only:
            return self.matches <= self._limit
        self.too_much = self._bytes > OUTPUT_BYTES
        return not self.too_much

    def finish(self) -> None:
        """Takes a last line without an end."""
        if self._long is not None:
            self._end_long()
        elif self._rest:
            self._piece(self._rest)
        self._rest = b""

    def _piece(self, piece: bytes) -> None:
        if self._name:
            piece = self._name + b"\n" + piece  # the newline was a part of the file's name
            self._name = b""
        nul = piece.find(b"\0")
        if nul < 0:
            if binary := _BINARY.fullmatch(piece):
                self._binary(binary[1])
            elif piece.startswith(b"./") and len(piece) < _PATH_BYTES:
                self._name = piece
            return
        numbers = _NUMBERS.match(piece, nul + 1)
        hits = self._file(piece[:nul])
        if hits is None or numbers is None:
            return
        if numbers[2]:
            self._count(hits)
        if hits.matches <= self._limit and self._kept >= 0:
            short = len(piece) <= LINE_CHARS
            self._keep(hits, piece[nul + 1 :] if short else _line(piece, numbers))

    def _begin_long(self) -> None:
        nul = self._rest.find(b"\0")
        numbers = _NUMBERS.match(self._rest, nul + 1) if nul >= 0 else None
        if numbers is None:
            return
        path = self._name + b"\n" + self._rest[:nul] if self._name else self._rest[:nul]
        self._name = b""
        self._long = _Long(path, int(numbers[1]), int(numbers[2] or 0))
        self._long.take(self._rest[numbers.end() :])
        self._rest = b""

    def _end_long(self) -> None:
        long, self._long = self._long, None
        hits = self._file(long.path) if long is not None else None
        if long is None or hits is None:
            return
        if long.column:
            self._count(hits)
        if hits.matches <= self._limit:
            self._keep(hits, long.line())

    def _file(self, path: bytes) -> FileHits | None:
        """Where the lines of this file go; None if it does not count."""
        if path != self._path:
            self._path = path
            name = path.removeprefix(b"./").decode("utf-8", "surrogateescape")
            self._current = None
            if self.accepts(name):
                self._current = FileHits()
                if self._last is None or path_order(name) < self._last:
                    self._current = self._files.setdefault(name, self._current)
        return self._current

    def _count(self, hits: FileHits) -> None:
        hits.matches += 1
        self.matches += 1
        self.matching_files += hits.matches == 1

    def _keep(self, hits: FileHits, line: Line | bytes) -> None:
        hits.lines.append(line)
        self._kept += 1
        if self._kept > 4 * self._limit + 4000:
            self._prune()

    def _prune(self) -> None:
        """Drops files that cannot be among the first any more; they stay counted."""
        matches = self._kept = 0
        kept: dict[str, FileHits] = {}
        for name in sorted(self._files, key=path_order):
            if matches > self._limit:
                self._last = path_order(name)
                break
            kept[name] = self._files[name]
            matches += kept[name].matches
            self._kept += len(kept[name].lines)
        self._files = kept

    def _binary(self, path: bytes) -> None:
        name = path.removeprefix(b"./").decode("utf-8", "surrogateescape")
        if len(self.binaries) < _BINARIES and self.accepts(name):
            self.binaries.append(name)

    def names(self) -> list[str]:
        """The files that were noted, in order."""
        return sorted(self._files, key=path_order)

    def add(self, more: Hits) -> None:
        """Takes in what was found in other files."""
        self.matches += more.matches
        self.matching_files += more.matching_files
        self.binaries += more.binaries
        self.too_much = self.too_much or more.too_much
        self._files |= more._files

    def first(self, context: int = 0) -> list[tuple[str, list[Line]]]:
        """The files in order with the lines to show: `limit` matching ones, and the `context` ones around them."""
        left = self._limit
        shown: list[tuple[str, list[Line]]] = []
        for name in sorted(self._files, key=path_order):
            if left <= 0:
                break
            lines: list[Line] = []
            last = 0
            for line in map(_parsed, self._files[name].lines):
                if left == 0 and (line.column or line.number > last + context):
                    break
                last = line.number if line.column else last
                left -= bool(line.column)
                lines.append(line)
            if any(line.column for line in lines):
                shown.append((name, lines))
        return shown

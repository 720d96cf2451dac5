"""Unified diffs of whole texts, quick where the changed places are known. Lines end at `\\n` only."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_REFINED = 1500
"""A changed region with more lines than this is split at lines that occur once, or else shown as replaced whole."""

_COMPARISONS = 200_000
"""With more pairs of equal lines than this, lines that occur often are no longer matched with each other."""


@dataclass(frozen=True, slots=True)
class Region:
    """Characters `old_start:old_end` of the old text became `new_start:new_end` (from 0, end excluded)."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


@dataclass(frozen=True, slots=True)
class Diff:
    """A diff's text, how many lines it adds and removes, and the first changed line of the new text (from 1)."""

    text: str
    added: int
    removed: int
    first_line: int


@dataclass(frozen=True, slots=True)
class _Lines:
    """Lines `old_start:old_end` became lines `new_start:new_end`, counted within a piece."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """Lines of both texts around changes, with how many lines of each come before."""

    old: list[str]
    new: list[str]
    old_before: int
    new_before: int
    changes: list[_Lines]


def unified(old: str, new: str, name: str, regions: Sequence[Region] | None = None, *, context: int = 3) -> Diff:
    """The unified diff from `old` to `new`.

    `regions`, in order and apart, may say where they differ: then only their surroundings are looked at. Else it is
    found out from all lines.
    """
    pieces = [_whole(old, new)] if regions is None else _pieces(old, new, regions, context)
    out: list[str] = []
    added = removed = first = 0
    for piece in pieces:
        changes: list[_Lines] = []
        for lines in piece.changes:
            changes += _refine(piece.old, piece.new, _trim(piece.old, piece.new, lines))
        added += sum(change.new_end - change.new_start for change in changes)
        removed += sum(change.old_end - change.old_start for change in changes)
        if changes and not first:
            first = piece.new_before + changes[0].new_start + 1
        for group in _groups(changes, context):
            out += _hunk(piece, group, context)
    text = "\n".join([f"--- {name}", f"+++ {name}", *out, ""]) if out else ""
    return Diff(text=text, added=added, removed=removed, first_line=first)


def _whole(old: str, new: str) -> _Piece:
    old_lines, new_lines = _lines(old), _lines(new)
    return _Piece(old_lines, new_lines, 0, 0, [_Lines(0, len(old_lines), 0, len(new_lines))])


def _pieces(old: str, new: str, regions: Sequence[Region], context: int) -> Iterator[_Piece]:
    """The surroundings of each run of regions that are near to each other."""
    old_at = old_line = new_line = 0
    for group in _near(old, new, regions, context):
        start, end = _back(old, group[0].old_start, context), _on(old, group[-1].old_end, context)
        before, after = group[0].old_start - start, end - group[-1].old_end
        skipped = old.count("\n", old_at, start)
        old_line, new_line, old_at = old_line + skipped, new_line + skipped, end
        old_text = old[start:end]
        new_text = new[group[0].new_start - before : group[-1].new_end + after]
        yield _Piece(
            _lines(old_text),
            _lines(new_text),
            old_line,
            new_line,
            list(_counted(old_text, new_text, [_moved(r, start, group[0].new_start - before) for r in group])),
        )
        old_line += old_text.count("\n")
        new_line += new_text.count("\n")


def _near(old: str, new: str, regions: Sequence[Region], context: int) -> Iterator[list[Region]]:
    """Regions widened to whole lines, those that share a line made one, in groups whose context meets."""
    group: list[Region] = []
    group_end = 0
    for region in regions:
        # One line more than was touched: where the new text has no newline at its end, the next line joins it.
        start, end = old.rfind("\n", 0, region.old_start) + 1, _on(old, region.old_end, 1)
        new_start, new_end = region.new_start - (region.old_start - start), region.new_end + (end - region.old_end)
        if group and start <= group[-1].old_end:
            last = group.pop()
            start, new_start = last.old_start, last.new_start
        elif group and _back(old, start, context) > group_end:
            yield group
            group = []
        group.append(Region(start, end, new_start, new_end))
        group_end = _on(old, end, context)
    if group:
        yield group


def _back(text: str, at: int, lines: int) -> int:
    """The start of the line that is `lines` above the one that begins at `at`."""
    for _ in range(lines):
        if at == 0:
            break
        at = text.rfind("\n", 0, at - 1) + 1
    return at


def _on(text: str, at: int, lines: int) -> int:
    """Behind the `lines`th newline from `at` on, or the text's end."""
    for _ in range(lines):
        at = text.find("\n", at) + 1
        if at == 0:
            return len(text)
    return at


def _moved(region: Region, old: int, new: int) -> Region:
    return Region(region.old_start - old, region.old_end - old, region.new_start - new, region.new_end - new)


def _counted(old: str, new: str, regions: Sequence[Region]) -> Iterator[_Lines]:
    """Regions of whole lines in lines."""
    old_at = old_line = new_line = 0
    for region in regions:
        same = old.count("\n", old_at, region.old_start)
        old_start, new_start = old_line + same, new_line + same
        old_text, new_text = old[region.old_start : region.old_end], new[region.new_start : region.new_end]
        old_line, new_line = old_start + old_text.count("\n"), new_start + new_text.count("\n")
        old_rest, new_rest = old_text[-1:] not in ("", "\n"), new_text[-1:] not in ("", "\n")
        yield _Lines(old_start, old_line + old_rest, new_start, new_line + new_rest)
        old_at = region.old_end


def _lines(text: str) -> list[str]:
    """Lines with their ends, so that a missing final newline is a difference."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _trim(old: list[str], new: list[str], region: _Lines) -> _Lines:
    a, b, c, d = region.old_start, region.old_end, region.new_start, region.new_end
    while a < b and c < d and old[a] == new[c]:
        a, c = a + 1, c + 1
    while a < b and c < d and old[b - 1] == new[d - 1]:
        b, d = b - 1, d - 1
    return _Lines(a, b, c, d)


def _refine(old: list[str], new: list[str], region: _Lines, *, anchored: bool = False) -> list[_Lines]:
    a, b, c, d = region.old_start, region.old_end, region.new_start, region.new_end
    if a == b and c == d:
        return []
    if a == b or c == d:
        return [region]
    if max(b - a, d - c) > _REFINED:
        if anchored:
            return [region]
        parts = [_trim(old, new, part) for part in _between_anchors(old, new, region)]
        return [change for part in parts for change in _refine(old, new, part, anchored=True)]
    seen = Counter(new[c:d])
    costly = sum(seen[line] for line in old[a:b]) > _COMPARISONS
    matcher = difflib.SequenceMatcher(None, old[a:b], new[c:d], autojunk=costly)
    return [_Lines(a + i, a + j, c + k, c + m) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"]


def _between_anchors(old: list[str], new: list[str], region: _Lines) -> Iterator[_Lines]:
    """The parts of a large region between lines that occur once in each text and in the same order (patience)."""
    a, b, c, d = region.old_start, region.old_end, region.new_start, region.new_end
    seen_old, seen_new = Counter(old[a:b]), Counter(new[c:d])
    place = {line: at for at, line in enumerate(new[c:d], c) if seen_new[line] == 1}
    pairs = [(at, place[line]) for at, line in enumerate(old[a:b], a) if seen_old[line] == 1 and line in place]
    for old_at, new_at in [*_rising(pairs), (b, d)]:
        yield _Lines(a, old_at, c, new_at)
        a, c = old_at + 1, new_at + 1


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest choice of pairs, in order, whose second numbers rise."""
    ends: list[int] = []
    chosen: list[int] = []
    before: list[int] = []
    for number, (_, new_at) in enumerate(pairs):
        at = bisect_left(ends, new_at)
        before.append(chosen[at - 1] if at else -1)
        ends[at : at + 1] = [new_at]
        chosen[at : at + 1] = [number]
    out: list[tuple[int, int]] = []
    number = chosen[-1] if chosen else -1
    while number >= 0:
        out.append(pairs[number])
        number = before[number]
    return out[::-1]


def _groups(changes: list[_Lines], context: int) -> list[list[_Lines]]:
    groups: list[list[_Lines]] = []
    for change in changes:
        if groups and change.old_start - groups[-1][-1].old_end <= 2 * context:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(piece: _Piece, group: list[_Lines], context: int) -> list[str]:
    old, new = piece.old, piece.new
    before = min(context, group[0].old_start)
    after = min(context, len(old) - group[-1].old_end)
    old_from, old_to = group[0].old_start - before, group[-1].old_end + after
    new_from, new_to = group[0].new_start - before, group[-1].new_end + after
    old_span = _span(piece.old_before + old_from, old_to - old_from)
    new_span = _span(piece.new_before + new_from, new_to - new_from)
    out = [f"@@ -{old_span} +{new_span} @@"]
    at = old_from
    for change in group:
        out += _marked(" ", old[at : change.old_start])
        out += _marked("-", old[change.old_start : change.old_end])
        out += _marked("+", new[change.new_start : change.new_end])
        at = change.old_end
    return out + _marked(" ", old[at:old_to])


def _span(start: int, count: int) -> str:
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _marked(mark: str, lines: list[str]) -> list[str]:
    out: list[str] = []
    for line in lines:
        if line.endswith("\n"):
            out.append(mark + line[:-1])
        else:
            out += [mark + line, "\\ No newline at end of file"]
    return out

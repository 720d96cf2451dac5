"""Unified diffs of whole texts, quick where the changed places are known. Lines end at `\\n` only."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

_REFINED = 3000
"""A changed region with more lines than this is shown as replaced whole, not compared line by line."""


@dataclass(frozen=True, slots=True)
class Region:
    """Lines `old_start:old_end` became lines `new_start:new_end` (from 0, end excluded)."""

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


def unified(old: str, new: str, name: str, regions: Sequence[Region] | None = None, *, context: int = 3) -> Diff:
    """The unified diff from `old` to `new`. `regions`, in order, may say where they differ; else it is found out."""
    old_lines, new_lines = _lines(old), _lines(new)
    changes: list[Region] = []
    for region in regions if regions is not None else [Region(0, len(old_lines), 0, len(new_lines))]:
        changes += _refine(old_lines, new_lines, _trim(old_lines, new_lines, region))
    out = [f"--- {name}", f"+++ {name}"] if changes else []
    for group in _groups(changes, context):
        out += _hunk(old_lines, new_lines, group, context)
    return Diff(
        text="\n".join(out) + "\n" if out else "",
        added=sum(change.new_end - change.new_start for change in changes),
        removed=sum(change.old_end - change.old_start for change in changes),
        first_line=changes[0].new_start + 1 if changes else 0,
    )


def _lines(text: str) -> list[str]:
    """Lines with their ends, so that a missing final newline is a difference."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _trim(old: list[str], new: list[str], region: Region) -> Region:
    # A text that ends in a newline has an empty last line for those who count newlines, but none here.
    a, b, c, d = region.old_start, min(region.old_end, len(old)), region.new_start, min(region.new_end, len(new))
    while a < b and c < d and old[a] == new[c]:
        a, c = a + 1, c + 1
    while a < b and c < d and old[b - 1] == new[d - 1]:
        b, d = b - 1, d - 1
    return Region(a, b, c, d)


def _refine(old: list[str], new: list[str], region: Region) -> list[Region]:
    a, b, c, d = region.old_start, region.old_end, region.new_start, region.new_end
    if a == b and c == d:
        return []
    if a == b or c == d or max(b - a, d - c) > _REFINED:
        return [region]
    matcher = difflib.SequenceMatcher(None, old[a:b], new[c:d], autojunk=False)
    return [Region(a + i, a + j, c + k, c + m) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"]


def _groups(changes: list[Region], context: int) -> list[list[Region]]:
    groups: list[list[Region]] = []
    for change in changes:
        if groups and change.old_start - groups[-1][-1].old_end <= 2 * context:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(old: list[str], new: list[str], group: list[Region], context: int) -> list[str]:
    before = min(context, group[0].old_start)
    after = min(context, len(old) - group[-1].old_end)
    old_from, old_to = group[0].old_start - before, group[-1].old_end + after
    new_from, new_to = group[0].new_start - before, group[-1].new_end + after
    out = [f"@@ -{_span(old_from, old_to)} +{_span(new_from, new_to)} @@"]
    at = old_from
    for change in group:
        out += _marked(" ", old[at : change.old_start])
        out += _marked("-", old[change.old_start : change.old_end])
        out += _marked("+", new[change.new_start : change.new_end])
        at = change.old_end
    return out + _marked(" ", old[at:old_to])


def _span(start: int, end: int) -> str:
    count = end - start
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

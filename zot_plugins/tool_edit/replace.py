"""Where old texts stand in a file, and the file with new texts in their place: pure functions over text.

Only the spans found change. Old texts are literal; a line end in them matches LF and CR LF, and the new text takes the
line ends of the place where it goes.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from zot_core.toolkit.diff import Region
from zot_core.toolkit.errors import ToolError
from zot_plugins.tool_edit.nearmiss import explain

_SHOWN_PLACES = 5
_COUNTED_PLACES = 1000
"""How many places of an ambiguous text are counted."""
_MOST_PLACES = 200_000
"""How many places `replace_all` changes at most; more is a program's work."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """One edit as asked for."""

    old: str
    new: str
    replace_all: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start:end` of the file become `text`; `edit` is the edit's number, from 1."""

    start: int
    end: int
    text: str
    edit: int


def plan(text: str, edits: Sequence[Replacement]) -> list[Span]:
    """The spans of all edits in the file's order. Raises ToolError, saying which edit and why; then nothing is done."""
    spans: list[Span] = []
    for number, edit in enumerate(edits, 1):
        _sane(edit, _label(number, edits))
        most = _MOST_PLACES if edit.replace_all else _COUNTED_PLACES
        found = occurrences(text, edit.old, most + 1)
        if not found:
            raise ToolError(_not_found(text, edits, number))
        if len(found) > 1 and not edit.replace_all:
            raise ToolError(_ambiguous(text, found, _label(number, edits)))
        if len(found) > most:
            raise ToolError(
                f"{_label(number, edits)}: old_text occurs more than {most} times. Use a shell command such as sed. "
                "Nothing was changed."
            )
        spans += [Span(start, end, fit(text, start, end, edit.new), number) for start, end in _apart(found)]
    spans.sort(key=lambda span: (span.start, span.end))
    for before, after in pairwise(spans):
        if after.start < before.end:
            raise ToolError(
                f"Edits {before.edit} and {after.edit} overlap at line {line_of(text, after.start)}. "
                "Join them into one edit. Nothing was changed."
            )
    return spans


def _label(number: int, edits: Sequence[Replacement]) -> str:
    return f"Edit {number} of {len(edits)}" if len(edits) > 1 else "Edit"


def _sane(edit: Replacement, label: str) -> None:
    if not edit.old:
        raise ToolError(
            f"{label}: old_text is empty. Give the text to replace; to fill an empty or new file use write. "
            "Nothing was changed."
        )
    if edit.old == edit.new:
        raise ToolError(f"{label}: old_text and new_text are the same. Nothing was changed.")


def _ambiguous(text: str, found: list[tuple[int, int]], label: str) -> str:
    places = ", ".join(str(line_of(text, start)) for start, _ in found[:_SHOWN_PLACES])
    more = ", …" if len(found) > _SHOWN_PLACES else ""
    count = f"more than {_COUNTED_PLACES}" if len(found) > _COUNTED_PLACES else len(found)
    return (
        f"{label}: old_text occurs {count} times (lines {places}{more}). Add lines around it until it is unique, or "
        "set replace_all. Nothing was changed."
    )


def _not_found(text: str, edits: Sequence[Replacement], number: int) -> str:
    edit = edits[number - 1]
    made = [other for other, one in enumerate(edits, 1) if other != number and edit.old in one.new]
    if made:
        why = (
            f"It is only in the new_text of edit {made[0]}; all edits are matched against the file as it is now. "
            "Join them into one."
        )
    else:
        why = explain(text, edit.old)
    return f"{_label(number, edits)}: old_text was not found. {why} Nothing was changed."


def occurrences(text: str, old: str, most: int) -> list[tuple[int, int]]:
    """Where `old` stands in `text`, overlapping places included; line ends match whichever kind they are.

    No more than `most` places are looked for.
    """
    found: list[tuple[int, int]] = []
    if "\n" not in old or "\r" not in text + old:
        at = text.find(old)
        while at >= 0 and len(found) < most:
            found.append((at, at + len(old)))
            at = text.find(old, at + 1)
        return found
    pattern = re.compile(r"\r?\n".join(map(re.escape, re.split(r"\r?\n", old))))
    match = pattern.search(text)
    while match and len(found) < most:
        start, end = match.span()
        # "\n" is found once more, inside of the "\r\n" that was found before it.
        if not (text[start] == "\n" and found and found[-1] == (start - 1, end)):
            found.append((start, end))
        match = pattern.search(text, start + 1)
    return found


def _apart(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The places from left to right without those that overlap an earlier one."""
    apart: list[tuple[int, int]] = []
    for start, end in found:
        if not apart or start >= apart[-1][1]:
            apart.append((start, end))
    return apart


def fit(text: str, start: int, end: int, new: str) -> str:
    """`new` with the line ends of the place `start:end` of `text`; lines that stay the same keep their own."""
    if "\n" not in new or "\r\n" not in text:
        return new
    old = text[start:end]
    lines, kept = re.split(r"\r?\n", new), _pieces(old)
    if "\r\n" in new and "\r\n" not in old:
        return new  # it says explicitly what it wants
    ends_at = text.find("\n", end)
    if "\n" in old:
        usual = "\r\n" if old[old.index("\n") - 1 : old.index("\n")] == "\r" else "\n"
    elif ends_at >= 0:
        usual = "\r\n" if text[ends_at - 1 : ends_at] == "\r" else "\n"
    else:
        usual = "\r\n" if text[: text.rfind("\n", 0, start) + 1].endswith("\r\n") else "\n"
    ends = [usual] * (len(lines) - 1)
    matcher = difflib.SequenceMatcher(None, [line for line, _ in kept], lines, autojunk=False)
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            if block.b + step < len(ends) and kept[block.a + step][1]:
                ends[block.b + step] = kept[block.a + step][1]
    return "".join(line + mark for line, mark in zip(lines, [*ends, ""], strict=True))


def _pieces(old: str) -> list[tuple[str, str]]:
    """Lines with their ends; the last has none."""
    parts = re.split(r"(\r?\n)", old)
    return list(zip(parts[::2], [*parts[1::2], ""], strict=True))


def apply(text: str, spans: Sequence[Span]) -> str:
    """The text with the spans replaced; they are in order and apart."""
    pieces, at = [], 0
    for span in spans:
        pieces += [text[at : span.start], span.text]
        at = span.end
    return "".join([*pieces, text[at:]])


def line_of(text: str, position: int) -> int:
    """The line of a character, from 1."""
    return text.count("\n", 0, position) + 1


def regions(spans: Sequence[Span]) -> list[Region]:
    """The spans in the old and the new text, for the diff."""
    out: list[Region] = []
    shift = 0
    for span in spans:
        start = span.start + shift
        out.append(Region(span.start, span.end, start, start + len(span.text)))
        shift += len(span.text) - (span.end - span.start)
    return out


def lines_of_spans(text: str, spans: Sequence[Span], most: int) -> list[int]:
    """The lines, from 1, on which the spans begin, each once, `most` at most."""
    lines: list[int] = []
    line, at = 1, 0
    for span in spans:
        line += text.count("\n", at, span.start)
        at = span.start
        if lines[-1:] != [line]:
            lines.append(line)
        if len(lines) == most:
            break
    return lines

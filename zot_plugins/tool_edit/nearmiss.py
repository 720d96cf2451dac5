"""Why an old text was not found: which place of the file comes close, and what differs there. Changes nothing."""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

from zot_core.toolkit.truncation import clip_line

_FOLDED_CHARS = 4_000_000
"""A text longer than this is not folded as a whole; its lines are compared."""
_COMPARED_LINES = 20_000
_COMPARED_CHARS = 400
_FULL_COMPARISONS = 5000
_BLOCK_LINES = 200
_MOST_STARTS = 20_000
_FOLD = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u02bc\u0060\u00b4"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb"), '"'),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-"),
    **dict.fromkeys(
        map(ord, "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"), " "
    ),
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\ufeff"), None),
    ord("\u2026"): "...",
}


def _lookalikes(text: str) -> str:
    if text.isascii():
        return text.replace("`", "'")
    return unicodedata.normalize("NFC", text).translate(_FOLD)


def _ends(text: str) -> str:
    return re.sub(r"[ \t\r]+(?=\n|\Z)", "", text)


def _blanks(text: str) -> str:
    return re.sub(r"(?m)^ | $", "", re.sub(r"[ \t\r]+", " ", text))


def _all(text: str) -> str:
    return _blanks(_lookalikes(text)).casefold()


_WAYS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("blanks at the ends of lines", _ends),
    ("indentation or other blanks (tabs and spaces)", _blanks),
    ("characters that look alike (quotes, dashes, blanks, accents)", _lookalikes),
    ("letter case", str.casefold),
    ("blanks, characters that look alike, or letter case", _all),
)


def explain(text: str, old: str) -> str:
    """What comes close to `old` in `text`, in a sentence or two with the file's own lines."""
    if not text:
        return "The file is empty; use write."
    if old.endswith("\n") and old.strip("\n") and text.endswith(old.rstrip("\n")):
        return "It is the end of the file, which has no newline there: leave the last line end out of old_text."
    if "\n" in old and "\n" not in text and old.replace("\r\n", "\n") in text.replace("\r", "\n"):
        return 'The file\'s lines end in CR alone: write "\\r" instead of "\\n".'
    if len(text) <= _FOLDED_CHARS and (why := _folded(text, old)):
        return why
    unescaped = old.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"').replace("\\\\", "\\")
    if unescaped != old and unescaped in text:
        return "It is there without the backslashes: old_text was escaped once too often."
    return _same_lines(text, old) or _closest(text, old)


def _folded(text: str, old: str) -> str:
    """Where it stands if one kind of difference does not count; empty if none is enough."""
    for what, fold in _WAYS:
        wanted = fold(old).strip("\n")
        if not wanted.strip():
            continue
        folded = fold(text)
        at = folded.find(wanted)
        if at < 0:
            continue
        line, count = folded.count("\n", 0, at) + 1, wanted.count("\n") + 1
        there = text.split("\n", line - 1 + count)[line - 1 : line - 1 + count]
        first = _difference(there, old.strip("\n").split("\n"), line)
        return f"Line {line} comes close and differs only in {what}.{first} The file has: {_lines(there)}"
    return ""


def _difference(there: Sequence[str], wanted: Sequence[str], line: int) -> str:
    """The first place where lines differ, spelled out; what stands before and behind the wanted text does not count."""
    last = len(wanted) - 1
    for number, (ours, theirs) in enumerate(zip(there, wanted, strict=False)):
        ours, theirs = ours.removesuffix("\r")[:_COMPARED_CHARS], theirs.removesuffix("\r")[:_COMPARED_CHARS]
        for tag, a, b, c, d in difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
            before = number == 0 and tag == "delete" and c == 0
            behind = number == last and tag == "delete" and b == len(ours)
            if tag != "equal" and not before and not behind:
                return (
                    f" First difference, in line {line + number}: the file has {_spelled(ours[a:b])}, "
                    f"old_text has {_spelled(theirs[c:d])}."
                )
    return ""


def _spelled(text: str) -> str:
    """A few characters in words where they cannot be told apart by looking."""
    if not text:
        return "nothing"
    if len(set(text)) == 1 and text[0] in " \t":
        name = "space" if text[0] == " " else "tab"
        return f"{len(text)} {name}{'s' if len(text) > 1 else ''}"
    shown = json.dumps(clip_line(_printable(text), 40), ensure_ascii=False)
    points = " ".join(f"U+{ord(char):04X}" for char in text[:4])
    return shown if text.isascii() and text.isprintable() else f"{shown} ({points})"


def _same_lines(text: str, old: str) -> str:
    """The place that shares most lines with `old`, and the first line there that differs; empty if none shares two."""
    given = old.strip("\n").split("\n")[:_BLOCK_LINES]
    wanted = [line.strip() for line in given]
    telling = {line for line in wanted if line}
    if len(telling) < 3:
        return ""
    there = text.split("\n")
    starts: Counter[int] = Counter()
    for at, line in enumerate(there):
        if (bare := line.strip()) in telling:
            starts.update(at - number for number, one in enumerate(wanted) if one == bare)
        if len(starts) > _MOST_STARTS:
            break
    (start, votes), *_ = starts.most_common(1) or [(0, 0)]
    if votes < 2 or votes * 2 < len(wanted):
        return ""
    for number, one in enumerate(wanted):
        at = start + number
        if not 0 <= at < len(there):
            return f"Lines {max(start, 0) + 1} to {len(there)} come close, but the file begins or ends there."
        if there[at].strip() != one:
            break
    return (
        f"Lines {max(start, 0) + 1} to {start + len(wanted)} come close; line {at + 1} differs. "
        f"The file has: {_lines(there[at : at + 1])}, old_text has: {_lines(given[number : number + 1])}"
    )


def _lines(there: Sequence[str]) -> str:
    """Lines of the file in JSON spelling, so that tabs and odd characters can be seen."""
    chosen = there[:5]
    return json.dumps(clip_line("\n".join(_printable(one) for one in chosen), 800), ensure_ascii=_odd("".join(chosen)))


def _odd(text: str) -> bool:
    return _lookalikes(text) != text


def _printable(line: str) -> str:
    return line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _closest(text: str, old: str) -> str:
    wanted = max(old.split("\n"), key=lambda line: len(line.strip()))
    key = wanted.strip()[:_COMPARED_CHARS]
    if not key:
        return "Read the file again and copy the text exactly."
    lines = text.split("\n", _COMPARED_LINES)[:_COMPARED_LINES]
    best_line = _closest_line(lines, key)
    if not best_line:
        return "Nothing in the file comes close: read it again and copy the text exactly."
    there = lines[best_line - 1 : best_line]
    if there[0].strip() == key:
        line = json.dumps(clip_line(key, 200))
        return f"Its line {line} is line {best_line} of the file, but the lines around it differ: read them again."
    return f"The closest line is {best_line}: {_lines(there)}. Read it again and copy the text exactly."


def _closest_line(lines: Sequence[str], key: str) -> int:
    """The line, from 1, that is most like `key` or holds something most like it; 0 if none is."""
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(key)
    best, best_line, left = 0.6, 0, _FULL_COMPARISONS
    for number, line in enumerate(lines, 1):
        ours = line.strip()[:_COMPARED_CHARS]
        matcher.set_seq1(ours)
        # What is longer than the key may hold it: then only the key's own length counts.
        scale = (len(ours) + len(key)) / (2 * min(len(ours), len(key)) or 1) if len(ours) > len(key) else 1.0
        if matcher.real_quick_ratio() * scale <= best or matcher.quick_ratio() * scale <= best:
            continue
        same = sum(block.size for block in matcher.get_matching_blocks() if scale == 1.0 or block.size > 2)
        ratio = 2 * same / (len(ours) + len(key)) * scale - (0.1 if scale > 1.0 else 0.0)
        if ratio > best:
            best, best_line = ratio, number
        left -= 1
        if not left:
            break
    return best_line

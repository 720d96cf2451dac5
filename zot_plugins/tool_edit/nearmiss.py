"""Why an old text was not found: which place of the file comes close, and what differs there. Changes nothing."""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections.abc import Callable

from zot_core.toolkit.truncation import clip_line

_COMPARED_LINES = 20_000
_COMPARED_CHARS = 400
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
    for what, fold in _WAYS:
        folded = fold(old).strip("\n")
        at = fold(text).find(folded) if folded.strip() else -1
        if at >= 0:
            line = fold(text).count("\n", 0, at) + 1
            place = _lines(text, line, folded.count("\n") + 1)
            return f"Line {line} comes close and differs only in {what}. The file has: {place}"
    unescaped = old.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"').replace("\\\\", "\\")
    if unescaped != old and unescaped in text:
        return "It is there without the backslashes: old_text was escaped once too often."
    return _closest(text, old)


def _lines(text: str, line: int, count: int) -> str:
    """Lines of the file in JSON spelling, so that tabs and odd characters can be seen."""
    chosen = text.split("\n")[line - 1 : line - 1 + min(count, 5)]
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
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(key)
    best, best_line = 0.6, 0
    for number, line in enumerate(lines, 1):
        matcher.set_seq1(line.strip()[:_COMPARED_CHARS])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and (ratio := matcher.ratio()) > best:
            best, best_line = ratio, number
    if not best_line:
        return "Nothing in the file comes close: read it again and copy the text exactly."
    if lines[best_line - 1].strip() == key:
        line = json.dumps(clip_line(key, 200))
        return f"Its line {line} is line {best_line} of the file, but the lines around it differ: read them again."
    return f"The closest line is {best_line}: {_lines(text, best_line, 1)}. Read it again and copy the text exactly."

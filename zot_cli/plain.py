"""Foreign text for a terminal: what a model, a tool or an extension wrote, without anything that a terminal would obey.

The same everywhere, piped output included: a file may be shown on a terminal later.
"""

from __future__ import annotations

import re

_CONTROL = re.compile(
    # OSC, DCS, SOS, PM and APC with their strings, if they are ended; each class excludes what could begin another
    # sequence, so that the search stays linear on hostile text.
    "(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x18\x1a\x1b\x80-\x9f]*(?:\x07|\x1b\\\\|\x9c)"
    # CSI and other escape sequences
    "|(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"
    "|\x1b[ -/]*[0-~]?"
    # single controls but tab and newline, C1, and the marks that reorder text
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


_LONE = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    """`text` with replacement marks for what is no character: halves of surrogate pairs, bytes that were no UTF-8."""
    return text if text.isascii() else _LONE.sub("\ufffd", text)


def clean(text: str) -> str:
    """`text` without control sequences; a carriage return becomes a line break, so that nothing is written over."""
    if text.isascii() and text.isprintable():
        return text
    return _CONTROL.sub("", whole(text).replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str, width: int = 100) -> str:
    """`text` cleaned, blanks and line breaks folded into one blank, cut to `width` characters."""
    folded = " ".join(clean(text[: width * 8]).split())
    return folded if len(folded) <= width else folded[: width - 1] + "…"

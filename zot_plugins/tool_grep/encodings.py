"""Files that are not UTF-8, for patterns that ask for more than ASCII: which they are, and in which encoding.

Both engines search bytes for a pattern in UTF-8. A pattern of ASCII finds its text in nearly every encoding, so nothing
here is done for one. Knows neither engine.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from zot_core.toolkit import filesystem
from zot_core.toolkit.encoding import JUDGED_BYTES, Encoding, guess_beginning, marked
from zot_core.toolkit.errors import ToolError
from zot_core.toolkit.filesystem import Guard

MOST = 1000
"""How many files are judged."""
LOOKING_S = 10.0
"""How long they are looked for."""
_JUDGING_S = 3.0
_HEAD = 1 << 16
_MORE = re.compile(r"\\[xuUpP]|\[:\^?ascii:\]")
"""What a pattern of ASCII characters may mean others by."""
NOT_UTF8 = (
    r"(?-u:[\xC0\xC1\xF5-\xFF]|[\xC2-\xF4](?:[^\x80-\xBF]|$)|(?:[\x00-\x7F]|^)[\x80-\xBF]"
    r"|[\xE0-\xF4][\x80-\xBF](?:[^\x80-\xBF]|$)|[\xF0-\xF4][\x80-\xBF]{2}(?:[^\x80-\xBF]|$)|[\xC2-\xDF][\x80-\xBF]{2})"
)
"""Finds in a line what is no UTF-8, in the syntax of `rg`: no short forms and surrogates, which nobody writes."""
NOT_UTF8_IN_TEXT = "[\udc80-\udcff]"
"""The same in text that was decoded with `surrogateescape`."""
LABELS: Mapping[str, str] = {
    "latin-1": "windows-1252",
    "cp1252": "windows-1252",
    "cp1250": "windows-1250",
    "cp1251": "windows-1251",
    "cp1253": "windows-1253",
    "cp1254": "windows-1254",
    "cp1255": "windows-1255",
    "cp1256": "windows-1256",
    "iso8859_2": "iso-8859-2",
    "koi8_r": "koi8-r",
    "cp866": "ibm866",
    "cp874": "windows-874",
    "cp932": "shift_jis",
    "euc_jp": "euc-jp",
    "gb18030": "gb18030",
    "big5": "big5",
    "cp949": "euc-kr",
}
"""Python's codecs as `rg --encoding` calls them."""


@dataclass(slots=True)
class Others:
    """Files by codec, and those of which nothing is known; `unfinished` if not all were found."""

    by_codec: dict[str, list[str]] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    unfinished: bool = False

    def codec_of(self) -> dict[str, str]:
        """Each file's codec."""
        return {name: codec for codec, names in self.by_codec.items() for name in names}


def beyond_ascii(pattern: str, *, literal: bool) -> bool:
    """Whether the pattern names characters that encodings write differently."""
    return not pattern.isascii() or (not literal and _MORE.search(pattern) is not None)


def judged(root: str, names: Iterable[str], guard: Guard) -> Others:
    """The encodings of files below `root` that hold something else than UTF-8. Binaries and damaged UTF-8 are left out.

    Reads at most so many, and for a few seconds; the rest is `unknown`.
    """
    found = Others()
    deadline = time.monotonic() + _JUDGING_S
    for count, name in enumerate(names):
        if count >= MOST or time.monotonic() > deadline:
            found.unknown.append(name)
            continue
        try:
            data = filesystem.read(os.path.join(root, name), 0, JUDGED_BYTES, guard, "read")  # noqa: PTH118
        except (OSError, ToolError):
            continue  # the search itself says that it cannot be read
        codec = _codec(data)
        if codec in LABELS:
            found.by_codec.setdefault(codec, []).append(name)
    return found


def label(codec: str) -> str:
    """How people call it."""
    return Encoding(codec).label


def _codec(data: bytes) -> str:
    if b"\0" in data[:_HEAD] or marked(data):
        return ""
    return guess_beginning(data, whole=len(data) < JUDGED_BYTES).name

"""Which encoding a file's bytes are in, and how to go to text and back without changing a byte.

Marks (BOM) are kept apart from the text, so that nobody sees them and nobody loses them. What is neither UTF-8 nor
marked is judged by charset-normalizer, imported only then.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CANDIDATES: dict[str, str] = {
    "latin-1": "Latin-1",
    "cp1252": "Windows-1252",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "cp1253": "Windows-1253",
    "cp1254": "Windows-1254",
    "cp1255": "Windows-1255",
    "cp1256": "Windows-1256",
    "iso8859_2": "ISO 8859-2",
    "koi8_r": "KOI8-R",
    "cp866": "code page 866",
    "cp874": "Windows-874",
    "cp932": "Shift JIS (cp932)",
    "euc_jp": "EUC-JP",
    "gb18030": "GB 18030",
    "big5": "Big5",
    "cp949": "Korean (cp949)",
}
"""What is considered, all of them with ASCII's newline where ASCII has it, and how it is called."""
JUDGED_BYTES = 4 << 20
"""How much of a file's beginning tells its encoding."""
_SAMPLE_BYTES = 64 * 1024
_TELLING_BYTES = 12
"""With fewer bytes beyond ASCII than this nothing can be told apart; it is most likely a name in Latin letters."""
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_LINE_BYTES = 2000


@dataclass(frozen=True, slots=True)
class Encoding:
    """A codec, its mark at the file's start, and how undecodable bytes are carried through text."""

    name: str = "utf-8"
    mark: bytes = b""
    errors: str = "strict"

    @property
    def label(self) -> str:
        """How people call it: `UTF-8`, `UTF-16 LE`, `Windows-1251`."""
        if self.name in _CANDIDATES:
            return _CANDIDATES[self.name]
        return self.name.upper().replace("-LE", " LE").replace("-BE", " BE")

    @property
    def said(self) -> str:
        """A remark for the reader where the encoding is not plain UTF-8, else nothing."""
        if self.name in _CANDIDATES:
            return f"not UTF-8; taken as {self.label}"
        if self.errors != "strict":
            return "some bytes are not UTF-8"
        return "" if self.name == "utf-8" else self.label


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text and the way back to its bytes."""

    text: str
    encoding: Encoding

    def encode(self, text: str) -> bytes:
        """Bytes of `text` in this file's encoding, mark included. Raises UnicodeEncodeError."""
        return self.encoding.mark + text.encode(self.encoding.name, self.encoding.errors)


def marked(head: bytes) -> Encoding | None:
    """The encoding that a mark at the start of `head` declares, if there is one."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return Encoding(name, mark)
    return None


def guess(data: bytes) -> Encoding:
    """The encoding of `data`, which has no mark: UTF-8, UTF-8 with stray bytes, or the most likely other one.

    Data with more well-formed UTF-8 characters than stray bytes is UTF-8 that was damaged. Only the first
    `JUDGED_BYTES` are looked at, unless they are UTF-8 and the rest is not.
    """
    if _is_utf8(data):
        return Encoding()
    judged = data[:JUDGED_BYTES]
    return _judge(data if _is_utf8(judged, cut=True) else judged)


def guess_beginning(data: bytes, *, whole: bool) -> Encoding:
    """As `guess`, of a file whose first bytes are `data`; unless that is the `whole` of it, its last character may be
    cut."""
    return Encoding() if _is_utf8(data, cut=not whole) else _judge(data)


def _is_utf8(data: bytes, *, cut: bool = False) -> bool:
    try:
        codecs.utf_8_decode(data, "strict", not cut)
    except UnicodeDecodeError:
        return False
    return True


def _judge(data: bytes) -> Encoding:
    sample = _telling(data)
    text = sample.decode("utf-8", "surrogateescape")
    stray = sum(1 for char in text if "\udc80" <= char <= "\udcff")
    good = sum(1 for char in text if char > "\x7f") - stray
    if good > stray:
        return Encoding("utf-8", errors="surrogateescape")
    return Encoding(_likely(sample), errors="surrogateescape")


def _telling(data: bytes) -> bytes:
    """The lines of `data` that are not only ASCII, as far as they are needed."""
    lines: list[bytes] = []
    size = at = 0
    while size < _SAMPLE_BYTES and (found := _BEYOND_ASCII.search(data, at)):
        here = found.start()
        start = max(data.rfind(b"\n", at, here) + 1, at, here - _LINE_BYTES)
        end = data.find(b"\n", here, here + _LINE_BYTES) + 1
        at = end or min(here + _LINE_BYTES, len(data))
        lines.append(data[start:at])
        size += at - start
    return b"".join(lines)


def _likely(sample: bytes) -> str:
    beyond = sum(1 for byte in sample if byte > 0x7F)
    western = "cp1252" if any(0x80 <= byte <= 0x9F for byte in sample) else "latin-1"
    if beyond < _TELLING_BYTES:
        return western
    from charset_normalizer import from_bytes  # slow to import, and rarely needed

    matches = from_bytes(sample, cp_isolation=[name for name in _CANDIDATES if name != "latin-1"])
    best = matches.best()
    if best is None or best.encoding not in _CANDIDATES:
        return western
    as_good = [match for match in matches if (match.chaos, match.coherence) == (best.chaos, best.coherence)]
    if any("cp1252" in (match.encoding, *match.could_be_from_charset) for match in as_good):
        return western
    return best.encoding


def decode(data: bytes) -> Decoded:
    """The whole file as text; encoding the text again gives the same bytes.

    Raises UnicodeError when that is impossible (a UTF-16 file of odd length, for example).
    """
    if encoding := marked(data):
        return _decode_marked(data, encoding)
    encoding = guess(data)
    if encoding == Encoding():
        return Decoded(data.decode(), encoding)
    for errors in ("strict", "surrogateescape"):
        if encoding.name == "utf-8" and errors == "strict":
            continue
        decoded = _back_and_forth(data, Encoding(encoding.name, errors=errors))
        if decoded is not None:
            return decoded
    return Decoded(data.decode("latin-1"), Encoding("latin-1"))


def _decode_marked(data: bytes, encoding: Encoding) -> Decoded:
    decoded = _back_and_forth(data, encoding)
    if decoded is None and encoding.name == "utf-8":
        decoded = _back_and_forth(data, Encoding("utf-8", encoding.mark, "surrogateescape"))
    if decoded is None:
        raise UnicodeError(f"cannot be read as {encoding.name} without changing it")
    return decoded


def _back_and_forth(data: bytes, encoding: Encoding) -> Decoded | None:
    try:
        decoded = Decoded(data[len(encoding.mark) :].decode(encoding.name, encoding.errors), encoding)
        return decoded if decoded.encode(decoded.text) == data else None
    except UnicodeError:
        return None


def line_ending(text: str) -> str:
    """`\\r\\n` if every line of `text` ends so and at least one does, else `\\n`."""
    crlf = text.count("\r\n")
    return "\r\n" if crlf and crlf == text.count("\n") else "\n"

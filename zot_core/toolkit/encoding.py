"""Which encoding a file's bytes are in, and how to go to text and back without changing a byte.

Marks (BOM) are kept apart from the text, so that nobody sees them and nobody loses them.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass

_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Encoding:
    """A codec, its mark at the file's start, and how undecodable bytes are carried through text."""

    name: str = "utf-8"
    mark: bytes = b""
    errors: str = "strict"

    @property
    def said(self) -> str:
        """A remark for the reader where the encoding is not plain UTF-8, else nothing."""
        if self.name == "latin-1":
            return "not UTF-8; taken as Latin-1"
        if self.errors != "strict":
            return "some bytes are not UTF-8"
        return "" if self.name == "utf-8" else self.name.upper().replace("-LE", " LE").replace("-BE", " BE")


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
    """The encoding of `data`, which has no mark: UTF-8, UTF-8 with stray bytes, or Latin-1.

    Data with more well-formed UTF-8 characters than stray bytes is UTF-8 that was damaged; else it is Latin-1.
    """
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
        stray = sum(1 for char in text if "\udc80" <= char <= "\udcff")
        good = sum(1 for char in text if char > "\x7f") - stray
        return Encoding("utf-8", errors="surrogateescape") if good > stray else Encoding("latin-1")
    return Encoding()


def decode(data: bytes) -> Decoded:
    """The whole file as text; encoding the text again gives the same bytes.

    Raises UnicodeError when that is impossible (a UTF-16 file of odd length, for example).
    """
    encoding = marked(data) or guess(data)
    if encoding.name == "utf-8" and encoding.mark:
        body = guess(data[len(encoding.mark) :])
        encoding = Encoding(
            "utf-8", encoding.mark, "strict" if body.errors == "strict" and body.name == "utf-8" else "surrogateescape"
        )
    decoded = Decoded(data[len(encoding.mark) :].decode(encoding.name, encoding.errors), encoding)
    if decoded.encode(decoded.text) != data:
        raise UnicodeError(f"cannot be read as {encoding.name} without changing it")
    return decoded


def for_reading(data: bytes) -> tuple[str, str]:
    """A piece of a file as text to show, and a remark if it was not plain UTF-8. Stray bytes show as U+FFFD."""
    encoding = guess(data)
    if encoding.name == "latin-1":
        return data.decode("latin-1"), encoding.said
    return data.decode("utf-8", "replace"), encoding.said and f"{encoding.said} and show as \ufffd"


def line_ending(text: str) -> str:
    """`\\r\\n` if every line of `text` ends so and at least one does, else `\\n`."""
    crlf = text.count("\r\n")
    return "\r\n" if crlf and crlf == text.count("\n") else "\n"

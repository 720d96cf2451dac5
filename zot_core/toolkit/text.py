"""Text that came from a program, made safe to show: without control sequences, and as a terminal would leave it.

Knows no terminal library; colours are removed, not kept.
"""

from __future__ import annotations

import codecs
import re

_CSI = r"(?:\x1b\[|\x9b)"
_SEQUENCE = re.compile(
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS, SOS, PM, APC
    rf"|{_CSI}[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_ERASE_REST = re.compile(rf"{_CSI}0?K")
_ERASE_LINE = re.compile(rf"{_CSI}2K")
_TO_FIRST_COLUMN = re.compile(rf"{_CSI}1?G")
_MARKS = re.compile(r"[\x00\x01\x08\r]")
_OTHER = re.compile(r"[\x02-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_HELD = 64 * 1024
"""How many characters of a line without an end are held back before they are given out."""


def without_controls(text: str) -> str:
    """`text` without escape sequences and control characters; newlines and tabs stay, CR LF becomes LF."""
    if not _CONTROL.search(text):
        return text
    return _CONTROL.sub("", _SEQUENCE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def as_seen(text: str) -> str:
    """What a terminal would show of `text` in the end, line by line, as plain text.

    A carriage return lets the next part take the place of the line so far, erase-line and backspace are obeyed; cursor
    movement over lines, colours, titles and the alternate screen are dropped and their text stays.
    """
    if not _CONTROL.search(text):
        return text
    # NUL and SOH, removed from the input first, stand for "erase the rest" and "erase the line".
    text = text.replace("\x00", "").replace("\x01", "")
    text = _ERASE_LINE.sub("\x01", _ERASE_REST.sub("\x00", text))
    text = _SEQUENCE.sub("", _TO_FIRST_COLUMN.sub("\r", text))
    text = re.sub(r"\r+\n", "\n", _OTHER.sub("", text))
    if not _MARKS.search(text):
        return text
    return "\n".join(_fold(line) if _MARKS.search(line) else line for line in text.split("\n"))


def _fold(line: str) -> str:
    shown = ""
    for part in line.split("\r"):
        erased = part.startswith("\x00") or "\x01" in part
        part = part.rpartition("\x01")[2].replace("\x00", "")
        if "\b" in part:
            part = _step_back(part)
        if part or erased:
            shown = part
    return shown


def _step_back(part: str) -> str:
    shown: list[str] = []
    column = 0
    for char in part:
        if char == "\b":
            column = max(0, column - 1)
        elif column < len(shown):
            shown[column] = char
            column += 1
        else:
            shown.append(char)
            column += 1
    return "".join(shown)


class SeenStream:
    """`as_seen` over bytes that arrive in pieces, in bounded memory. Invalid UTF-8 becomes U+FFFD."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def feed(self, data: bytes) -> str:
        """Takes the next bytes; answers the text that is final by now, mostly whole lines."""
        return self._take(self._decoder.decode(data))

    def finish(self) -> str:
        """The rest, after the last byte."""
        rest = self._held + self._decoder.decode(b"", True)
        self._held = ""
        return as_seen(rest)

    def _take(self, text: str) -> str:
        whole, newline, rest = (self._held + text).rpartition("\n")
        out = as_seen(whole + newline) if newline else ""
        if len(rest) > _HELD:
            before, mark, last = rest.rstrip("\r").rpartition("\r")
            rest = last if mark and last else before + mark + last
        if len(rest) > _HELD:
            # A sequence may be cut at the end: it waits for its other half.
            cut = rest.rfind("\x1b", len(rest) - 256)
            cut = cut if cut > 0 else len(rest)
            out += as_seen(rest[:cut])
            rest = rest[cut:]
        self._held = rest
        return out

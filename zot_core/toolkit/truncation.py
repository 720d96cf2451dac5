"""Cutting text to what a model should see: whole lines, whole characters, and an honest count of the rest.

Every tool's output is limited to 2000 lines or 50 KB, whichever is reached first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MAX_LINES = 2000
MAX_BYTES = 50 * 1024
DIFF_LINES = 10_000
DIFF_BYTES = 256 * 1024
"""The most of a diff that goes into a result's details, for screens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A text and what is left of it. `by` is the limit that was reached, empty if none; sizes are UTF-8 bytes.

    `partial` says that a single line was longer than the limit and only a part of it is in `text`.
    """

    text: str
    lines: int
    bytes: int
    total_lines: int
    total_bytes: int
    by: Literal["", "lines", "bytes"] = ""
    partial: bool = False

    @property
    def truncated(self) -> bool:
        """Whether anything was left out."""
        return bool(self.by)


def size_of(text: str) -> int:
    """The text's size in UTF-8 bytes; lone surrogates count as three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def lines_of(text: str) -> list[str]:
    """The text's lines without their ends. Only `\\n` ends a line; one at the very end begins no further line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def head(text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Cut:
    """The first lines of `text` that fit both limits. For what matters at its beginning, such as a file."""
    return _cut(text, max_lines, max_bytes, end=False)


def tail(text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Cut:
    """The last lines of `text` that fit both limits. For what matters at its end, such as a command's output."""
    return _cut(text, max_lines, max_bytes, end=True)


def _cut(text: str, max_lines: int, max_bytes: int, *, end: bool) -> Cut:
    total_bytes = size_of(text)
    lines = lines_of(text)
    if len(lines) <= max_lines and total_bytes <= max_bytes:
        return Cut(text=text, lines=len(lines), bytes=total_bytes, total_lines=len(lines), total_bytes=total_bytes)
    kept: list[str] = []
    used = 0
    by: Literal["lines", "bytes"] = "lines"
    for line in reversed(lines) if end else lines:
        if len(kept) == max_lines:
            break
        needed = size_of(line) + bool(kept)
        if used + needed > max_bytes:
            by = "bytes"
            break
        kept.append(line)
        used += needed
    partial = not kept and by == "bytes"
    if partial:
        kept = [clip(lines[-1] if end else lines[0], max_bytes, end=end)]
    shown = "\n".join(reversed(kept) if end else kept)
    return Cut(
        text=shown,
        lines=len(kept),
        bytes=size_of(shown),
        total_lines=len(lines),
        total_bytes=total_bytes,
        by="" if shown == text.removesuffix("\n") else by,
        partial=partial,
    )


def clip(text: str, max_bytes: int, *, end: bool = False) -> str:
    """The longest beginning (or end) of `text` of at most `max_bytes` bytes that cuts no character in two."""
    if size_of(text) <= max_bytes:
        return text
    data = text.encode("utf-8", "surrogatepass")
    piece = data[len(data) - max_bytes :] if end else data[:max_bytes]
    piece = piece.lstrip(bytes(range(0x80, 0xC0))) if end else piece[: boundary(piece)]
    return piece.decode("utf-8", "surrogatepass")


def boundary(data: bytes) -> int:
    """How many bytes of `data` one may take without cutting a UTF-8 character at its end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        needed = 1 if byte < 0xC0 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
        return len(data) if needed <= back else len(data) - back
    return len(data)


def clip_line(line: str, max_chars: int = 500) -> str:
    """A line shortened to `max_chars` characters with a mark that says how many are missing."""
    if len(line) <= max_chars:
        return line
    return f"{line[:max_chars]}… ({len(line) - max_chars} more characters)"


def format_size(count: int) -> str:
    """A size for people and models: `812 B`, `12.3 KB`, `4.0 MB`."""
    size = float(count)
    for unit in ("B", "KB", "MB"):
        if size < 1024:
            return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GB"

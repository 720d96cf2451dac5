"""A window of lines out of a stream of bytes, in bounded memory however large the file or the line is.

Knows bytes and newlines only; what they mean as text is decided by who shows them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from zot_core.toolkit.truncation import boundary


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What is shown, and where to go on.

    `next_line` and `next_skip` are where the rest begins (0: nothing is left). `total` is the number of lines, None if
    it was not counted. `past_end`: the window would begin behind the last line.
    """

    data: bytes = b""
    lines: int = 0
    next_line: int = 0
    next_skip: int = 0
    total: int | None = None
    past_end: bool = False


class _Source:
    """The stream with the part of it that was read too far."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self.rest = b""
        self.ended = False
        self.last = b""

    async def fill(self) -> bool:
        """Puts the next chunk into an empty `rest`; false at the end."""
        while not self.rest and not self.ended:
            chunk = await anext(self._chunks, None)
            if chunk is None:
                self.ended = True
            else:
                self.rest = chunk
        if self.rest:
            self.last = self.rest[-1:]
        return bool(self.rest)

    async def skip_lines(self, count: int) -> int:
        """Leaves out `count` newlines and what is before them; how many there were."""
        passed = 0
        while passed < count and await self.fill():
            here = self.rest.count(b"\n")
            if passed + here < count:
                passed += here
                self.rest = b""
                continue
            at = -1
            for _ in range(count - passed):
                at = self.rest.index(b"\n", at + 1)
            self.rest = self.rest[at + 1 :]
            passed = count
        return passed

    async def skip_bytes(self, count: int) -> int:
        """Leaves out up to `count` bytes of the present line; how many it did."""
        left = count
        while left and await self.fill():
            line = self.rest.find(b"\n")
            take = min(left, len(self.rest) if line < 0 else line)
            self.rest = self.rest[take:]
            left -= take
            if line >= 0:
                break
        return count - left

    async def take(self, size: int) -> bytes:
        """The next `size` bytes, fewer only at the end."""
        pieces: list[bytes] = []
        while size and await self.fill():
            piece, self.rest = self.rest[:size], self.rest[size:]
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    async def count(self) -> tuple[int, bytes]:
        """How many newlines are left, and the stream's last byte."""
        newlines = 0
        while await self.fill():
            newlines += self.rest.count(b"\n")
            self.rest = b""
        return newlines, self.last


async def window(
    chunks: AsyncIterator[bytes], *, first: int, skip: int, max_lines: int, max_bytes: int, count_rest: bool
) -> Window:
    """Lines from `first` (from 1), without the first `skip` bytes of it, up to both limits; a line that alone is longer
    than `max_bytes` is shown in part. `count_rest` reads on to the end for the total."""
    source = _Source(chunks)
    passed = await source.skip_lines(first - 1)
    if passed < first - 1 or not await source.fill():
        _, last = await source.count()
        return Window(total=passed + (last not in (b"", b"\n")), past_end=True)
    skipped = await source.skip_bytes(skip)
    raw = await source.take(max_bytes + 1)
    complete = len(raw) <= max_bytes
    if not complete and b"\n" not in raw:
        part = raw[: boundary(raw[:max_bytes])]
        return Window(data=part, lines=1, next_line=first, next_skip=skipped + len(part))
    pieces = raw.split(b"\n")
    if len(pieces) > 1 and (not complete or pieces[-1] == b""):
        pieces.pop()  # a line whose end was not reached does not fit; a newline at the very end begins no further line
    shown = pieces[:max_lines]
    data = b"\n".join(shown)
    more = not complete or len(shown) < len(pieces)
    total: int | None = None
    if not more:
        total = first - 1 + len(shown)
    elif count_rest:
        newlines, last = await source.count()
        total = first - 1 + raw.count(b"\n") + newlines + (last != b"\n")
    return Window(data=data, lines=len(shown), next_line=first + len(shown) if more else 0, total=total)

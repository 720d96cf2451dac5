"""Lines typed on a terminal, read by the event loop. Knows the descriptor of stdin and no meaning of a line."""

from __future__ import annotations

import asyncio
import os
from types import TracebackType

STDIN = 0


class Lines:
    """Typed lines in order, while its `with` block lasts. The terminal's own line editing is what people type with."""

    def __init__(self, fd: int = STDIN) -> None:
        self._fd = fd
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._unread: list[str | None] = []
        self._rest = b""

    def __enter__(self) -> Lines:
        asyncio.get_running_loop().add_reader(self._fd, self._readable)
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        asyncio.get_running_loop().remove_reader(self._fd)

    async def next(self) -> str | None:
        """The next line without its end; None for ever when the terminal has no more (Ctrl-D, or it is gone)."""
        if self._unread:
            return self._unread.pop()
        line = await self._queue.get()
        if line is None:
            self._queue.put_nowait(None)
        return line

    def unread(self, line: str | None) -> None:
        """Gives a line back; it is the next one."""
        self._unread.append(line)

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, 1 << 16)
        except OSError:
            data = b""  # a terminal that is gone is the end of input
        if not data:
            asyncio.get_running_loop().remove_reader(self._fd)
            if self._rest:
                self._queue.put_nowait(self._rest.decode("utf-8", "replace"))
            self._queue.put_nowait(None)
            return
        *whole, self._rest = (self._rest + data).split(b"\n")
        for line in whole:
            self._queue.put_nowait(line.decode("utf-8", "replace").rstrip("\r"))

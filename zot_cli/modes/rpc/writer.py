"""The one writer of RPC: whole lines in order to the process's output, without ever holding up the event loop.

A reader that is slow makes whoever tells events wait; responses and notes are kept meanwhile. Knows bytes, no event.
"""

from __future__ import annotations

import asyncio
import os
import select
from collections.abc import Callable

from zot_cli.stdio import Output, OutputFailed, OutputGone

FLUSH_AT = 1 << 16
"""Bytes that are written without waiting for the loop's next step."""
FULL = 1 << 20
"""Bytes that wait for the reader when events have to wait too."""
VERY_FULL = 1 << 26
"""Bytes that wait when no more requests are read: the reader asks and does not take the answers."""
TOO_FULL = 1 << 28
"""Bytes that wait when the reader counts as gone: something that cannot be made to wait fills memory."""
_PIECE = getattr(select, "PIPE_BUF", 512)
"""Bytes that a pipe takes at once when it is said to be writable, so that no write ever blocks."""


class Writer(Output):
    """The process's output, shared by nobody. `broken` says how it ended, if it did; then nothing more is written.

    `on_broken` is called when that happens, `on_full` with true when requests should not be read for now.
    """

    def __init__(self) -> None:
        super().__init__()
        self.broken: OutputGone | OutputFailed | None = None
        self.on_broken: Callable[[], object] = lambda: None
        self.on_full: Callable[[bool], object] = lambda full: None
        self._lines: list[bytes] = []
        self._rest = memoryview(b"")
        self._size = 0
        self._scheduled = False
        self._watching = False
        self._full = False
        self._room: asyncio.Future[None] | None = None
        self._empty: asyncio.Future[None] | None = None
        self._poll = select.poll() if hasattr(select, "poll") else None
        if self._poll is not None:
            self._poll.register(self._fd, select.POLLOUT)

    def put(self, line: bytes) -> None:
        """A line, its newline included, after all that were put before."""
        if self.broken is not None:
            return
        self._lines.append(line)
        self._size += len(line)
        if self._size > TOO_FULL:
            self._give_up(OutputFailed(f"nobody reads standard output, and {self._size >> 20} MiB wait for it"))
        elif self._watching:
            self._tell_full()
        elif self._size > FLUSH_AT:
            self._flush()
        elif not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._flush)

    def room(self) -> asyncio.Future[None] | None:
        """What to await before the next event; None when there is room."""
        if self._size <= FULL or self.broken is not None:
            return None
        if self._room is None or self._room.done():
            self._room = asyncio.get_running_loop().create_future()
        # Shielded, because whoever waits may be cancelled while others go on waiting.
        return asyncio.shield(self._room)

    async def drained(self) -> None:
        """Returns when all is written, or nobody will read it any more."""
        self._flush()
        if self._size and self.broken is None:
            self._empty = asyncio.get_running_loop().create_future()
            await self._empty

    def reader_is_gone(self) -> bool:
        """Whether the other end of the pipe was closed, as far as can be told without writing."""
        if self._poll is None:
            return False
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in self._poll.poll(0))

    def give_up(self) -> None:
        """The reader is gone: what waits is dropped."""
        self._give_up(OutputGone())

    def _flush(self) -> None:
        self._scheduled = False
        try:
            while self._rest or self._lines:
                if not self._rest:
                    self._rest = memoryview(b"".join(self._lines))
                    self._lines.clear()
                if self._poll is not None and not self._poll.poll(0):
                    self._watch(True)
                    self._tell_full()
                    return
                written = os.write(self._fd, self._rest[:_PIECE])
                self._rest = self._rest[written:]
                self._size -= written
        except BlockingIOError:  # O_NONBLOCK, set by whoever shares the pipe
            self._watch(True)
            return
        except OSError as error:
            self._give_up(_meaning(error))
            return
        self._watch(False)
        self._tell_full()

    def _watch(self, on: bool) -> None:
        if on == self._watching:
            return
        self._watching = on
        loop = asyncio.get_running_loop()
        if on:
            loop.add_writer(self._fd, self._flush)
        else:
            loop.remove_writer(self._fd)

    def _tell_full(self) -> None:
        if self._full != (self._size > VERY_FULL):
            self._full = not self._full
            self.on_full(self._full)
        if self._size <= FULL // 2:
            _resolve(self._room)
        if not self._size:
            _resolve(self._empty)

    def _give_up(self, error: OutputGone | OutputFailed) -> None:
        if self.broken is not None:
            return
        self.broken = error
        self._lines.clear()
        self._rest = memoryview(b"")
        self._size = 0
        self._watch(False)
        self._tell_full()
        self.on_broken()


def _meaning(error: OSError) -> OutputGone | OutputFailed:
    import errno

    if error.errno in (errno.EPIPE, errno.ECONNRESET, errno.EIO):
        return OutputGone()
    return OutputFailed(f"cannot write to standard output: {error.strerror}")


def _resolve(future: asyncio.Future[None] | None) -> None:
    if future is not None and not future.done():
        future.set_result(None)

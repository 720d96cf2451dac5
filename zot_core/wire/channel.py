"""A line-framed duplex over the pipes of a child: one line out for each write, one call for each line that comes in.

Only LF ends a line. Writing never waits: lines queue, each knows when the system has taken it, and what waits is
bounded. Knows no frame and no process; POSIX pipes.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable
from time import perf_counter

SLICE_S = 0.005
"""How long lines are dealt with before others get a turn: a flood must not hold up the loop."""


class ChannelClosed(Exception):
    """The line was not sent, and none will be; the message says why."""


class LineTooLong(Exception):
    """The line alone is over the limit; the channel goes on."""


class Sending:
    """A line on its way. `done` when the system has taken all of it, or when it never will."""

    __slots__ = ("_waiter", "done")

    def __init__(self) -> None:
        self.done = False
        self._waiter: asyncio.Future[None] | None = None

    async def wait(self) -> None:
        """Returns when it is done."""
        if not self.done:
            if self._waiter is None:
                self._waiter = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._waiter)

    def finish(self) -> None:
        """Says that it is done."""
        self.done = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Channel:
    """Both pipes. `on_line(line)` gets each line without its LF; `on_end(reason)` is called once, when none will come
    any more: "" for the other side's end of output, else what was wrong."""

    def __init__(self, on_line: Callable[[bytes], None], on_end: Callable[[str], None], *, limit: int) -> None:
        self._on_line = on_line
        self._on_end = on_end
        self._limit = limit
        self._in: asyncio.ReadTransport | None = None
        self._out: asyncio.WriteTransport | None = None
        self._queue: deque[tuple[bytes, Sending]] = deque()
        self._flying: Sending | None = None
        self._queued_size = 0
        self._pieces: list[bytes] = []
        self._partial = 0
        self._lines: deque[bytes] = deque()
        self._draining = False
        self._eof = False
        self._ended = False
        self.closed_because = ""
        """Why nothing can be sent any more; empty while it can."""
        self.closed_by_peer = False

    async def connect(self, reading: int, writing: int) -> None:
        """Takes over both descriptors: what the child writes, and what it reads."""
        loop = asyncio.get_running_loop()
        out, _ = await loop.connect_write_pipe(lambda: _Out(self), os.fdopen(writing, "wb", 0))
        out.set_write_buffer_limits(high=0)
        self._out = out
        self._in, _ = await loop.connect_read_pipe(lambda: _In(self), os.fdopen(reading, "rb", 0))

    # --- out ---------------------------------------------------------------------------------------------------------

    @property
    def waiting(self) -> int:
        """Bytes that the system has not taken yet."""
        flying = self._out.get_write_buffer_size() if self._flying is not None and self._out is not None else 0
        return self._queued_size + flying

    def send(self, line: bytes) -> Sending:
        """Sends a line, which ends with its LF. Raises ChannelClosed, and LineTooLong for one over the limit.

        With more than the limit waiting the channel is closed for writing: the other side does not read.
        """
        if self.closed_because or self._out is None:
            raise ChannelClosed(self.closed_because or "it is not connected")
        if len(line) > self._limit:
            raise LineTooLong(f"{len(line):,} bytes are over the limit of {self._limit >> 20} MiB")
        if self.waiting + len(line) > self._limit:
            self.close_writing(f"it does not read: {self.waiting:,} bytes were waiting for it")
            raise ChannelClosed(self.closed_because)
        sending = Sending()
        if self._flying is None:
            self._fly(line, sending)
        else:
            self._queue.append((line, sending))
            self._queued_size += len(line)
        if self.closed_because:
            raise ChannelClosed(self.closed_because)
        return sending

    def close_writing(self, reason: str) -> None:
        """Closes the pipe that the child reads, whatever waits in it; a stuck write is released."""
        if self.closed_because:
            return
        self.closed_because = reason
        flying, self._flying = self._flying, None
        for sending in (*([flying] if flying else []), *(sending for _, sending in self._queue)):
            sending.finish()
        self._queue.clear()
        self._queued_size = 0
        if self._out is not None and not self._out.is_closing():  # the child may have closed its end first
            self._out.abort()

    def close(self, reason: str) -> None:
        """Closes both ways; `on_end` is not called for it."""
        self._ended = True
        self.close_writing(reason)
        self._lines.clear()
        self._pieces.clear()
        if self._in is not None:
            self._in.close()

    def _peer_closed(self) -> None:
        if not self.closed_because:
            self.closed_by_peer = True
            self.close_writing("it has closed its input")

    def _fly(self, line: bytes, sending: Sending) -> None:
        assert self._out is not None
        if not self._out.is_closing():
            self._out.write(line)
        if self._out.is_closing():  # found out by the write, or before and not told yet
            sending.finish()
            self._peer_closed()
        elif self._out.get_write_buffer_size():
            self._flying = sending
        else:
            sending.finish()

    def _written(self) -> None:
        """The system has taken all that the transport had."""
        if self._flying is not None:
            self._flying.finish()
            self._flying = None
        while self._queue and self._flying is None and not self.closed_because:
            line, sending = self._queue.popleft()
            self._queued_size -= len(line)
            self._fly(line, sending)

    # --- in ----------------------------------------------------------------------------------------------------------

    def _received(self, data: bytes) -> None:
        if self._ended:
            return
        *whole, rest = data.split(b"\n")
        for piece in whole:
            if self._partial + len(piece) + 1 > self._limit:
                self._end(_too_long(self._limit))
                return
            self._pieces.append(piece)
            self._lines.append(b"".join(self._pieces))
            self._pieces.clear()
            self._partial = 0
        if rest:
            self._pieces.append(rest)
            self._partial += len(rest)
        self._drain()
        if self._partial >= self._limit:
            self._end(_too_long(self._limit))

    def _drain(self) -> None:
        until = perf_counter() + SLICE_S
        while self._lines and not self._ended:
            self._on_line(self._lines.popleft())
            if perf_counter() > until and self._lines:
                if not self._draining and self._in is not None and not self._eof:
                    self._in.pause_reading()
                self._draining = True
                asyncio.get_running_loop().call_soon(self._drain)
                return
        if self._draining:
            self._draining = False
            if self._in is not None and not self._eof and not self._ended:
                self._in.resume_reading()
        if self._eof and not self._lines:
            self._end("")

    def _closed(self) -> None:
        self._eof = True
        if not self._draining:
            self._drain()

    def _end(self, reason: str) -> None:
        if self._ended:
            return
        self._ended = True
        if self._in is not None:
            self._in.close()
        self._on_end(reason)


def _too_long(limit: int) -> str:
    return f"it sent a frame over {limit >> 20} MiB"


class _In(asyncio.Protocol):
    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def data_received(self, data: bytes) -> None:
        self._channel._received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._channel._closed()


class _Out(asyncio.BaseProtocol):
    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def resume_writing(self) -> None:
        self._channel._written()

    def connection_lost(self, exc: Exception | None) -> None:
        self._channel._peer_closed()

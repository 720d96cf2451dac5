"""The requests' side of RPC: lines of stdin, read as soon as they are there. Knows bytes, no request.

Stdin is taken away from everybody else in the process. A line that is too long is skipped and said.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable

LONGEST = 1 << 26
"""Bytes of a line: pictures go in base64."""
_PIECE = 1 << 16


class Lines:
    """Cuts bytes into lines at LF alone. `on_line` gets each without it, `on_long` is called for one over the limit."""

    def __init__(self, on_line: Callable[[bytes], object], on_long: Callable[[], object], limit: int = LONGEST) -> None:
        self._on_line = on_line
        self._on_long = on_long
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, data: bytes) -> None:
        """More bytes."""
        *whole, rest = data.split(b"\n")
        for part in whole:
            self._add(part)
            self._end()
        self._add(rest)

    def end(self) -> None:
        """There are no more; a last line without its newline counts."""
        if self._parts or self._skipping:
            self._end()

    def _add(self, part: bytes) -> None:
        if not part or self._skipping:
            return
        self._parts.append(part)
        self._size += len(part)
        if self._size > self._limit:
            self._parts.clear()
            self._skipping = True

    def _end(self) -> None:
        line, skipped = b"".join(self._parts), self._skipping
        self._parts.clear()
        self._size, self._skipping = 0, False
        if skipped:
            self._on_long()
        else:
            self._on_line(line)


class Reader:
    """Feeds `lines` from stdin on the running loop; `on_end` is called once, when there is no more.

    Pipes, sockets and terminals are waited for by the loop; what it cannot wait for (a file, Windows) by a thread.
    """

    def __init__(self, lines: Lines, on_end: Callable[[], object]) -> None:
        self._lines = lines
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._fd = _taken_stdin()
        self._thread: threading.Thread | None = None
        self._taken = threading.Event()
        self._reading = False
        self._ended = False
        self.pause(False)

    def pause(self, paused: bool) -> None:
        """Reads no more for now, or goes on."""
        if self._ended or paused == (not self._reading):
            return
        self._reading = not paused
        if self._thread is not None:
            if not paused:
                self._taken.set()
        elif paused:
            self._loop.remove_reader(self._fd)
        else:
            try:
                self._loop.add_reader(self._fd, self._readable)
            except (OSError, NotImplementedError):
                self._thread = threading.Thread(target=self._read_on, name="zot:stdin", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """No line comes after this."""
        if not self._ended:
            self.pause(True)
            self._ended = True

    def _readable(self) -> None:
        try:
            self._came(os.read(self._fd, _PIECE))
        except BlockingIOError:
            pass  # O_NONBLOCK, set by whoever shares the pipe: it is called again
        except OSError:
            self._came(b"")  # a terminal that is gone is the end of input

    def _came(self, data: bytes) -> None:
        if self._ended:
            return
        if data:
            self._lines.feed(data)
        else:
            self.stop()
            self._lines.end()
            self._on_end()
        if self._reading:
            self._taken.set()

    def _read_on(self) -> None:
        """The thread: one piece at a time, the next when the loop has taken it."""
        while True:
            try:
                data = os.read(self._fd, _PIECE)
            except OSError:
                data = b""
            self._taken.clear()
            try:
                self._loop.call_soon_threadsafe(self._came, data)
            except RuntimeError:
                return  # the loop is closed: zot has ended
            if not data:
                return
            self._taken.wait()


def _taken_stdin() -> int:
    """Stdin on a descriptor of its own; whoever else reads stdin, a child or a plugin, gets nothing."""
    fd = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return fd

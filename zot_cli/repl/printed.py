"""What code prints while the screen is drawn: it becomes lines of the transcript, not garbage on the screen.

For `print` and `sys.stderr` of plugins and libraries, from any thread; programs have pipes of their own.
"""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MOST = 100_000
"""Characters of one line; what follows begins another."""


class _Lines(io.TextIOBase):
    """A text file whose whole lines are told in the event loop, in order."""

    encoding = "utf-8"

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell, self._loop = tell, asyncio.get_running_loop()
        self._begun = ""
        self._lines: list[str] = []

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        *lines, self._begun = (self._begun + str(text)).split("\n")
        if len(self._begun) > MOST:
            lines, self._begun = [*lines, self._begun], ""
        self._add(lines)
        return len(text)

    def finish(self) -> None:
        """Tells what has come, an unfinished line too."""
        self._lines += [self._begun] if self._begun else []
        self._begun = ""
        self._told()

    def _add(self, lines: list[str]) -> None:
        waits = bool(self._lines)
        self._lines += lines
        if self._lines and not waits and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._told)

    def _told(self) -> None:
        lines, self._lines = self._lines, []
        text = "\n".join(lines).strip("\n")
        if text.strip():
            self._tell(text)


@contextmanager
def printed(tell: Callable[[str], None]) -> Iterator[None]:
    """While the block lasts, what is printed to stdout and stderr is told instead."""
    before, lines = (sys.stdout, sys.stderr), _Lines(tell)
    sys.stdout = sys.stderr = lines
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        lines.finish()

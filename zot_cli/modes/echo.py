"""A terminal that does not repeat what is typed, for secrets. Knows stdin's descriptor and nothing of what is typed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

STDIN = 0


@contextmanager
def unechoed(fd: int = STDIN) -> Iterator[None]:
    """While it lasts the terminal echoes only the end of a line; what is no terminal stays as it is."""
    if not os.isatty(fd):
        yield
        return
    import termios

    before = termios.tcgetattr(fd)
    quiet = termios.tcgetattr(fd)
    quiet[3] = (quiet[3] & ~termios.ECHO) | termios.ECHONL
    termios.tcsetattr(fd, termios.TCSADRAIN, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)

"""The terminal itself: its input and output, what it can show, and that it is left as it was found.

Asks for the background's colour before the application starts, because an answer that comes later would be typed into
the editor. Knows nothing of zot.
"""

from __future__ import annotations

import os
import re
import select
import sys
import time
from collections.abc import Mapping
from typing import Literal

from prompt_toolkit.input import Input, create_input

from zot_cli.repl.output import HeldOutput

PATIENCE = 0.15
"""Seconds that a terminal has to say its background; a mute one costs so much once."""
_COLOUR = re.compile(rb"\x1b\]11;rgb:([0-9a-fA-F]+)/([0-9a-fA-F]+)/([0-9a-fA-F]+)")


class Terminal:
    """Standard input and output as prompt-toolkit has them."""

    def __init__(self) -> None:
        self.input: Input = create_input(sys.stdin)
        output = HeldOutput.from_pty(sys.stdout, term=os.environ.get("TERM"))
        assert isinstance(output, HeldOutput)
        self.output = output


def background(environ: Mapping[str, str]) -> Literal["dark", "light"]:
    """Whether the terminal's background is dark: COLORFGBG, else the terminal's own answer, else dark."""
    last = environ.get("COLORFGBG", "").rpartition(";")[2]
    if last.isdecimal():
        return "light" if int(last) in (7, 15) else "dark"
    colour = _COLOUR.search(_ask(b"\x1b]11;?\x1b\\"))
    if colour is None:
        return "dark"
    parts = [int(part[:2], 16) for part in colour.groups()]
    return "light" if 0.299 * parts[0] + 0.587 * parts[1] + 0.114 * parts[2] > 140 else "dark"


def _ask(query: bytes) -> bytes:
    """What the terminal answers to `query` and to the question for its kind (DA1), which every terminal answers."""
    try:
        import termios
        import tty
    except ImportError:  # Windows
        return b""
    try:
        fd = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return b""
    try:
        before = termios.tcgetattr(fd)
        try:
            tty.setcbreak(fd, termios.TCSANOW)
            os.write(fd, query + b"\x1b[c")
            return _answer(fd)
        finally:
            termios.tcsetattr(fd, termios.TCSANOW, before)
    except (OSError, termios.error):
        return b""
    finally:
        os.close(fd)


def _answer(fd: int) -> bytes:
    said, end = b"", time.monotonic() + PATIENCE
    while (left := end - time.monotonic()) > 0 and not re.search(rb"\x1b\[\?[0-9;]*c", said):
        if not select.select([fd], [], [], left)[0]:
            break
        said += os.read(fd, 1024)
    return said

"""A pseudo-terminal with a screen: starts a program in it, types, resizes, and waits until the screen says something.

The screen is pyte's, with its scrollback; what pyte does not know (synchronized output, pictures) is taken out before.
"""

from __future__ import annotations

import copy
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyte

_PICTURE = rb"\x1b_G[^\x1b]*\x1b\\|\x1b\]1337;[^\x07]*\x07"
_UNKNOWN = re.compile(rb"\x1b\[\?2026[hl]|\x1b\[[<>=][0-9;]*u|" + _PICTURE)
_BEGUN = re.compile(rb"\x1b(?:_(?:G[^\x1b]*\x1b?)?|\](?:1(?:3(?:3(?:7(?:;[^\x07]*)?)?)?)?)?)?\Z")
"""A picture's sequence that goes on with the next read."""
KEYS = {
    "enter": "\r",
    "esc": "\x1b",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "backspace": "\x7f",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "delete": "\x1b[3~",
    "alt+enter": "\x1b\r",
    "alt+up": "\x1b\x1b[A",
    "shift+enter": "\x1b[13;2u",
    **{f"ctrl+{letter}": chr(ord(letter) - 96) for letter in "abcdefghijklmnopqrstuvwxyz"},
}


class PtyScreen:
    """A program in a terminal of `columns` x `rows`. Use as a context: the program is ended with it."""

    def __init__(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], columns: int = 80, rows: int = 24
    ) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=100_000, ratio=0.5)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self._begun = b""
        self._pid, self._fd = pty.fork()
        if self._pid == 0:  # the child
            os.chdir(cwd)
            os.execvpe(argv[0], list(argv), dict(env))
        self.code: int | None = None
        self._main: tuple[Any, Any, Any] | None = None
        self._size(columns, rows)

    def __enter__(self) -> PtyScreen:
        return self

    def __exit__(self, *_: object) -> None:
        if self.code is None:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        os.close(self._fd)

    @property
    def pid(self) -> int:
        """The program's process."""
        return self._pid

    @property
    def lines(self) -> list[str]:
        """The rows of the screen, without blanks at their ends."""
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        """The screen's text without empty rows at its end."""
        return "\n".join(self.lines).rstrip("\n")

    @property
    def scrollback(self) -> list[str]:
        """What has scrolled out above, then the screen."""
        width = self.screen.columns
        above = ["".join(row[x].data for x in range(width)).rstrip() for row in self.screen.history.top]
        return [*above, *self.lines]

    @property
    def everything(self) -> str:
        """Scrollback and screen as text."""
        return "\n".join(self.scrollback).rstrip("\n")

    def type(self, text: str) -> None:
        """Types text as it is."""
        data = text.encode()
        while data:
            data = data[os.write(self._fd, data) :]

    def press(self, *keys: str) -> None:
        """Presses keys by name, such as `ctrl+c`."""
        for key in keys:
            self.type(KEYS[key])

    def paste(self, text: str) -> None:
        """Pastes as terminals do: carriage returns for line ends, between the marks of a bracketed paste."""
        self.type("\x1b[200~" + text.replace("\n", "\r") + "\x1b[201~")

    def resize(self, columns: int, rows: int) -> None:
        """Gives the terminal another size."""
        self.screen.resize(rows, columns)
        self._size(columns, rows)
        os.kill(self._pid, signal.SIGWINCH)

    def wait(self, condition: Callable[[PtyScreen], bool] | str, timeout: float = 15.0) -> PtyScreen:
        """Reads until the condition holds, or the text is on the screen. Raises AssertionError with the screen.

        Within a frame (mode 2026, synchronized output) nothing counts: a terminal that knows it shows none by halves.
        """
        holds = condition if callable(condition) else lambda screen: condition in screen.text
        end = time.monotonic() + timeout
        while self._within_frame() or not holds(self):
            left = end - time.monotonic()
            if left <= 0 or not self._read(left):
                assert holds(self), f"waited for {condition!r}; the screen says:\n{self.text}"
                break
        return self

    def _within_frame(self) -> bool:
        return self.raw.rfind(b"\x1b[?2026h") > self.raw.rfind(b"\x1b[?2026l")

    def wait_end(self, timeout: float = 15.0) -> int:
        """Reads until the program has ended; its exit code, negative for a signal."""
        end = time.monotonic() + timeout
        while self.code is None:
            self._read(min(0.05, max(end - time.monotonic(), 0.01)))
            done, status = os.waitpid(self._pid, os.WNOHANG)
            if done:
                self.code = os.waitstatus_to_exitcode(status)
                while self._read(0.05):
                    pass
            assert self.code is not None or time.monotonic() < end, f"still running; the screen says:\n{self.text}"
        return self.code

    def _read(self, timeout: float) -> bool:
        """Feeds what has come to the screen; False when nothing came in time or nothing will any more."""
        if not select.select([self._fd], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self._fd, 1 << 16)
        except OSError:  # the program has ended
            return False
        if not data:
            return False
        self.raw += data
        data = _UNKNOWN.sub(b"", self._begun + data)
        begun = _BEGUN.search(data)
        self._begun = begun[0] if begun is not None else b""
        data = data[: len(data) - len(self._begun)]
        for piece in re.split(rb"(\x1b\[\?1049[hl])", data):
            if piece == b"\x1b[?1049h":
                self._enter_alternate()
            elif piece == b"\x1b[?1049l":
                self._leave_alternate()
            else:
                self._stream.feed(piece)
        return True

    def _enter_alternate(self) -> None:
        if self._main is None:  # pyte has no second screen
            screen = self.screen
            self._main = (copy.deepcopy(screen.buffer), copy.copy(screen.cursor), copy.copy(screen.history.top))
            screen.erase_in_display(2)

    def _leave_alternate(self) -> None:
        if self._main is not None:
            buffer, cursor, top = self._main
            self.screen.buffer.clear()
            self.screen.buffer.update(buffer)
            self.screen.cursor = cursor
            self.screen.history.top.clear()
            self.screen.history.top.extend(top)
            self._main = None

    def _size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

"""The process's pipes: what was piped in, and a standard output that only a mode writes to.

Knows file descriptors, no events. A reader that went away is `OutputGone`, never a traceback.
"""

from __future__ import annotations

import errno
import os
import stat
import sys

from zot_cli.plain import clean, one_line, whole

WAIT_NOTICE = 3.0
"""Seconds of silence after which a wait for piped input is said on stderr."""

NARROWEST = 20
"""Columns below which nothing is wrapped."""


class OutputGone(Exception):
    """Nobody reads standard output any more."""


class OutputFailed(Exception):
    """Standard output takes no more: a full disk, a closed descriptor."""


class Output:
    """Standard output for one mode alone. Everything else that the process or a child prints goes to stderr.

    Writes go straight to the descriptor, whole, and block when the reader is slow: that is the back-pressure.
    """

    def __init__(self) -> None:
        try:
            self._fd = os.dup(1)
        except OSError as error:
            raise OutputFailed(f"standard output is closed: {error.strerror}") from None
        try:
            os.dup2(2, 1)
        except OSError:
            # Without a stderr what others print is dropped; the mode's own output is not at stake.
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.close(null)

    def write(self, data: bytes) -> None:
        """All of `data`. Raises OutputGone or OutputFailed."""
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except BlockingIOError:
            os.set_blocking(self._fd, True)  # an inherited O_NONBLOCK, set by whoever shares the pipe
            self.write(bytes(view))
        except OSError as error:
            if error.errno in (errno.EPIPE, errno.ECONNRESET, errno.EIO):
                raise OutputGone from None
            raise OutputFailed(f"cannot write to standard output: {error.strerror}") from None


def utf8() -> None:
    """Makes standard output UTF-8, whatever the locale says, and able to take what is no character (escaped)."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="backslashreplace")


def complain(text: str) -> None:
    """A notice on stderr, if there is one. Never raises: a terminal that is gone cannot be told."""
    try:
        sys.stderr.write(fitted(text, 2) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass  # nowhere is left to say it


def reason(text: str) -> None:
    """The one line `zot: reason` of a failed run."""
    complain(f"zot: {one_line(text, 1000)}")


def wrong_usage(text: str) -> None:
    """What was wrong with the command line; a list of near things may take lines of its own."""
    complain(f"zot: {clean(text)}")


def fitted(text: str, fd: int) -> str:
    """Zot's own words, broken at blanks where a terminal on `fd` would break a word; elsewhere as they are."""
    if len(text) < NARROWEST or not is_terminal(fd):
        return text
    try:
        width = os.get_terminal_size(fd).columns
    except OSError:
        return text
    # Some terminals take the last column of a line for one too many.
    return "\n".join(_broken(line, width - 1) for line in text.split("\n")) if width > NARROWEST else text


def _broken(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    from textwrap import wrap  # only for what is long, on a terminal

    hang = line[: len(line) - len(line.lstrip())] + "  "
    rows = wrap(line, width, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False)
    return "\n".join(rows) or line


def is_terminal(fd: int) -> bool:
    """Whether the descriptor is a terminal; a closed one is none."""
    try:
        return os.isatty(fd)
    except OSError:
        return False


def piped_text() -> str:
    """What was piped or redirected into stdin, read to its end; empty when it is a terminal, a device or closed.

    A pipe that an embedding program left open is waited for, as any filter would; after 3 s of silence stderr says so.
    """
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return ""
    if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)):
        return ""
    _say_if_silent()
    chunks = []
    while chunk := os.read(0, 1 << 16):
        chunks.append(chunk)
    text = b"".join(chunks).decode("utf-8-sig", "replace")
    return text.rstrip("\r\n") if text.strip() else ""


def joined(piped: str, prompt: str) -> str:
    """Piped text comes before the prompt, a blank line between them; empty when there is nothing but blanks.

    Bytes of the command line that are no UTF-8 become replacement marks, as those that are piped in do.
    """
    text = f"{piped}\n\n{prompt}" if piped and prompt else piped or prompt
    return whole(text) if text.strip() else ""


def _say_if_silent() -> None:
    if os.name == "nt":
        return
    import select

    ready, _, _ = select.select([0], [], [], WAIT_NOTICE)
    if not ready:
        complain("zot: waiting for standard input to end; without input to pipe, use: zot ... < /dev/null")

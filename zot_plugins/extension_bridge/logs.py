"""An extension's log: what it writes to stderr and what zot has to say of it, bounded in size.

`$ZOT_HOME/logs/ext-<name>.log`, with one older part beside it. Several zots may write the same one. Never raises: a log
that cannot be written costs the log, and says so once.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from zot_core.config.paths import make_private, reason

MAX_BYTES = 1 << 20
"""Of a log; then it becomes the older part, and the one before that is gone."""
MAX_LINE = 500
"""Characters of one line of zot's own."""
MAX_WORDS = 200
"""Characters of what an extension said last, in a message to a person."""


def log_path(home: str | Path, name: str) -> Path:
    """Where the log of the extension `name` is."""
    return Path(home) / "logs" / f"ext-{name}.log"


class ExtensionLog:
    """One log, open while its extension runs. `problem` says why it is not written, empty while it is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        self._file = -1
        self._at_line_start = True
        self._end = b""

    @property
    def last_words(self) -> str:
        """The last line that the extension itself wrote to standard error; empty when it wrote none."""
        lines = [line.strip() for line in self._end.decode("utf-8", "replace").split("\n") if line.strip()]
        return "".join(char for char in lines[-1] if char.isprintable())[:MAX_WORDS] if lines else ""

    def stderr(self, data: bytes) -> None:
        """Appends what the extension wrote."""
        if data:
            self._append(data)
            self._end = (self._end + data)[-4096:]
            self._at_line_start = data.endswith(b"\n")

    def say(self, text: str) -> None:
        """Appends a line of zot's own, with the time."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
        line = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
        if len(line) > MAX_LINE:
            line = f"{line[:MAX_LINE]}… ({len(line):,} characters)"
        start = "" if self._at_line_start else "\n"
        self._append(f"{start}[{stamp}Z] zot: {line}\n".encode("utf-8", "backslashreplace"))
        self._at_line_start = True

    def close(self) -> None:
        """Closes the file; a later line opens it again."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _append(self, data: bytes) -> None:
        try:
            if self._file < 0:
                self._open()
            if os.fstat(self._file).st_size + len(data) > MAX_BYTES:
                self._rotate()
            written = os.write(self._file, data[-MAX_BYTES:])
            if written < min(len(data), MAX_BYTES):
                raise OSError(0, "the disk is full")
            self.problem = ""
        except OSError as error:
            self.problem = reason(error)
            self.close()

    def _open(self) -> None:
        make_private(self.path.parent.parent)
        make_private(self.path.parent)
        # O_NONBLOCK: a pipe in the log's place that nobody reads must not hold up zot
        flags = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | flags, 0o600)

    def _rotate(self) -> None:
        """Begins a new part, unless another zot just has."""
        try:
            mine = os.path.samestat(os.fstat(self._file), os.stat(self.path))  # noqa: PTH116
        except FileNotFoundError:
            mine = False
        if mine and os.fstat(self._file).st_size:
            os.replace(self.path, f"{self.path}.1")  # noqa: PTH105
        self.close()
        self._open()

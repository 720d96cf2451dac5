"""A command's output in bounded memory: counted, its end kept, and the whole in a file once it is too much to show.

The file holds what a terminal would show, so that it can be read like any text. Files go when zot ends.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from io import BufferedWriter
from pathlib import Path

from zot_core.toolkit.errors import in_words
from zot_core.toolkit.text import SeenStream, as_seen
from zot_core.toolkit.truncation import MAX_BYTES, MAX_LINES, Cut, format_size, tail

KEPT_BYTES = 512 * 1024
"""How much of the raw output's end stays in memory."""
FILE_BYTES = 64 * 1024 * 1024
"""How much of the output the file holds at most."""

_folder: list[Path] = []


def scratch_folder() -> Path:
    """A private folder for temporary files of this process, made when first asked for and removed at its end."""
    if not _folder or not _folder[0].is_dir():
        _folder[:] = [Path(tempfile.mkdtemp(prefix="zot-"))]
        atexit.register(shutil.rmtree, _folder[0], ignore_errors=True)
    return _folder[0]


class Spool:
    """Takes raw output with `feed`; `finish` gives what to show and says where the rest is."""

    def __init__(self, name: str, *, folder: Path | None = None, file_bytes: int = FILE_BYTES) -> None:
        self.bytes = 0
        self.lines = 0
        self._name = name
        self._folder = folder
        self._file_bytes = file_bytes
        self._end = bytearray()
        self._file: BufferedWriter | None = None
        self._stream = SeenStream()
        self._written = 0
        self._capped = False
        self._failure = ""

    @property
    def path(self) -> Path | None:
        """The file with the whole output, once there is one; none where it could not be saved."""
        return Path(self._file.name) if self._file is not None and not self._failure else None

    def feed(self, data: bytes) -> None:
        """Takes the next bytes. Fast where the output is past everything that is kept."""
        self.bytes += len(data)
        self.lines += data.count(b"\n")
        self._end += data
        if self._file is not None:
            if not self._capped:
                self._write(self._stream.feed(data))
        elif not self._failure and (self.bytes > MAX_BYTES or self.lines > MAX_LINES):
            self._open()
        if len(self._end) > 2 * KEPT_BYTES:
            del self._end[:-KEPT_BYTES]

    def _open(self) -> None:
        safe = "".join(char if char.isalnum() or char in "-_" else "-" for char in self._name)[:60]
        try:
            descriptor, path = tempfile.mkstemp(prefix=f"{safe}-", suffix=".log", dir=self._folder or scratch_folder())
            os.close(descriptor)
            self._file = Path(path).open("wb")  # noqa: SIM115 - open until the command has ended
        except OSError as error:
            self._failure = in_words(error)
            return
        self._write(self._stream.feed(bytes(self._end)))

    def _write(self, text: str) -> None:
        if self._file is None or self._capped or self._failure:
            return
        data = text.encode()
        if self._written + len(data) > self._file_bytes:
            self._capped = True
            data = data[: data.rfind(b"\n", 0, self._file_bytes - self._written) + 1]
        try:
            self._file.write(data)
        except OSError as error:
            self._failure = in_words(error)
        self._written += len(data)

    def shown(self, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Cut:
        """The end of the output so far, as a terminal would show it."""
        raw = bytes(self._end[-max(4 * max_bytes, 4096) :] if max_bytes < MAX_BYTES else self._end)
        if len(raw) < self.bytes:
            start = raw.find(b"\n") + 1
            raw = raw[start:] if 0 < start < len(raw) else raw.lstrip(bytes(range(0x80, 0xC0)))
        return tail(as_seen(raw.decode("utf-8", "replace")), max_lines=max_lines, max_bytes=max_bytes)

    def finish(self) -> tuple[str, str]:
        """The text to show and, where it is not everything, a notice with the sizes and the file. Closes the file."""
        cut = self.shown()
        whole = len(self._end) == self.bytes and not cut.truncated
        self._close(keep=not whole)
        ends = self._end.endswith(b"\n")
        self._end = bytearray()
        if whole:
            return cut.text, ""
        total = max(self.lines + (0 if ends else 1), cut.total_lines)
        what = (
            f"a part of the last line ({format_size(cut.bytes)})"
            if cut.partial
            else f"the last {cut.lines} of {total} lines"
        )
        return cut.text, f"[Shown: {what}; the output was {format_size(self.bytes)}. {self._whereabouts()}]"

    def _whereabouts(self) -> str:
        if self._failure:
            return f"The whole could not be saved: {self._failure}"
        part = f"The first {format_size(self._written)} of it" if self._capped else "All of it"
        return f"{part}: {self.path}"

    def flush(self) -> None:
        """Makes the file, if there is one, hold all whole lines so far."""
        if self._file is not None and not self._file.closed:
            try:
                self._file.flush()
            except OSError as error:
                self._failure = in_words(error)

    def _close(self, *, keep: bool) -> None:
        if self._file is None:
            return
        path = Path(self._file.name)
        self._write(self._stream.finish())
        try:
            self._file.close()
        except OSError as error:
            self._failure = in_words(error)
        if not keep or self._failure:
            path.unlink(missing_ok=True)
            self._file = None

    def discard(self) -> None:
        """Closes and removes the file: for a command that was cancelled and has no result."""
        self._close(keep=False)
        self._end = bytearray()

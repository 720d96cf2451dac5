"""What was typed before, in all sessions: a file that several zots share, bounded, private, read without trust.

In this process an entry keeps its chips; in the file pastes are whole and pictures are words. Knows no editor.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import time
from collections.abc import AsyncGenerator, Iterable, Iterator
from pathlib import Path

from prompt_toolkit.history import History

from zot_cli.plain import clean, whole
from zot_cli.repl.chips import Chips

MOST = 2 << 20
"""Bytes of the file that are read, the last ones; one that has grown larger is cut to half of that."""
LONGEST = 200_000
"""Characters of an entry that is written to the file; a longer one is kept while zot runs."""
ENTRIES = 2000
"""Entries that are looked back at, the latest."""


class TypedBefore(History):
    """The history of the editor. Without a `path` it is kept in memory."""

    def __init__(self, path: Path | None, chips: Chips) -> None:
        super().__init__()
        self._path, self._chips = path, chips
        self._own: list[str] = []
        self.failed = ""
        """Why the file could not be written the last time, empty while it can."""

    @property
    def latest(self) -> list[str]:
        """The entries that are loaded by now, the latest first."""
        return self._loaded_strings

    async def load(self) -> AsyncGenerator[str, None]:
        """The latest entry first; the file is read once, beside the loop, so that it does not delay the first frame."""
        if not self._loaded:
            found = await asyncio.to_thread(lambda: list(self.load_history_strings()))
            if not self._loaded:
                self._loaded_strings = [*self._loaded_strings, *found]
                self._loaded = True
        for entry in list(self._loaded_strings):
            yield entry

    def load_history_strings(self) -> Iterable[str]:
        """The entries of the file, the latest first."""
        return self._read()

    def append_string(self, string: str) -> None:
        """One more entry. One that begins with a blank is not written to the file, as shells have it."""
        if string.strip() and string != next(iter(self._own), None):
            self._own.insert(0, string)
            self._loaded_strings.insert(0, string)
            if not string[0].isspace():
                self.store_string(self._chips.plain(string))

    def remember(self, string: str) -> None:
        """One more entry for this process alone: what was cleared and cannot be looked back at yet."""
        if string.strip() and string not in self._loaded_strings:
            self._own.insert(0, string)
            self._loaded_strings.insert(0, string)

    def entries(self) -> list[str]:
        """What can be searched, the latest first, with what other zots wrote meanwhile."""
        own: dict[str, str] = {}
        for entry in self._own:
            own.setdefault(self._chips.plain(entry), entry)
        newer = list(own)
        stored = self._read()
        if not any(entry in own for entry in stored):
            return [*own.values(), *stored][:ENTRIES]
        found: list[str] = []
        for entry in stored:
            if entry in newer:  # what was typed here since, and is not in the file, stands before it
                place = newer.index(entry) + 1
                found += (own[one] for one in newer[:place])
                del newer[:place]
            else:
                found.append(own.get(entry, entry))
        return list(dict.fromkeys([*found, *(own[one] for one in newer)]))[:ENTRIES]

    def store_string(self, string: str) -> None:
        """Writes an entry to the file, in one piece; `failed` says why it cannot be written."""
        if self._path is None or len(string) > LONGEST:
            return
        lines = "".join(f"+{line}\n" for line in whole(string).split("\n"))
        data = f"\n# {time.strftime('%Y-%m-%d %H:%M:%S')}\n{lines}".encode()
        try:
            with _alone(self._path) as alone:
                if _append(self._path, data) > MOST and alone:
                    _cut(self._path)
            self.failed = ""
        except OSError as error:
            self.failed = f"what is typed is not kept for other sessions: {error}"

    def _read(self) -> list[str]:
        if self._path is None:
            return []
        try:
            data = _tail(self._path)
        except OSError:
            return []
        entries: list[str] = []
        lines: list[str] = []
        for line in [*data.decode("utf-8", "replace").split("\n"), ""]:
            if line.startswith("+"):
                lines.append(line[1:])
            elif lines:
                entry = clean("\n".join(lines)).strip("\n")
                lines.clear()
                if entry.strip() and len(entry) <= LONGEST and (not entries or entries[-1] != entry):
                    entries.append(entry)
        return entries[: -ENTRIES - 1 : -1]


def _tail(path: Path) -> bytes:
    """The end of the file. Raises OSError for what is no file."""
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(fd, "rb") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path} is no file")
        file.seek(max(found.st_size - MOST, 0))
        return file.read(MOST)


def _append(path: Path, data: bytes) -> int:
    """The size of the file, with `data` at its end. Others may not read it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    fd = os.open(path, flags, 0o600)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path} is no file")
        if os.name == "posix" and found.st_mode & 0o077:
            os.fchmod(fd, 0o600)
        return found.st_size + os.write(fd, data)
    finally:
        os.close(fd)


def _cut(path: Path) -> None:
    """Only the last entries are left."""
    from zot_core.config.files import write_whole

    kept = _tail(path)[-MOST // 2 :]
    start = kept.find(b"\n# ")
    write_whole(path, kept[max(start, 0) :].decode("utf-8", "replace"), 0o600)


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[bool]:
    """Whether this is the only writer: an entry must not fall between the reading and the writing of a cut. A holder
    that does not let go is not waited for."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield False
        return
    fd = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        for _ in range(20):
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                time.sleep(0.005)
            else:
                yield True
                break
        else:
            yield False
    finally:
        os.close(fd)

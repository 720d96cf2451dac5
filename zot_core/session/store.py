"""A session's file as bytes: lines appended whole, read again by place, cut back when a write broke off.

Knows nothing of what the lines say. Not for several threads, except that `sync` may run in another one.
"""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock
from typing import Any

from zot_core.session.errors import SessionError, shown

_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class SessionFile:
    """An open session file. `size` is where the next line begins."""

    def __init__(self, path: Path, fd: int, size: int, *, readonly: bool = False) -> None:
        self.path = path
        self.size = size
        self.readonly = readonly
        self._fd: int | None = fd
        self._broken = False
        """A write broke off and could not be cut back: something torn may stand after `size`."""
        self.changed_by_others = False
        self._syncing = Lock()

    @classmethod
    def create(cls, path: Path) -> SessionFile:
        """A new, private file; one that exists already must be empty. Missing folders are made, private too."""
        try:
            make_private_folders(path.parent)
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _FLAGS, 0o600)
        except OSError as error:
            raise SessionError.of("create the session", path, error) from error
        if os.fstat(fd).st_size:
            os.close(fd)
            raise SessionError(f"cannot create the session {shown(path)}: there is a file already", path)
        return cls(path, fd, 0)

    @classmethod
    def open(cls, path: Path, size: int, *, readonly: bool = False) -> SessionFile:
        """An existing file whose good lines end at `size`."""
        try:
            fd = os.open(path, (os.O_RDONLY if readonly else os.O_RDWR | os.O_APPEND) | _FLAGS)
        except OSError as error:
            raise SessionError.of("open the session", path, error) from error
        return cls(path, fd, size, readonly=readonly)

    def append(self, line: bytes) -> int:
        """Writes whole lines at the end and returns where they begin. Raises SessionError; then none of them stays."""
        fd = self._writable()
        try:
            before = self._settle(fd)
        except OSError as error:
            raise SessionError.of("write the session", self.path, error) from error
        rest = memoryview(before + line)
        try:
            while rest:
                rest = rest[os.write(fd, rest) :]
        except OSError as error:
            self._cut_back(fd)
            raise SessionError.of("write the session", self.path, error) from error
        start = self.size + len(before)
        self.size = start + len(line)
        return start

    def _writable(self) -> int:
        if self._fd is None:
            raise SessionError(f"cannot write the session {shown(self.path)}: it was closed", self.path)
        if self.readonly:
            raise SessionError(f"cannot write the session {shown(self.path)}: it is open for reading only", self.path)
        return self._fd

    def _settle(self, fd: int) -> bytes:
        """Makes the file end at `size`, or `size` where the file ends; what must be written before the next line."""
        state = os.fstat(fd)
        if state.st_nlink == 0:
            raise SessionError(
                f"cannot write the session {shown(self.path)}: its file was deleted meanwhile", self.path
            )
        if self._broken:
            self._cut_back(fd)
            state = os.fstat(fd)
        if state.st_size == self.size:
            return b""
        self.changed_by_others = self.changed_by_others or not self._broken
        self.size = state.st_size
        self._broken = False
        # Whatever stands there now without its newline must not swallow the next line.
        return b"" if not self.size or _pread(fd, 1, self.size - 1) == b"\n" else b"\n"

    def _cut_back(self, fd: int) -> None:
        try:
            os.ftruncate(fd, self.size)
            self._broken = False
        except OSError:
            self._broken = True

    def truncate(self, size: int) -> None:
        """Cuts off what stands after `size`; a file that ends there is not touched."""
        fd = self._writable()
        try:
            if os.fstat(fd).st_size != size:
                os.ftruncate(fd, size)
        except OSError as error:
            raise SessionError.of("repair the session", self.path, error) from error
        self.size = size

    def read(self, at: tuple[int, int]) -> bytes:
        """The bytes at (offset, length)."""
        if self._fd is None:
            raise SessionError(f"cannot read the session {shown(self.path)}: it was closed", self.path)
        try:
            return _pread(self._fd, at[1], at[0])
        except OSError as error:
            raise SessionError.of("read the session", self.path, error) from error

    def sync(self) -> None:
        """Returns when everything appended so far would survive a power cut."""
        try:
            with self._syncing:
                if self._fd is not None and not self.readonly:
                    os.fsync(self._fd)
        except OSError as error:
            raise SessionError.of("write the session", self.path, error) from error

    def close(self) -> None:
        """Closes the file, once a `sync` that another thread is in has ended; a second time does nothing."""
        with self._syncing:
            fd, self._fd = self._fd, None
            if fd is not None:
                os.close(fd)


def _pread(fd: int, length: int, offset: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(fd, length, offset)
    os.lseek(fd, offset, os.SEEK_SET)  # Windows; appending goes to the end wherever this points
    return os.read(fd, length)


def make_private_folders(folder: Path) -> None:
    """Makes `folder` and what is missing above it, each for its owner only."""
    if folder.is_dir():
        return
    for path in reversed([folder, *folder.parents]):
        if not path.is_dir():
            path.mkdir(0o700, exist_ok=True)


def remove_quietly(path: Path) -> None:
    """Removes a file of ours if it is there; what cannot be removed stays."""
    try:
        path.unlink()
    except OSError:
        pass


def torn_file(path: Path) -> Path:
    """Where the torn ends of a session are kept."""
    return path.with_name(path.name + ".torn")


def keep_aside(path: Path, what: bytes) -> str:
    """Adds damaged bytes to the file beside the session that keeps such things, and returns its name."""
    aside = torn_file(path)
    try:
        fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _FLAGS, 0o600)
        try:
            rest: Any = memoryview(what + b"\n")
            while rest:
                rest = rest[os.write(fd, rest) :]
            os.fsync(fd)
        finally:
            os.close(fd)
    except OSError as error:
        raise SessionError.of("repair the session", path, error) from error
    return aside.name

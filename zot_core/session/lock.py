"""One writer a session: a lock beside its file that names its holder and ends with the process that holds it.

The system's own lock where there is one (what filelock does there too, without its import on the way to the first
request), filelock elsewhere. Knows only paths.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import time
from pathlib import Path
from typing import Any

from zot_core.session.errors import Holder, SessionError, SessionLocked
from zot_core.session.store import remove_quietly

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_BUSY = frozenset({errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK})
_NO_LOCKS = frozenset({errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK})


class SessionLock:
    """The lock of the session file `path`; its own file has `.lock` after the name and goes away with its release."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = _lock_file(path)
        self._fd: int | None = None
        self._soft: Any = None

    def acquire(self) -> None:
        """Takes the lock or raises SessionLocked at once; SessionError if there can be none."""
        try:
            if fcntl is None or not self._acquire_native():
                self._acquire_soft()
        except OSError as error:
            raise SessionError.of("lock", self.path, error) from error

    def release(self) -> None:
        """Gives the lock back; does nothing when it is not held."""
        if self._fd is not None:
            fd, self._fd = self._fd, None
            # While the lock is still held: whoever has this file open sees that its name is gone, and opens anew. One
            # that cannot be removed is taken over by the next holder.
            remove_quietly(self._file)
            os.close(fd)
        if self._soft is not None:
            remove_quietly(self._file)
            self._soft.release()
            self._soft = None

    def _acquire_native(self) -> bool:
        """True when taken, False where the file system has no locks."""
        while True:
            fd = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(fd).st_ino == self._file.stat().st_ino:
                    self._fd = fd
                    self._sign(fd)
                    return True
            except FileNotFoundError:
                pass  # released and removed between our open and our lock: that file is nobody's now
            except OSError as error:
                if error.errno in _BUSY:
                    raise SessionLocked(self.path, _read_holder(fd)) from None
                if error.errno in _NO_LOCKS:
                    return False
                raise
            finally:
                if self._fd != fd:
                    os.close(fd)

    def _acquire_soft(self) -> None:
        import filelock

        kind = filelock.FileLock if fcntl is None else filelock.SoftFileLock
        soft = kind(f"{self._file}.soft", timeout=0)
        try:
            soft.acquire()
        except filelock.Timeout:
            raise SessionLocked(self.path, holder_of(self.path) or Holder()) from None
        self._soft = soft
        fd = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._sign(fd)
        finally:
            os.close(fd)

    @staticmethod
    def _sign(fd: int) -> None:
        note = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.time()}
        try:
            os.ftruncate(fd, 0)
            os.write(fd, json.dumps(note).encode())
        except OSError:
            pass  # on a full disk the lock holds all the same; only its holder's name is missing


def holder_of(path: Path) -> Holder | None:
    """Who has the session `path` open for writing, or None if nobody does. It only reads and is in nobody's way."""
    try:
        fd = os.open(_lock_file(path), os.O_RDONLY)
    except OSError:
        return None
    try:
        holder = _read_holder(fd)
    finally:
        os.close(fd)
    if holder.pid and holder.host == socket.gethostname() and not is_alive(holder.pid):
        return None
    return holder


def _lock_file(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def is_alive(pid: int) -> bool:
    """Whether a process of this machine is there; where it cannot be asked without harm, always."""
    if os.name == "nt":
        return True  # signal 0 would end the process there
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # somebody else's process
    return True


def _read_holder(fd: int) -> Holder:
    try:
        note = json.loads(os.read(fd, 1000) or b"{}")
        return Holder(int(note["pid"]), str(note["host"]), float(note["since"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Holder()  # taken this very moment, or signed on a full disk

"""What can go wrong with a session, said with its path and in words. Knows no session."""

from __future__ import annotations

import os
from pathlib import Path

from zot_core.types.failure import Failure, RunFailed, UsageError
from zot_core.types.record import record


def shown(path: Path) -> str:
    """A path for a message: quoted, and printable whatever bytes it is made of."""
    return ascii(str(path)) if not str(path).isprintable() else f"'{path}'"


class SessionError(RunFailed):
    """A session that cannot be read or written; `failure.kind` is `session`, `path` is its file."""

    def __init__(self, message: str, path: Path | None = None) -> None:
        super().__init__(Failure(kind="session", message=message))
        self.path = path

    @classmethod
    def of(cls, doing: str, path: Path, error: OSError) -> SessionError:
        """From an error of the system: what was being done, the file, and the system's own words."""
        words = os.strerror(error.errno) if error.errno else str(error)
        return cls(f"cannot {doing} {shown(path)}: {words}", path)


@record
class Holder:
    """Who has a session open: process id, host, and since when (seconds since the epoch); 0 and "" where unknown."""

    pid: int = 0
    host: str = ""
    since: float = 0.0

    def __str__(self) -> str:
        if not self.pid:
            return "another process"
        if self.pid == os.getpid():
            return f"this process ({self.pid})"
        return f"process {self.pid} on {self.host}" if self.host else f"process {self.pid}"


class SessionLocked(SessionError):
    """The session is open elsewhere for writing; `holder` says by whom."""

    def __init__(self, path: Path, holder: Holder) -> None:
        super().__init__(
            f"session {shown(path)} is open in {holder}; close it there, or continue on a copy with --fork", path
        )
        self.holder = holder


class SessionTooNew(SessionError):
    """The session holds records of a later zot, which this one would misread."""

    def __init__(self, path: Path, what: str, found: object, known: int) -> None:
        super().__init__(
            f"session {shown(path)} was written by a newer zot ({what} version {found}; this one reads up to {known}): "
            "update zot to open it; the file was left as it is",
            path,
        )


class SessionNotFound(UsageError):
    """No session, or more than one, goes by the name that was given; the message lists near ones."""

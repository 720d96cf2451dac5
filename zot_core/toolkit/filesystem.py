"""Files of this machine as tools touch them: policy first, real path, no devices, whole writes.

The only place where built-in tools open files. Functions are sync and run in a worker thread; the policy is asked
there, on the resolved path, right before the I/O.
"""

# File descriptors and flags are the matter here, which pathlib does not have.
# ruff: noqa: PTH103, PTH106, PTH110, PTH115, PTH116, PTH118, PTH120

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal

from zot_core.toolkit.errors import ToolError, shown
from zot_core.toolkit.paths import real_path
from zot_core.toolkit.replacing import replace_whole
from zot_core.types.specs import FilesystemPolicy, FilesystemRequest

Kind = Literal["file", "folder", "fifo", "socket", "device", "missing"]
Operation = Literal["read", "enumerate", "write"]

_PIECE = 1 << 20
"""No more at once: some files of /proc refuse to be read into a larger buffer."""
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_BY_DESCRIPTOR = os.scandir in os.supports_fd and {os.open, os.mkdir} <= os.supports_dir_fd


@dataclass(frozen=True, slots=True)
class FileInfo:
    """What a path leads to. `version` changes when the file does; compare it for equality only."""

    kind: Kind
    size: int = 0
    version: tuple[int, ...] = ()


class PolicyDenied(ToolError):
    """A filesystem policy does not allow the operation."""


def check(policies: Iterable[FilesystemPolicy], request: FilesystemRequest) -> None:
    """Asks every policy in order; the first denial ends it. Raises PolicyDenied; a policy that raises denies."""
    for policy in policies:
        try:
            reason = policy.check(request)
        except Exception as error:  # a policy is a plugin's: broken means closed
            reason = f"the policy failed: {type(error).__name__}: {error}"
        if reason is not None:
            raise PolicyDenied(
                f"Not allowed to {request.operation} {shown(request.path)}: {reason} (policy {policy.name})"
            )


def allows(policies: Iterable[FilesystemPolicy], request: FilesystemRequest) -> bool:
    """Whether `check` would let the request pass."""
    try:
        check(policies, request)
    except PolicyDenied:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Guard:
    """The policies that hold for one tool."""

    policies: tuple[FilesystemPolicy, ...] = ()
    tool_name: str = ""

    def check(self, operation: Operation, path: str) -> None:
        """Raises PolicyDenied unless all policies allow the operation on the real path."""
        if self.policies:
            check(self.policies, FilesystemRequest(operation=operation, path=path, tool_name=self.tool_name))

    def check_unmoved(self, real: str, descriptor: int | None = None) -> None:
        """Raises PolicyDenied if the real path that was judged leads elsewhere by now, or the opened file is another.

        For what happens between a check and the I/O: a folder on the way that became a link.
        """
        if not self.policies:
            return
        there = real_path(real)
        if descriptor is not None and os.path.exists("/proc/self/fd"):
            there = os.readlink(f"/proc/self/fd/{descriptor}").removesuffix(" (deleted)")
        if there != real:
            raise PolicyDenied(f"{shown(real)} changed its place while it was checked; nothing was done")

    def may_list(self, folder: str) -> bool:
        """Whether the folder's names may be seen."""
        return allows(self.policies, FilesystemRequest(operation="enumerate", path=folder, tool_name=self.tool_name))


def kind_of(mode: int) -> Kind:
    """What kind of thing a stat mode says."""
    tests: tuple[tuple[Callable[[int], bool], Kind], ...] = (
        (stat.S_ISREG, "file"),
        (stat.S_ISDIR, "folder"),
        (stat.S_ISFIFO, "fifo"),
        (stat.S_ISSOCK, "socket"),
    )
    return next((kind for test, kind in tests if test(mode)), "device")


def info(path: str, guard: Guard, operation: Operation) -> FileInfo:
    """What `path` leads to, links followed; `missing` if nothing is there. Raises OSError and PolicyDenied."""
    real = real_path(path)
    guard.check(operation, real)
    try:
        found = os.stat(real)
    except FileNotFoundError:
        return FileInfo("missing")
    return FileInfo(
        kind_of(found.st_mode), found.st_size, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    )


def read(path: str, offset: int, length: int | None, guard: Guard, operation: Operation) -> bytes:
    """`length` bytes from `offset`, fewer only at the end; None reads all the rest. Raises OSError and PolicyDenied."""
    real = real_path(path)
    guard.check(operation, real)
    # O_NONBLOCK: a FIFO that took the file's place must not hang the thread; O_NOFOLLOW: nor may a link redirect.
    descriptor = os.open(real, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        guard.check_unmoved(real, file.fileno())
        refuse_special(kind_of(os.fstat(file.fileno()).st_mode), path)
        if offset:
            file.seek(offset)
        pieces: list[bytes] = []
        left = length
        while left is None or left > 0:
            piece = file.read(_PIECE if left is None else min(left, _PIECE))
            if not piece:
                break
            pieces.append(piece)
            left = None if left is None else left - len(piece)
        return b"".join(pieces)


def refuse_special(kind: Kind, path: str) -> None:
    """Raises ToolError unless `kind` is a plain file (or missing), with a word on what to do instead."""
    if kind == "folder":
        raise ToolError(f"{shown(path)} is a folder, not a file; list it to see what is in it")
    if kind in ("fifo", "socket", "device"):
        raise ToolError(f"{shown(path)} is a {kind}, not a file; use a shell command with a time-out for it")


def write(path: str, data: bytes, guard: Guard) -> None:
    """Makes `data` the whole content of the file, or leaves it as it was.

    See `replace_whole`; missing folders are made. A link stays a link and its target is replaced; mode, owner and
    extended attributes are kept; hard links to the old content are parted from it.
    Raises OSError and PolicyDenied.
    """
    real = real_path(path)
    guard.check("write", real)
    try:
        old: os.stat_result | None = os.stat(real)
    except FileNotFoundError:
        old = None
    if old is not None:
        refuse_special(kind_of(old.st_mode), path)
        if not os.access(real, os.W_OK):
            raise ToolError(f"{shown(path)} is read-only; it was left as it is")
    folder = os.path.dirname(real)
    made = make_folders(folder, guard)
    try:
        replace_whole(real, data, old, lambda opened: guard.check_unmoved(folder, opened if opened >= 0 else None))
    except BaseException:
        for name in reversed(made):
            with suppress(OSError):  # somebody else uses it by now
                os.rmdir(name)
        raise


def make_folders(folder: str, guard: Guard) -> list[str]:
    """Makes what is missing of `folder`, a real path; what it made. Raises OSError and PolicyDenied.

    Step by step from a folder that is held open, so that none is made elsewhere if a name on the way becomes a link.
    """
    there, missing = folder, list[str]()
    while not os.path.lexists(there):
        there, name = os.path.split(there)
        missing.append(name)
    if not missing:
        return []
    if not _BY_DESCRIPTOR:
        os.makedirs(folder, exist_ok=True)
        return []
    made: list[str] = []
    opened = os.open(there, _FOLDER)
    try:
        guard.check_unmoved(there, opened)
        for name in reversed(missing):
            there = os.path.join(there, name)
            try:
                os.mkdir(name, dir_fd=opened)
                made.append(there)
            except FileExistsError:
                pass  # another writer needs it too
            below = os.open(name, _FOLDER, dir_fd=opened)
            os.close(opened)
            opened = below
    finally:
        os.close(opened)
    return made


@contextmanager
def scanned(folder: str, guard: Guard) -> Iterator[Iterable[os.DirEntry[str]]]:
    """The entries of `folder`, a real path that was judged. Raises PolicyDenied if that leads elsewhere by now.

    The entries know their names; their `path` need not be one.
    """
    if not guard.policies or not _BY_DESCRIPTOR:
        with os.scandir(folder) as found:
            yield found
        return
    opened = os.open(folder, _FOLDER)
    try:
        guard.check_unmoved(folder, opened)
        with os.scandir(opened) as names:
            yield names  # of a descriptor it gives text too
    finally:
        os.close(opened)

"""Where tools act: protocols for files and shells that a plugin may supply (SSH, a container), and the local ones.

A plugin gives an object with these methods through the contribution `tool_operations`; the tool stays the same. Paths
are absolute. File methods raise OSError as the local system would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from zot_core.toolkit import filesystem, listing
from zot_core.toolkit.filesystem import FileInfo, Guard, Operation
from zot_core.toolkit.listing import Entry
from zot_core.toolkit.threads import run_to_end


class ReadOps(Protocol):
    """What `read` needs."""

    async def info(self, path: str) -> FileInfo:
        """What the path leads to, links followed; kind `missing` if nothing is there."""

    async def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        """Bytes from `offset`; fewer than `length` only at the end of the file."""


class WriteOps(ReadOps, Protocol):
    """What `write` needs."""

    async def write(self, path: str, data: bytes) -> None:
        """Makes `data` the whole content, or changes nothing; makes missing folders."""


class EditOps(WriteOps, Protocol):
    """What `edit` needs: the same as `write`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellExit:
    """How a command ended. `code` is negative for a signal, None if it never ended by itself.

    `lingering` says that processes which it left in the background still run; `group` is their process group, if known.
    """

    code: int | None
    ended_by: Literal["exit", "timeout", "abort"] = "exit"
    lingering: bool = False
    group: int | None = None


class Abortable(Protocol):
    """The part of a run's signal that a command needs."""

    @property
    def aborted(self) -> bool: ...
    async def wait(self) -> Any: ...


class ShellOps(Protocol):
    """What `bash` needs. `ToolError` and `OSError` are told to the model."""

    async def run(
        self,
        command: str,
        *,
        cwd: str,
        env: Mapping[str, str],
        on_data: Callable[[bytes], None],
        signal: Abortable | None = None,
        timeout: float | None = None,
    ) -> ShellExit:
        """Runs the command to its end, its time-out (seconds) or the abort; output goes to `on_data` as it comes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A folder's entries in no order. `left_out` counts those that a policy does not let be seen."""

    entries: Sequence[Entry] = ()
    left_out: int = 0


class LsOps(Protocol):
    """What `ls` needs."""

    async def info(self, path: str) -> FileInfo:
        """What the path leads to, links followed; kind `missing` if nothing is there."""

    async def list(self, path: str) -> Listing:
        """The folder's entries, hidden ones too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPaths:
    """The first paths in order, relative to the searched folder, folders with a slash at the end.

    `total` counts all that fit. `left_out` counts what policies denied, `unreadable` says what could not be looked
    into, `ended_by` why the search ended before its end.
    """

    paths: Sequence[str] = ()
    total: int = 0
    left_out: int = 0
    unreadable: Sequence[str] = ()
    ended_by: Literal["", "timeout", "abort"] = ""


class FindOps(Protocol):
    """What `find` needs."""

    async def info(self, path: str) -> FileInfo:
        """What the path leads to, links followed; kind `missing` if nothing is there."""

    async def find(
        self, folder: str, pattern: str, *, hidden: bool, limit: int, signal: Abortable | None = None
    ) -> FoundPaths:
        """Files and folders below `folder` whose name or path fits the glob, without what .gitignore names."""


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """The files of this machine, behind the guard's policies; reading counts as `operation`."""

    guard: Guard = field(default_factory=Guard)
    operation: Operation = "read"

    async def info(self, path: str) -> FileInfo:
        """See ReadOps."""
        return await run_to_end(filesystem.info, path, self.guard, self.operation)

    async def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        """See ReadOps."""
        return await run_to_end(filesystem.read, path, offset, length, self.guard, self.operation)

    async def list(self, path: str) -> Listing:
        """See LsOps."""
        entries, left_out = await run_to_end(listing.entries, path, self.guard)
        return Listing(entries=entries, left_out=left_out)

    async def write(self, path: str, data: bytes) -> None:
        """See WriteOps; a cancellation waits until the file is whole."""
        await run_to_end(filesystem.write, path, data, self.guard)


def supplied(ctx: Any, tool_name: str) -> Any:
    """The operations that a plugin supplies for the tool in this context, or None for the local ones."""
    ask = getattr(ctx, "operations", None)
    return ask(tool_name) if ask is not None else None


def guard_of(ctx: Any, tool_name: str) -> Guard:
    """The policies of a tool's context as a guard."""
    return Guard(tuple(getattr(ctx, "policies", ())), tool_name)


def files_for(ctx: Any, tool_name: str, operation: Operation) -> EditOps:
    """The files on which a tool acts: a plugin's, else this machine's behind the context's policies."""
    given: EditOps | None = supplied(ctx, tool_name)
    return given if given is not None else LocalFiles(guard_of(ctx, tool_name), operation)

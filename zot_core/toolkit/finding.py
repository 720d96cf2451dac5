"""Finds files and folders of this machine by glob: names from `rg --files`, or from a walk of our own.

The walk is used where policies hold, because `rg` would enter what they deny, and where no `rg` can run.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from zot_core.toolkit import filesystem, globs
from zot_core.toolkit.filesystem import FileInfo, Guard
from zot_core.toolkit.operations import Abortable, FoundPaths
from zot_core.toolkit.paths import real_path
from zot_core.toolkit.ripgrep import CannotRun, Runner, failures
from zot_core.toolkit.spelling import path_order
from zot_core.toolkit.threads import run_to_end
from zot_core.toolkit.walk import Walk

Early = Literal["", "timeout", "abort"]


class Collected:
    """Takes files one by one; keeps those that fit, and the folders on their way that do."""

    def __init__(self, pattern: str) -> None:
        self._fits = globs.compiled(pattern)
        self._folders: set[str] = set()
        self._kept: list[str] = []
        self._rest = b""

    def feed(self, data: bytes) -> bool:
        """Takes NUL-separated paths from a pipe, as `Runner` hands them over."""
        *whole, self._rest = (self._rest + data).split(b"\0")
        for path in whole:
            self.add(path.removeprefix(b"./").decode("utf-8", "surrogateescape"))
        return True

    def add(self, path: str) -> None:
        """Takes a file's path, relative to the searched folder."""
        if self._fits(path, False):
            self._kept.append(path)
        folder = path
        while (cut := folder.rfind("/")) > 0:
            folder = folder[:cut]
            if folder in self._folders:
                break
            self._folders.add(folder)
            if self._fits(folder, True):
                self._kept.append(folder + "/")

    def result(self, limit: int) -> tuple[list[str], int]:
        """The first paths in order, and how many there are."""
        return sorted(self._kept, key=path_order)[:limit], len(self._kept)


@dataclass(frozen=True, slots=True)
class LocalFind:
    """The find operations of this machine, behind the guard's policies."""

    runner: Runner
    guard: Guard = field(default_factory=Guard)

    async def info(self, path: str) -> FileInfo:
        """See FindOps."""
        return await run_to_end(filesystem.info, path, self.guard, "enumerate")

    async def find(
        self, folder: str, pattern: str, *, hidden: bool, limit: int, signal: Abortable | None = None
    ) -> FoundPaths:
        """See FindOps. Raises BadGlob, PolicyDenied and OSError."""
        found = Collected(pattern)
        root = await run_to_end(real_path, folder)
        if not self.guard.policies:
            try:
                return await self._with_rg(root, found, hidden=hidden, limit=limit)
            except CannotRun:
                found = Collected(pattern)
        walk, ended_by = await walked(root, self.guard, found.add, hidden=hidden, runner=self.runner, signal=signal)
        paths, total = await run_to_end(found.result, limit)
        return FoundPaths(
            paths=paths, total=total, left_out=walk.left_out, unreadable=walk.unreadable, ended_by=ended_by
        )

    async def _with_rg(self, root: str, found: Collected, *, hidden: bool, limit: int) -> FoundPaths:
        args = ["--files", "--null", *(["--hidden"] if hidden else []), "--glob=!.git", "--", "./"]
        ended = await self.runner.rg(args, cwd=root, on_data=found.feed)
        files, other = failures(ended.errors)
        paths, total = await run_to_end(found.result, limit)
        if other and not total:
            raise CannotRun
        return FoundPaths(
            paths=paths,
            total=total,
            unreadable=files,
            ended_by=ended.ended_by if ended.ended_by in ("timeout", "abort") else "",
        )


async def walked(
    root: str,
    guard: Guard,
    take: Callable[[str], None],
    *,
    hidden: bool,
    runner: Runner,
    signal: Abortable | None,
    operation: filesystem.Operation = "enumerate",
) -> tuple[Walk, Early]:
    """Walks `root` in a thread and gives each file to `take`, until its end, the time limit or the abort."""
    stop = threading.Event()
    deadline = time.monotonic() + runner.timeout
    walk = Walk(
        root,
        guard=guard,
        operation=operation,
        hidden=hidden,
        stopped=lambda: stop.is_set() or time.monotonic() > deadline,
    )

    def work() -> None:
        for path in walk:
            take(path)

    watching = asyncio.ensure_future(_stop_on_abort(signal, stop))
    walking = asyncio.ensure_future(run_to_end(work))
    try:
        await asyncio.shield(walking)
    finally:
        stop.set()  # on a cancellation the thread ends at its next file
        watching.cancel()
        await asyncio.wait({walking})
    if signal is not None and signal.aborted:
        return walk, "abort"
    return walk, "timeout" if time.monotonic() > deadline else ""


async def _stop_on_abort(signal: Abortable | None, stop: threading.Event) -> None:
    if signal is not None:
        await signal.wait()
        stop.set()

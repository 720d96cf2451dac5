"""One queue per file for everything that changes it: read, compute and write happen without another writer between.

Every spelling of a path is one file: links are resolved first. Tools of plugins join by taking the same queue.
"""

from __future__ import annotations

import asyncio
import os
import unicodedata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from zot_core.toolkit.paths import real_path


@dataclass(slots=True)
class _Turn:
    """One file's lock, how many use or await it, and the task that has it."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    task: asyncio.Task[Any] | None = None


class MutationQueue:
    """Locks by real path, first come first served. Holds a lock only while someone uses or awaits it."""

    def __init__(self) -> None:
        self._turns: dict[str, _Turn] = {}

    @asynccontextmanager
    async def hold(self, path: str | os.PathLike[str]) -> AsyncIterator[str]:
        """Waits for the file's turn; gives its real path. Hold it over the whole read-modify-write.

        The task that holds a file may hold it again. Who needs several files at once holds them in sorted order, so
        that two such tasks never wait for each other.
        """
        real = real_path(path)
        key = _key(real)
        turn = self._turns.setdefault(key, _Turn())
        task = asyncio.current_task()
        if turn.task is not None and turn.task is task:
            yield real
            return
        turn.users += 1
        try:
            async with turn.lock:
                turn.task = task
                try:
                    yield real
                finally:
                    turn.task = None
        finally:
            turn.users -= 1
            if not turn.users:
                del self._turns[key]

    def __len__(self) -> int:
        """How many files are held or waited for."""
        return len(self._turns)


def _key(real: str) -> str:
    """Names that differ in case or in how accents are written share a queue: many file systems take them for one."""
    return unicodedata.normalize("NFC", os.path.normcase(real)).casefold()


mutations = MutationQueue()
"""The queue of this process, shared by the built-in tools and whoever joins them."""

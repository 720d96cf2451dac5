"""One queue per file for everything that changes it: read, compute and write happen without another writer between.

Every spelling of a path is one file: links are resolved first. Tools of plugins join by taking the same queue.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from zot_core.toolkit.paths import real_path


class MutationQueue:
    """Locks by real path, first come first served. Holds a lock only while someone uses or awaits it."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def hold(self, path: str | os.PathLike[str]) -> AsyncIterator[str]:
        """Waits for the file's turn; gives its real path. Hold it over the whole read-modify-write.

        Not reentrant: holding the same file twice in one task waits for ever.
        """
        key = os.path.normcase(real_path(path))
        lock, users = self._locks.get(key, (None, 0))
        lock = lock or asyncio.Lock()
        self._locks[key] = (lock, users + 1)
        try:
            async with lock:
                yield key
        finally:
            _, users = self._locks[key]
            if users == 1:
                del self._locks[key]
            else:
                self._locks[key] = (lock, users - 1)

    def __len__(self) -> int:
        """How many files are held or waited for."""
        return len(self._locks)


mutations = MutationQueue()
"""The queue of this process, shared by the built-in tools and whoever joins them."""

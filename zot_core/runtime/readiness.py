"""What the first request of a session waits for: plugins whose tools and commands are still on their way.

Each says itself how long it may be waited for. Must not know who they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from zot_core.agent.cancel import Aborted, Signal, interruptible


class Readiness:
    """The waits of one session. They run side by side from the moment they are added."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[object]] = set()

    @property
    def settled(self) -> bool:
        """Whether nothing is left to wait for."""
        return not self._waiting

    def add(self, awaitable: Awaitable[object], timeout: float) -> None:
        """Waits for `awaitable`, at most `timeout` seconds from now. How it fails is for whoever made it to say."""

        async def bounded() -> None:
            try:
                async with asyncio.timeout(timeout):
                    await awaitable
            except TimeoutError:
                pass  # what is late joins the next request

        task: asyncio.Future[object] = asyncio.ensure_future(bounded())
        self._waiting.add(task)
        task.add_done_callback(self._done)

    async def wait(self, signal: Signal | None = None) -> None:
        """Returns when nothing is left to wait for, or when `signal` is aborted."""
        while self._waiting and not (signal is not None and signal.aborted):
            try:
                with interruptible(signal or Signal()):
                    await asyncio.wait(self._waiting)
            except Aborted:
                return

    def close(self) -> None:
        """Waits no longer."""
        for task in tuple(self._waiting):
            task.cancel()

    def _done(self, task: asyncio.Future[object]) -> None:
        self._waiting.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, so that asyncio does not complain: its maker reports it

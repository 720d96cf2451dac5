"""Time limits of handlers: a warning, then a cancel that does not wait for the one who ignores it. Knows no event."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

Budget = tuple[float, float]
"""(warn, cap) in seconds for one handler; 0 switches either off."""


class OverBudget(Exception):
    """A handler was still running at its cap; it was cancelled and is not waited for."""


async def within(answer: Awaitable[Any], budget: Budget, warn: Callable[[], None]) -> Any:
    """The result of `answer`. Calls `warn` once after the first limit; raises OverBudget at the second.

    It runs as a task of its own, so that a handler that swallows its cancellation cannot hold up what comes after.
    """
    warn_after, cap = budget
    task = asyncio.ensure_future(answer)
    handle = asyncio.get_running_loop().call_later(warn_after, warn) if warn_after else None
    try:
        done, _ = await asyncio.wait({task}, timeout=cap or None)
    except asyncio.CancelledError:
        task.cancel()
        raise
    finally:
        if handle is not None:
            handle.cancel()
    if not done:
        abandon((task,))
        raise OverBudget(f"still running after {cap:g} s; it was cancelled")
    return task.result()


def abandon(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Cancels `tasks` without waiting; what they still raise is nobody's news."""
    for task in tasks:
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        task.cancel()

"""Blocking work in a thread that is never left half done: who cancels waits for its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_LITTLE_BYTES = 16 * 1024


async def run_to_end(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs `function` in a thread. A cancellation is raised only after the thread has ended.

    A thread cannot be stopped; giving up a lock while it still writes would let two writers meet.
    """
    work = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        while not work.done():
            try:
                await asyncio.wait({work})
            except asyncio.CancelledError:
                continue  # the first cancellation is raised below; a second one changes nothing
        if not work.cancelled():
            work.exception()  # taken note of: the caller is leaving
        raise


async def run_aside(size: int, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs `function` in a thread if it works on much (`size` bytes), else at once, as little work costs less.

    Only for work that waits for nothing.
    """
    return await run_to_end(function, *args, **kwargs) if size > _LITTLE_BYTES else function(*args, **kwargs)

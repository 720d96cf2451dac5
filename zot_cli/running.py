"""Runs a coroutine as the process's main one, as `asyncio.run` does, and ends for certain.

What a plugin left behind is not waited for: a task that swallows its cancellation, a thread that is still busy. What
nobody caught in a plugin's own task is one line, never a traceback. Knows no mode.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

from zot_cli import exits, stdio
from zot_core.types.safe_text import error_text

T = TypeVar("T")

LEFT_OVER = 1.0
"""Seconds that tasks, and then threads, have to end after the main coroutine has."""


def run(main: Coroutine[Any, Any, T]) -> T:
    """The result of `main`. Ends the process itself, with that result as its code, when a thread does not end.

    A SystemExit or KeyboardInterrupt that a plugin's task let out cancels `main`, which then ends in its own way.
    """
    before = set(threading.enumerate())
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(_unheard)
    try:
        asyncio.set_event_loop(loop)
        task = loop.create_task(main)
        result = _result(loop, task)
        stuck = _wind_up(loop)
    finally:
        loop.set_exception_handler(lambda _loop, _context: None)  # whoever is destroyed while it waits was told to end
        asyncio.set_event_loop(None)
        loop.close()
    if stuck or _busy(set(threading.enumerate()) - before):
        _leave(result if isinstance(result, int) else exits.DONE)
    return result


def _result(loop: asyncio.AbstractEventLoop, task: asyncio.Task[T]) -> T:
    try:
        return loop.run_until_complete(task)
    except (SystemExit, KeyboardInterrupt) as error:
        if task.done():
            raise
        # With the default handler in force it is a person's Ctrl-C, out of whatever ran just then.
        pressed = isinstance(error, KeyboardInterrupt) and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if not pressed:
            stdio.reason(f"a task of a plugin ended with {error_text(error)}")
        task.cancel()
        result = loop.run_until_complete(task)
        if pressed:
            raise
        return result


def _wind_up(loop: asyncio.AbstractEventLoop) -> bool:
    """Ends the tasks that are left; True if one of them does not end."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left, timeout=LEFT_OVER))
    for task in left:
        if task.done() and not task.cancelled() and (error := task.exception()) is not None:
            _unheard(loop, {"message": "a task of a plugin failed", "exception": error})
    if all(task.done() for task in left):
        loop.run_until_complete(loop.shutdown_asyncgens())
        return False
    return True


def _busy(threads: set[threading.Thread]) -> bool:
    """Whether a thread that the interpreter would wait for, without limit, does not end."""
    end = time.monotonic() + LEFT_OVER
    waited_for = [thread for thread in threads if not thread.daemon]
    for thread in waited_for:
        thread.join(max(0.0, end - time.monotonic()))
    return any(thread.is_alive() for thread in waited_for)


def _leave(code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass  # nobody reads it any more
    os._exit(code)


def _unheard(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    if isinstance(error, (SystemExit, KeyboardInterrupt)):
        return  # said by `run`, out of which it came
    what = context.get("message", "something went wrong in the background")
    stdio.complain(f"zot: warning: {what}" + (f": {error_text(error)}" if error is not None else ""))

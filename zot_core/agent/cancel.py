"""Cancellation: one signal a run, and scopes that it interrupts. Knows no run and no event.

A scope counts its own cancels, so that a cancel from elsewhere (a timeout around the run, the program's end) still
arrives as what it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Literal

AFTER_ABORT_S = 1.0
"""How long, in seconds, a handler that must be asked even after an abort may take to answer."""


class Aborted(BaseException):
    """A scope was left because its signal was aborted; `reason` is the signal's.

    Like CancelledError it is no Exception, so that nobody takes it for a failure of what it interrupted.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Signal:
    """Says once, and for good, that what goes on shall stop. Belongs to one event loop; not for other threads.

    Tools and handlers see it as `ctx.signal`: check `aborted`, wait with `await wait()`, or be called with `on_abort`.
    """

    __slots__ = ("_callbacks", "aborted", "reason")

    def __init__(self) -> None:
        self.aborted = False
        self.reason = ""
        self._callbacks: list[Callable[[], None]] = []

    def abort(self, reason: str = "user") -> None:
        """Aborts; a second abort changes nothing. `reason` is `user` for a person's own command."""
        if self.aborted:
            return
        self.aborted = True
        self.reason = reason
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def on_abort(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Calls `callback` when the signal is aborted, at once if it already is; the answer takes it back."""
        if self.aborted:
            callback()
            return _nothing
        self._callbacks.append(callback)

        def off() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return off

    async def wait(self) -> None:
        """Returns when the signal is aborted."""
        if self.aborted:
            return
        event = asyncio.Event()
        off = self.on_abort(event.set)
        try:
            await event.wait()
        finally:
            off()


class interruptible:
    """A scope of the current task that ends with `Aborted` when `signal` is aborted, at once or `grace` seconds later.

    Without grace an aborted signal is refused at the door. A body that finishes, or fails by itself, keeps its outcome.
    """

    __slots__ = ("_before", "_fired", "_grace", "_handle", "_off", "_signal", "_task")

    def __init__(self, signal: Signal, grace: float = 0.0) -> None:
        self._signal = signal
        self._grace = grace
        self._fired = False
        self._handle: asyncio.Handle | None = None

    def __enter__(self) -> None:
        if self._signal.aborted and not self._grace:
            raise Aborted(self._signal.reason)
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("interruptible() needs a running task")
        self._task = task
        self._before = task.cancelling()
        self._off = self._signal.on_abort(self._arm)

    def _arm(self) -> None:
        # Never from within the task itself: a cancel that is asked for there would be delivered after the scope ended.
        loop = asyncio.get_running_loop()
        self._handle = loop.call_later(self._grace, self._fire) if self._grace else loop.call_soon(self._fire)

    def _fire(self) -> None:
        self._fired = True
        self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        self._off()
        if self._handle is not None:
            self._handle.cancel()
        if self._fired:
            only_ours = self._task.uncancel() <= self._before
            if only_ours and kind is not None and issubclass(kind, asyncio.CancelledError):
                raise Aborted(self._signal.reason) from None
        return False


def _nothing() -> None:
    """The answer of `on_abort` when there is nothing to take back."""

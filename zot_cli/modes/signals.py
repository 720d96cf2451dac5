"""Signals of a run: the first ends it cleanly, the second gives up waiting, the third ends the process at once.

Knows no mode; what ending means is the caller's. Code that holds up the event loop does not hold up the end: a
plugin's is interrupted by `unstick.py`.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Any

from zot_cli.exits import HUNG_UP, INTERRUPTED, TERMINATED
from zot_cli.modes.unstick import Unsticker

GRACE = 3.0
"""Seconds that a run has to end after it was aborted."""
_CODES = {"SIGINT": INTERRUPTED, "SIGTERM": TERMINATED, "SIGHUP": HUNG_UP}


class Signals:
    """Installed for as long as its `with` block; `code` is the exit code of the first signal, 0 when none came.

    `on_stop` is called for the first signal; without it, and for the second one, `task` is cancelled. A signal that the
    parent ignores (nohup, a background job) stays ignored.
    """

    def __init__(self, task: asyncio.Task[Any], on_stop: Callable[[], object] | None = None) -> None:
        self.code = 0
        self.on_stop = on_stop
        self.on_interrupt: Callable[[], bool] | None = None
        """Asked first for Ctrl-C; True says that it was dealt with and is no end of the process."""
        self._task = task
        self._count = 0
        self._grace: asyncio.TimerHandle | None = None
        self._installed: list[signal.Signals] = []
        self._unsticker = Unsticker()

    def __enter__(self) -> Signals:
        loop = asyncio.get_running_loop()
        for name, code in _CODES.items():
            number = getattr(signal, name, None)
            if number is None or signal.getsignal(number) is signal.SIG_IGN:
                continue
            try:
                loop.add_signal_handler(number, self._came, code)
            except (NotImplementedError, RuntimeError):
                continue  # Windows, or not the main thread: the default, KeyboardInterrupt, is caught by main
            self._installed.append(number)
            # In the place of the loop's own, which does nothing: this one runs even while the loop is held up.
            signal.signal(number, lambda _number, _frame, code=code: self._unsticker.came(code))  # type: ignore[misc]
            signal.siginterrupt(number, False)
        return self

    def __exit__(self, *_: object) -> None:
        loop = asyncio.get_running_loop()
        for number in self._installed:
            loop.remove_signal_handler(number)
        self.code = self.code or self._unsticker.missed
        self._unsticker.close()
        self.no_grace()

    def no_grace(self) -> None:
        """The task came to its end in time: it is not cancelled any more for the first signal."""
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None

    def _came(self, code: int) -> None:
        self._unsticker.taken()
        if code == INTERRUPTED and self.on_interrupt is not None and self.on_interrupt():
            return
        self.code = self.code or code
        self._count += 1
        if self._count == 1 and self.on_stop is not None:
            self.on_stop()
            # A supervisor asks once: what does not end by itself is cancelled.
            self._grace = asyncio.get_running_loop().call_later(GRACE, self._task.cancel)
        elif self._count <= 2:
            self._task.cancel()
        else:
            os._exit(self.code)

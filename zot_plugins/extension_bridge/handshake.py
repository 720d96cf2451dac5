"""When an extension has said hello, and when it has registered all it has: states and clocks, no frames.

Hello within 10 s. Ready when it says so; else after 300 ms of silence that follow a registration, or 3 s after hello.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

HELLO_S = 10.0
READY_S = 3.0
"""After hello, and how long the first request of a session waits from the start of the process."""
SILENCE_S = 0.3

State = Literal["starting", "registering", "ready", "auto-ready", "failed", "ended"]


class Handshake:
    """The clocks of one process. `on_silent()` is called when no hello came, `on_ready()` once when it is ready."""

    def __init__(self, on_silent: Callable[[], None], on_ready: Callable[[], None]) -> None:
        self.state: State = "starting"
        self.hello_s: float | None = None
        self.ready_s: float | None = None
        """Seconds from the start."""
        self._on_silent = on_silent
        self._on_ready = on_ready
        self._loop = asyncio.get_running_loop()
        self.began = self._loop.time()
        self._registered = False
        self._deadline: asyncio.TimerHandle | None = self._loop.call_later(HELLO_S, self._silent)
        self._quiet: asyncio.TimerHandle | None = None
        self.settled = asyncio.Event()
        """Set when it is ready or never will be."""

    @property
    def is_ready(self) -> bool:
        """Whether its registrations count as complete."""
        return self.state in ("ready", "auto-ready")

    def hello(self) -> None:
        """It said hello."""
        self.state = "registering"
        self.hello_s = self._loop.time() - self.began
        self._stop()
        self._deadline = self._loop.call_later(READY_S, self._auto)

    def heard(self, registration: bool = False) -> None:
        """It said something; silence begins anew."""
        if self.state != "registering":
            return
        self._registered = self._registered or registration
        if self._registered:
            if self._quiet is not None:
                self._quiet.cancel()
            self._quiet = self._loop.call_later(SILENCE_S, self._auto)

    def ready(self) -> None:
        """It says that all is registered."""
        if self.state == "registering":
            self._become("ready")

    def end(self, state: Literal["failed", "ended"]) -> None:
        """It will say nothing more."""
        self.state = state
        self._stop()
        self.settled.set()

    def left_to_wait(self) -> float:
        """Seconds that the first request may still wait for it."""
        return max(0.0, self.began + READY_S - self._loop.time())

    def _silent(self) -> None:
        self._on_silent()

    def _auto(self) -> None:
        if self.state == "registering":
            self._become("auto-ready")

    def _become(self, state: Literal["ready", "auto-ready"]) -> None:
        self.state = state
        self.ready_s = self._loop.time() - self.began
        self._stop()
        self._on_ready()
        self.settled.set()

    def _stop(self) -> None:
        for timer in (self._deadline, self._quiet):
            if timer is not None:
                timer.cancel()
        self._deadline = self._quiet = None

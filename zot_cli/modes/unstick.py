"""Frees an event loop that a plugin's code holds up when a signal wants the process to end.

A loop takes a signal when it comes round. Code that sleeps or spins in it keeps it from that, and Ctrl-C would do
nothing. So the signal also starts a timer; if the loop has not come round when it fires, what a plugin runs there gets
a SystemExit, which is this plugin's fault to everybody and no more. Knows no mode.
"""

from __future__ import annotations

import os
import signal
from types import FrameType

HELD_UP = 1.0
"""Seconds that the loop may take to come round, before a plugin's code in it is interrupted, and again after that."""
LAST = 10
"""Interruptions until the process is ended as it is."""
_OWN = ("zot_core.", "zot_cli.", "zot_plugins.")
_CALLERS = ("zot_core.plugins.", "zot_cli.running")
"""Rooms of zot out of which a plugin's code is called: hooks and imports, and the loop with its tasks."""


class Unsticker:
    """`came` is called by the signal, `taken` by the loop; for signals of the main thread only."""

    def __init__(self) -> None:
        self._waiting = 0
        self.missed = 0
        """The code of a signal that came and was not taken."""
        self._fired = 0
        self._before: object = None
        self._armed = False

    def came(self, code: int) -> None:
        """A signal is there that the loop has yet to take; the third that it does not take ends the process."""
        self._waiting += 1
        self.missed = self.missed or code
        if self._waiting > 2:
            os._exit(code)
        if not self._armed and hasattr(signal, "setitimer"):
            self._armed = True
            self._before = signal.signal(signal.SIGALRM, lambda _number, frame: self._fire(code, frame))
            signal.setitimer(signal.ITIMER_REAL, HELD_UP, HELD_UP)

    def taken(self) -> None:
        """The loop came round."""
        self._waiting = self._fired = self.missed = 0
        self.close()

    def close(self) -> None:
        """No timer after this."""
        if self._armed:
            self._armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before or signal.SIG_DFL)  # type: ignore[arg-type]

    def _fire(self, code: int, frame: FrameType | None) -> None:
        self._fired += 1
        if self._fired > LAST:
            os._exit(code)
        if _in_a_plugin(frame):
            raise SystemExit("it held up everything while zot was told to end, and was interrupted")


def _in_a_plugin(frame: FrameType | None) -> bool:
    """Whether the innermost code of zot on the stack is a caller of plugins that does not work itself."""
    foreign = False
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name.startswith(_OWN):
            return foreign and name.startswith(_CALLERS)
        foreign = True
        frame = frame.f_back
    return False

"""A terminal output whose writes can be held, so that a whole frame reaches the terminal as one.

A held frame is wrapped in the marks of synchronized output, which terminals that know them draw at once and others
ignore.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from prompt_toolkit.output.vt100 import Vt100_Output

_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"


class HeldOutput(Vt100_Output):
    """prompt-toolkit's own output, but that `held()` keeps everything until the block ends. `broken` is set when the
    terminal is gone; then nothing more is written."""

    broken = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.enable_cpr = (
            False  # a cursor position report makes the live area fill the screen, and waits for mute terminals
        )
        self._holds = 0
        self.refused = False
        """Whether frames are thrown away: nobody knows where on the screen they would land."""

    @contextmanager
    def held(self) -> Iterator[None]:
        """One frame: what is written within leaves in one write."""
        self.hold()
        try:
            yield
        finally:
            self.release()

    def hold(self) -> None:
        """Begins a frame, or a part of the one that is held."""
        if not self._holds:
            self.flush()
            self.write_raw(_BEGIN)
        self._holds += 1

    def release(self) -> None:
        """Ends what `hold` began; the frame leaves with the last one."""
        self._holds = max(self._holds - 1, 0)
        if not self._holds:
            if self.refused:
                self._buffer.clear()
                return
            self.write_raw(_END)
            self.flush()

    def erase_down(self) -> None:
        """Empties the row from the cursor, which is in the first column, and all below, not from the first column on:
        for a whole screen that is emptied at once, tmux and others keep a copy in the scrollback."""
        self.write_raw("\x1b[K\x1b[C\x1b[J\x1b[D")

    def flush(self) -> None:
        """Writes what was kept, unless a frame is held."""
        if self._holds:
            return
        try:
            super().flush()
        except (OSError, ValueError):
            self.broken = True

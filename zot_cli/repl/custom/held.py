"""A plugin's component while it is on the screen: drawn with care, its keys handed on, closed when it breaks.

Ctrl-C goes to the component as every key does; pressed twice it closes one that will not close itself.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from typing import Any

from zot_cli.repl.custom.lines import drawn
from zot_cli.repl.custom.parts import Owner, Parts
from zot_cli.repl.spans import Line

TWICE = 2.0
"""Seconds within which a second Ctrl-C closes a component."""
AROUND = 6
"""Rows of the terminal that a component leaves to what is around it."""


class Held:
    """A component and its plugin. `ended(value)` is called when it is to be closed."""

    def __init__(self, parts: Parts, owner: Owner, component: Any, ended: Callable[[Any], None]) -> None:
        self._parts, self.owner, self.component, self._ended = parts, owner, component, ended
        self._interrupted = -TWICE

    def render(self, width: int) -> list[Line]:
        """Its lines as the screen has them. Raises what it raises."""
        most = max(self._parts.tui.rows - AROUND, 3)
        return drawn(self.component, width, most, self._parts.repl.look)

    def handle_key(self, key: str) -> None:
        """A key for it. Raises what it raises; what an async one raises is reported later."""
        if key == "ctrl+c":
            now = time.monotonic()
            if now - self._interrupted < TWICE:
                self._ended(None)
                return
            self._interrupted = now
        handle = getattr(self.component, "handle_key", None)
        answer = handle(key) if handle is not None else None
        if inspect.isawaitable(answer):
            self._parts.repl.begin(self._awaited(answer), "component")

    def end(self) -> None:
        """Closes it without an answer."""
        self._ended(None)

    def failed(self, error: Exception) -> None:
        """It broke: the plugin is named, and it is closed."""
        self._parts.report(self.owner, "its component", error)
        self._ended(None)

    async def _awaited(self, answer: Any) -> None:
        try:
            await answer
        except Exception as error:  # a plugin's component
            self.failed(error)
        self._parts.repl.draw()

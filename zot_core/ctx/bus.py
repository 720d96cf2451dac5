"""The bus: channels on which plugins of one session speak with each other. Only the core sends events; this is the
rest."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

Listener = Callable[[Any], Any]


class Bus:
    """Channels by name. A listener that breaks is reported under its plugin's name and hurts nobody else."""

    def __init__(self, report: Callable[[str, str, Exception], None], spawn: Callable[[str, Any], Any]) -> None:
        self._listeners: dict[str, list[tuple[str, Listener]]] = {}
        self._report = report
        self._spawn = spawn

    def on(self, plugin: str, channel: str, listener: Listener) -> Callable[[], None]:
        """Listens to `channel` from the next emit on; the answer stops it."""
        row = (plugin, listener)
        self._listeners.setdefault(channel, []).append(row)

        def off() -> None:
            rows = self._listeners.get(channel, [])
            if row in rows:
                rows.remove(row)

        return off

    def emit(self, channel: str, payload: Any = None) -> None:
        """Calls the listeners of `channel` in the order in which they came; async ones run as tasks of their plugin."""
        for plugin, listener in tuple(self._listeners.get(channel, ())):
            try:
                answer = listener(payload)
            except Exception as error:
                self._report(plugin, channel, error)
                continue
            if inspect.iscoroutine(answer):
                self._spawn(plugin, answer)

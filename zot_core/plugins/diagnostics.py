"""Diagnostics: what a person should know about a plugin, said once. Knows no screen; front ends subscribe."""

from __future__ import annotations

import logging
import time as _time
from collections.abc import Callable
from dataclasses import field
from typing import Literal

from zot_core.types.record import record

Level = Literal["info", "warning", "error"]

_KEPT = 1000
_LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
# Without a handler of its own logging would write warnings to stderr, which belongs to the front end.
logging.getLogger("zot").addHandler(logging.NullHandler())


@record
class Diagnostic:
    """One thing to know: which plugin, in which hook ("" for none), in a sentence. `traceback` is text."""

    level: Level
    plugin: str
    hook: str
    message: str
    traceback: str = ""
    time: float = field(default_factory=_time.time)


class Diagnostics:
    """Collects diagnostics, each (plugin, hook, message) once, and tells subscribers of the new ones."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str, str], Diagnostic] = {}
        self._subscribers: list[Callable[[Diagnostic], None]] = []

    @property
    def rows(self) -> tuple[Diagnostic, ...]:
        """What was reported, oldest first; at most the last thousand."""
        return tuple(self._rows.values())

    def report(self, diagnostic: Diagnostic) -> bool:
        """Keeps, logs and tells a diagnostic; False if the same was reported before."""
        key = (diagnostic.plugin, diagnostic.hook, diagnostic.message)
        if key in self._rows:
            return False
        self._rows[key] = diagnostic
        if len(self._rows) > _KEPT:
            del self._rows[next(iter(self._rows))]
        log = logging.getLogger(f"zot.plugin.{diagnostic.plugin or 'core'}")
        place = f"{diagnostic.hook}: " if diagnostic.hook else ""
        detail = f"\n{diagnostic.traceback}" if diagnostic.traceback else ""
        log.log(_LEVELS[diagnostic.level], "%s%s%s", place, diagnostic.message, detail)
        for subscriber in tuple(self._subscribers):
            subscriber(diagnostic)
        return True

    def subscribe(self, function: Callable[[Diagnostic], None]) -> Callable[[], None]:
        """Calls `function` with every new diagnostic until the answer is called."""
        self._subscribers.append(function)

        def off() -> None:
            if function in self._subscribers:
                self._subscribers.remove(function)

        return off

    @property
    def failed(self) -> frozenset[str]:
        """The plugins that something is wrong with as a whole: not loaded, or ended by themselves."""
        return frozenset(row.plugin for row in self._rows.values() if _is_failure(row))

    def forget_failures(self, prefix: str = "") -> None:
        """Drops those of plugins whose name begins with `prefix`: they are about to be loaded anew, and what fails
        again is news again."""
        for key in [key for key, row in self._rows.items() if _is_failure(row) and key[0].startswith(prefix)]:
            del self._rows[key]

    def forget(self, plugin: str) -> None:
        """Drops what was said about handlers of `plugin`, because other code has taken its name."""
        for key in [key for key in self._rows if key[0] == plugin and key[1]]:
            del self._rows[key]


def _is_failure(row: Diagnostic) -> bool:
    return row.level == "error" and bool(row.plugin) and not row.hook

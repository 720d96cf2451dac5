"""What the first request did without and the first tool call needs, imported while the model thinks.

Of tools only the library behind their arguments is here: which tool will be called is not known. Must not import
anything of this at its own import.
"""

from __future__ import annotations

import asyncio
from importlib import import_module

MODULES = ("zot_core.agent.calls", "pydantic.main", "pydantic.fields")
AFTER_S = 0.2
"""Later than a request takes to leave, which an import in another thread would hold up; sooner than models answer."""


class Ahead:
    """Imports `MODULES` once in a process. An answer that ends sooner, of a cache say, is not kept waiting for it."""

    def __init__(self) -> None:
        self._begun = False
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """A request is about to be sent, and the HTTP library is loaded; the first one counts."""
        if not self._begun:
            self._begun = True
            self._timer = asyncio.get_running_loop().call_later(AFTER_S, self._start)

    def stop(self) -> None:
        """The process ends; what has not begun is left."""
        if self._timer is not None:
            self._timer.cancel()

    def _start(self) -> None:
        asyncio.get_running_loop().run_in_executor(None, import_modules)


def import_modules() -> None:
    """Imports them. One that cannot be imported is left to whoever needs it, who can say what for."""
    for name in MODULES:
        try:
            import_module(name)
        except ImportError:
            pass  # raised again, and reported, where it is used

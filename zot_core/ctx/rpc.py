"""Requests of embedding programs that plugins answer, by name. Knows no transport: a front end brings the calls.

What a plugin emits goes to programs that asked for it; elsewhere nobody hears it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from zot_core.types.failure import UsageError

Handler = Callable[[Any], Any]


class RpcHandlers:
    """The handlers of one session, by name."""

    def __init__(self) -> None:
        self._handlers: dict[str, tuple[str, Handler]] = {}

    def add(self, plugin: str, name: str, handler: Handler) -> Callable[[], None]:
        """Lets `handler` answer the requests called `name`. Raises UsageError when another has that name."""
        taken = self._handlers.get(name)
        if taken is not None:
            raise UsageError(
                f"requests called {name!r} are answered by {taken[0]} already; {plugin} cannot answer them"
            )
        row = self._handlers[name] = (plugin, handler)

        def remove() -> None:
            if self._handlers.get(name) is row:
                del self._handlers[name]

        return remove

    def names(self) -> tuple[str, ...]:
        """The names that something answers, sorted."""
        return tuple(sorted(self._handlers))

    def owner(self, name: str) -> str:
        """The plugin that answers `name`; empty when none does."""
        row = self._handlers.get(name)
        return "" if row is None else row[0]

    async def call(self, name: str, data: Any) -> Any:
        """The answer of the handler of `name`. Raises UsageError when there is none, else what the handler raises."""
        row = self._handlers.get(name)
        if row is None:
            known = ", ".join(self.names()) or "none"
            raise UsageError(f"no plugin answers requests called {name!r}; known: {known}")
        answer = row[1](data)
        return await answer if inspect.isawaitable(answer) else answer

"""Panels over RPC: `panel_open`, `panel_render` and `panel_close` events, driven by `panel_key` and `panel_close`.

Keys reach the plugin in order, one after another. Knows no screen.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zot_core.types.failure import UsageError

if TYPE_CHECKING:
    from zot_core.types.panels import Panel
    from zot_core.wire.codec import WireEvent

MOST_KEYS = 1000
"""Keys that wait for a plugin that is slow with them; more are refused."""


class RpcPanel:
    """One open panel; the handle that its plugin has."""

    def __init__(
        self,
        owner: Panels,
        id: str,
        plugin: str,
        calls: tuple[Callable[[str, str], Any], Callable[[], Any]],
        generation: object,
    ) -> None:
        self.id = id
        self.plugin = plugin
        self.generation = generation
        self.name = ""
        """The plugin's own name for it."""
        self._owner = owner
        self._on_key, self._on_close = calls
        self._keys: list[tuple[str, str]] = []
        self._task: asyncio.Task[None] | None = None
        self._closing = False

    def update(self, panel: Panel) -> None:
        """Shows `panel` in the place of what the panel showed."""
        if self._owner.is_open(self):
            self._owner.send({"type": "panel_render", **self.shown(panel)})

    def close(self) -> None:
        """Takes the panel away."""
        if self._owner.forget(self):
            self._owner.send(
                {"type": "panel_close", "panel_id": self.id, "extension": self.plugin.removeprefix("ext:")}
            )

    def shown(self, panel: Panel) -> WireEvent:
        """What the client is told of the panel."""
        return {
            "panel_id": self.id,
            "extension": self.plugin.removeprefix("ext:"),
            "title": panel.title,
            "lines": list(panel.lines),
            "footer": panel.footer,
        }

    def key(self, key: str, text: str) -> None:
        """A key for the plugin. Raises UsageError when too many wait already."""
        if len(self._keys) >= MOST_KEYS:
            raise UsageError(f"{self.plugin} has not dealt with the last {MOST_KEYS} keys yet")
        self._keys.append((key, text))
        self._go_on()

    def dismissed(self) -> None:
        """The person closed it: told to the plugin after the keys that came before."""
        self._closing = True
        self._go_on()

    def _go_on(self) -> None:
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._deliver(), name=f"zot:panel:{self.id}")

    async def _deliver(self) -> None:
        try:
            while self._keys or self._closing:
                try:
                    if self._keys:
                        answer = self._on_key(*self._keys.pop(0))
                    else:
                        self._closing = False
                        answer = self._on_close()
                    if inspect.isawaitable(answer):
                        await answer
                except Exception as error:  # the plugin's own code; the next key still reaches it
                    self._owner.on_error(self.plugin, error)
        finally:
            self._task = None


class Panels:
    """The open panels by the id that the client knows. `on_error` is told what a plugin's code raised."""

    def __init__(self, send: Callable[[WireEvent], None]) -> None:
        self.send = send
        self.on_error: Callable[[str, Exception], object] = lambda plugin, error: None
        self.generation: Callable[[], object] = lambda: None
        """The session in force; panels of one that is over are closed by `sweep`."""
        self._open: dict[str, RpcPanel] = {}

    def open(
        self, plugin: str, panel: Panel, on_key: Callable[[str, str], Any], on_close: Callable[[], Any]
    ) -> RpcPanel:
        """A new panel; one of the same plugin and name takes its place."""
        for other in [one for one in self._open.values() if (one.plugin, one.name) == (plugin, panel.id)]:
            other.close()
        id = panel.id or plugin
        while id in self._open:  # another plugin's panel has the name
            id = f"{plugin}:{id}"
        made = RpcPanel(self, id, plugin, (on_key, on_close), self.generation())
        made.name = panel.id
        self._open[id] = made
        self.send({"type": "panel_open", **made.shown(panel)})
        return made

    def get(self, id: str) -> RpcPanel:
        """The open panel of that id. Raises UsageError when there is none."""
        panel = self._open.get(id)
        if panel is None:
            raise UsageError("no such panel is open")
        return panel

    def is_open(self, panel: RpcPanel) -> bool:
        """Whether it was not closed yet."""
        return self._open.get(panel.id) is panel

    def forget(self, panel: RpcPanel) -> bool:
        """Takes a panel away; False when it was closed before."""
        if not self.is_open(panel):
            return False
        del self._open[panel.id]
        return True

    def dismiss(self, id: str) -> None:
        """Closes a panel in the person's name. Raises UsageError when there is none."""
        panel = self.get(id)
        self.forget(panel)
        panel.dismissed()

    def sweep(self) -> None:
        """Closes the panels of sessions that are over."""
        now = self.generation()
        for panel in [one for one in self._open.values() if one.generation is not now]:
            panel.close()
            panel.dismissed()

    def adopt(self) -> None:
        """Panels that were opened before the first session was in force are its."""
        for panel in self._open.values():
            panel.generation = panel.generation or self.generation()

    def close_all(self) -> None:
        """The client is gone: every plugin is told that its panel was closed."""
        for id in list(self._open):
            self.dismiss(id)

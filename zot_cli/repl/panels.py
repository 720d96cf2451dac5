"""A plugin's panel as a component: its lines in the editor's place, its keys sent to it in order.

Esc and Ctrl-C always close it, whatever the plugin does. Knows no wire.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zot_cli.plain import clean, one_line
from zot_cli.repl.spans import Line, wrap
from zot_core.types.panels import KEYS, Panel

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl

ROWS = 20
"""Lines of a panel that are shown; it scrolls by its own means."""


class PanelComponent:
    """An open panel, and the handle of its plugin."""

    def __init__(
        self,
        repl: Repl,
        plugin: str,
        panel: Panel,
        on_key: Callable[[str, str], Any],
        on_close: Callable[[], Any],
    ) -> None:
        self._repl, self._plugin, self._panel = repl, plugin, panel
        self._on_key, self._on_close = on_key, on_close
        self._open = True
        self._keys: asyncio.Queue[tuple[str, str] | None] = asyncio.Queue()
        self._task = asyncio.get_running_loop().create_task(self._deliver(), name=f"zot:panel:{plugin}")
        repl.stage.show(self)

    def update(self, panel: Panel) -> None:
        """Shows `panel` in the place of what the panel showed."""
        if self._open:
            self._panel = panel
            self._repl.draw()

    def close(self) -> None:
        """Takes the panel away."""
        if self._open:
            self._open = False
            self._repl.stage.close(self)
            self._keys.put_nowait(None)

    def render(self, width: int) -> list[Line]:
        look, panel = self._repl.look, self._panel
        source = self._plugin.removeprefix("ext:")
        lines: list[Line] = [
            [(look.style("accent"), one_line(panel.title, 200) or source), (look.style("dim"), f"  [{source}]")]
        ]
        body: list[Line] = []
        for text in panel.lines:
            body += wrap(clean(text), width)
        lines += body[:ROWS]
        if len(body) > ROWS:
            lines.append([(look.style("dim"), f"… {len(body) - ROWS} more lines")])
        return [*lines, [(look.style("dim"), one_line(panel.footer, 400) or "esc close")]]

    def handle_key(self, key: str) -> None:
        if key in ("esc", "ctrl+c"):
            self.close()
            self._repl.begin(_call(self._on_close), "panel")
        elif key in KEYS:
            self._keys.put_nowait((key, ""))
        elif len(key) == 1 and key.isprintable():
            self._keys.put_nowait(("rune", key))

    async def _deliver(self) -> None:
        while (key := await self._keys.get()) is not None:
            try:
                answer = self._on_key(*key)
                if inspect.isawaitable(answer):
                    await answer
            except Exception as error:  # the plugin's own; its panel stays
                self._repl.tell(f"{self._plugin}: its panel failed at {key[0]}: {error}", "error")


async def _call(function: Callable[[], Any]) -> None:
    answer = function()
    if inspect.isawaitable(answer):
        await answer

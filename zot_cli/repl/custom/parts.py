"""The places that plugins fill: header, footer, widgets; and how one that breaks is closed and named.

What a plugin has put there goes with its session. Knows the application, no plugin.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zot_cli.plain import clean, one_line
from zot_cli.repl.custom.lines import drawn
from zot_cli.repl.custom.tui import LiveTheme, ScreenTui, keybindings_of
from zot_cli.repl.spans import Line, cut
from zot_core.types.record import record

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl
    from zot_cli.repl.custom.held import Held
    from zot_core.runtime.runtime import Runtime

ROWS = 10
"""Lines of one widget, header or footer that are shown."""


@record
class Owner:
    """Whose it is: a plugin in a session. Zot's own has no name."""

    plugin: str = ""
    runtime: Any = None


class Slot:
    """A place with what a factory made for it; made when it is first drawn, gone once it has broken."""

    def __init__(self, parts: Parts, owner: Owner, where: str, make: Callable[[], Any]) -> None:
        self._parts, self.owner, self._where, self._make = parts, owner, where, make
        self._made: Any = None
        self._theme: Any = None
        self.broken = False

    def lines(self, width: int) -> list[Line]:
        """Its lines, none when it is broken."""
        if self.broken:
            return []
        look = self._parts.repl.look
        try:
            if self._made is None:
                self._made = self._make()
            elif self._theme is not look.theme and hasattr(self._made, "invalidate"):
                self._made.invalidate()
            self._theme = look.theme
            return drawn(self._made, width, ROWS, look)
        except Exception as error:  # a plugin's component
            self.broken = True
            self._parts.report(self.owner, self._where, error)
            return []


@record
class Widget:
    """Lines beside the editor, or a slot, and what a key may run."""

    placement: str
    content: tuple[str, ...] | Slot
    actions: tuple[tuple[str, str], ...] = ()


class Parts:
    """What plugins have put on the screen in this session."""

    def __init__(self, repl: Repl) -> None:
        self.repl = repl
        self.tui = ScreenTui(repl)
        self.theme: Any = LiveTheme(lambda: repl.look.theme)
        self.keybindings = keybindings_of(repl.keymap)
        self.header: Slot | None = None
        self.footer: Slot | None = None
        self.subagents: float | None = None
        self.open: list[Held] = []
        """Components that wait to be done."""
        self._widgets: dict[tuple[str, str], Widget] = {}

    def slot(self, owner: Owner, where: str, factory: Callable[..., Any] | None) -> Slot | None:
        """A place for what `factory(tui, theme)` makes; None for none."""
        return None if factory is None else Slot(self, owner, where, lambda: factory(self.tui, self.theme))

    def report(self, owner: Owner, where: str, error: Exception) -> None:
        """Names a plugin whose component broke; later, because it may have broken while a frame was drawn."""
        asyncio.get_running_loop().call_soon(self._reported, owner, where, error)

    def forget(self) -> None:
        """The session is over: what its plugins have put here goes, and what waits is closed."""
        self.header = self.footer = None
        self.subagents = None
        self._widgets.clear()
        for held in list(self.open):
            held.end()

    # --- widgets -----------------------------------------------------------------------------------------------------

    def set_widget(
        self,
        owner: Owner,
        key: str,
        content: Sequence[str] | Callable[..., Any] | None,
        placement: str,
        actions: Sequence[Mapping[str, str]],
    ) -> None:
        """A plugin's widget under a key of its own; None takes it away."""
        if content is None:
            self._widgets.pop((owner.plugin, key), None)
            return
        found: Any = (
            self.slot(owner, f"widget {key}", content)
            if callable(content)
            else tuple(str(line) for line in ([content] if isinstance(content, str) else content))
        )
        pairs = tuple((one_line(str(one["label"]), 60), str(one["command"])) for one in actions)
        self._widgets[owner.plugin, key] = Widget(placement, found, pairs)

    def widgets(self, placement: str, width: int) -> list[Line]:
        """The lines of all widgets at a place."""
        look, lines = self.repl.look, list[Line]()
        for _, widget in sorted(self._widgets.items(), key=lambda item: item[0]):
            if widget.placement != placement:
                continue
            if isinstance(widget.content, Slot):
                lines += widget.content.lines(width)
            else:
                lines += drawn(widget.content, width, ROWS, look)
            if widget.actions:
                told = " · ".join(f"{label}: {clean(command)}" for label, command in widget.actions)
                hint = self.repl.keymap.hint("app.widget.action")
                lines.append(
                    cut([(look.style("accent"), told), (look.style("dim"), f"  {hint}" if hint else "")], width)
                )
        return lines

    def actions(self) -> list[tuple[str, str]]:
        """What widgets offer to run: label and command."""
        return [
            pair for _, widget in sorted(self._widgets.items(), key=lambda item: item[0]) for pair in widget.actions
        ]

    # --- header and footer -------------------------------------------------------------------------------------------

    def header_lines(self, width: int) -> list[Line]:
        """The header while it is there."""
        return self.header.lines(width) if self.header is not None else []

    def footer_lines(self, width: int) -> list[Line] | None:
        """A plugin's footer; None when zot's own is to be shown."""
        if self.footer is None or self.footer.broken:
            return None
        lines = self.footer.lines(width)
        return None if self.footer.broken else lines

    def _reported(self, owner: Owner, where: str, error: Exception) -> None:
        runtime: Runtime | None = owner.runtime
        if runtime is None:
            self.repl.tell(f"{where} failed: {error}", "error")
        else:
            runtime.host.pipeline.broken(owner.plugin, where, error)
            self.repl.draw()

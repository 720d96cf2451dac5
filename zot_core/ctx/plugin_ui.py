"""`ctx.ui` in one plugin's name: the mode's form, with the plugin's name on every note and the span of each dialog
told.

Knows no screen; overlapping dialogs are told as one span of `ui_prompt_start` and `ui_prompt_end`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from zot_core import events
from zot_core.frontend import Note

if TYPE_CHECKING:
    from zot_core.ctx.protocols import Approval
    from zot_core.events.tool import ToolCallEvent
    from zot_core.runtime.runtime import Runtime
    from zot_core.types.panels import Panel, PanelHandle

_DIALOGS = {"select": "select", "confirm": "confirm", "input": "input", "editor": "editor", "custom": "custom"}


class PluginUi:
    """Passes everything on to the front end's Ui; see `zot_core.ctx.protocols.Ui`."""

    def __init__(self, live: Callable[[], Runtime], plugin: str) -> None:
        self._live = live
        self._plugin = plugin

    def notify(self, message: str, level: Any = "info") -> None:
        """A note for the person, with this plugin's name."""
        if level == "warn":  # the wire's word for it
            level = "warning"
        self._live().front.note(Note(source=self._plugin, text=message, level=level))

    def display(self, text: str) -> None:
        """A longer note, shown as text of its own."""
        self._live().front.note(Note(source=self._plugin, text=text, kind="display"))

    def clear_notes(self) -> None:
        """Takes back the notes of this plugin, nobody else's."""
        self._live().front.note(Note(source=self._plugin, kind="clear"))

    def open_panel(
        self, panel: Panel, on_key: Callable[[str, str], Any], on_close: Callable[[], Any]
    ) -> PanelHandle | None:
        """Shows a panel of this plugin; see `zot_core.ctx.protocols.Ui.open_panel`."""
        handle: PanelHandle | None = self._live().front.ui.open_panel(self._plugin, panel, on_key, on_close)
        return handle

    async def approve(self, call: ToolCallEvent) -> Approval:
        """Whether a call may run; see `zot_core.ctx.protocols.Ui.approve`."""
        return await self._live().approve(call)

    @property
    def tools_expanded(self) -> bool:
        """Whether tool results are shown whole."""
        return bool(self._live().front.ui.tools_expanded)

    @tools_expanded.setter
    def tools_expanded(self, expanded: bool) -> None:
        self._live().front.ui.tools_expanded = expanded

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        runtime = self._live()
        method = getattr(runtime.front.ui, name)
        if name not in _DIALOGS or not runtime.has_ui:
            return method

        async def asked(*args: Any, **kwargs: Any) -> Any:
            title = str(args[0]) if args and name != "custom" else ""
            return await runtime.prompt_span(_DIALOGS[name], title, method(*args, **kwargs))

        return asked


class PromptSpan:
    """Counts dialogs that wait, so that plugins are told once when the first opens and once when the last is
    answered."""

    def __init__(self, tell_soon: Callable[[Any], None]) -> None:
        self._open = 0
        self._tell_soon = tell_soon

    async def around(self, kind: Any, title: str, dialog: Awaitable[Any]) -> Any:
        """Awaits `dialog` within the span."""
        self._open += 1
        if self._open == 1:
            self._tell_soon(events.UiPromptStartEvent(kind=kind, title=title))
        try:
            return await dialog
        finally:
            self._open -= 1
            if not self._open:
                self._tell_soon(events.UiPromptEndEvent())

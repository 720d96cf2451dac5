"""`ctx.ui` in one plugin's name: the mode's form, with the plugin's name on every note and the span of each dialog
told.

Knows no screen; overlapping dialogs are told as one span of `ui_prompt_start` and `ui_prompt_end`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from zot_core import events
from zot_core.ctx import asking
from zot_core.frontend import Note
from zot_core.types.specs import EntryRenderer, MarkdownTransformer, MessageRenderer

if TYPE_CHECKING:
    from zot_core.agent.cancel import Signal
    from zot_core.ctx.protocols import Approval
    from zot_core.events.tool import ToolCallEvent
    from zot_core.runtime.runtime import Runtime
    from zot_core.types.panels import Panel, PanelHandle

_DIALOGS = ("select", "confirm", "input", "editor", "question", "custom")


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

    async def select(self, title: str, options: Sequence[str], **given: Any) -> str | None:
        """One of `options`; see `zot_core.ctx.protocols.Ui.select`."""
        answer: str | None = await self._ask("select", None, title, options, **given)
        return answer

    async def confirm(self, title: str, message: str = "", **given: Any) -> bool:
        """Yes or no; see `zot_core.ctx.protocols.Ui.confirm`."""
        return bool(await self._ask("confirm", False, title, message, **given))

    async def input(self, title: str, placeholder: str = "", **given: Any) -> str | None:
        """A line of text; see `zot_core.ctx.protocols.Ui.input`."""
        answer: str | None = await self._ask("input", None, title, placeholder, **given)
        return answer

    async def editor(self, title: str, prefill: str = "", **given: Any) -> str | None:
        """Several lines of text; see `zot_core.ctx.protocols.Ui.editor`."""
        answer: str | None = await self._ask("editor", None, title, prefill, **given)
        return answer

    async def question(
        self, questions: Sequence[Mapping[str, Any]], *, wait_for_answer: bool = True, **given: Any
    ) -> Mapping[str, Any]:
        """Several questions; see `zot_core.ctx.protocols.Ui.question`."""
        runtime, request_id = self._live(), uuid4().hex
        no: Mapping[str, Any] = {"outcome": "cancelled", "answers": {}}
        asked = asking.question(runtime.bus.emit, request_id, questions, self._ask("question", no, questions, **given))
        if wait_for_answer or not runtime.has_ui:
            return await asked
        runtime.create_task(self._plugin, asked)
        return {"outcome": "asked", "answers": {}, "request_id": request_id}

    async def custom(self, factory: Callable[..., Any], **options: Any) -> Any:
        """A component until it is done; see `zot_core.ctx.protocols.Ui.custom`."""
        return await self._ask("custom", None, factory, **options)

    @property
    def renderers(self) -> PluginRenderers:
        """What this plugin draws itself."""
        return PluginRenderers(self._live, self._plugin)

    async def _ask(
        self, method: str, no: Any, *args: Any, signal: Signal | None = None, ephemeral: bool = False, **options: Any
    ) -> Any:
        """The mode's dialog, told as a span unless it is ephemeral, and dismissed when `signal` is aborted."""
        runtime = self._live()
        if ephemeral and runtime.mode == "rpc":
            return no
        if signal is not None and signal.aborted:
            return no

        async def dialog() -> Any:
            asked = getattr(self._form(runtime), method)(*args, **options)
            if method not in _DIALOGS or not runtime.has_ui or ephemeral:
                return await asked
            if method == "custom":
                return await runtime.prompt_span(method, str(options.get("title", "")), asked)
            labels = asking.labels_of(args[0]) if method == "question" else [str(args[0])]
            span = runtime.prompt_span(method, labels[0] if labels else "", asked)
            return await asking.blocked(runtime.bus.emit, labels, span)

        return await (dialog() if signal is None else _until(signal, dialog(), no))

    def _form(self, runtime: Runtime) -> Any:
        return runtime.front.ui.of(self._plugin, runtime)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._form(self._live()), name)


class PluginRenderers:
    """`ctx.ui.renderers`; see `zot_core.ctx.protocols.RenderersFacade`."""

    def __init__(self, live: Callable[[], Runtime], plugin: str) -> None:
        self._live = live
        self._plugin = plugin

    def message(self, custom_type: str, render: Callable[..., Any]) -> Callable[[], None]:
        """Draws custom messages of a type."""
        return self._live().renderers.add(self._plugin, MessageRenderer(custom_type=custom_type, render=render))

    def entry(
        self, custom_type: str, render: Callable[..., Any], *, replaces: Callable[[Any, Any], bool] | None = None
    ) -> Callable[[], None]:
        """Draws entries of a type."""
        item = EntryRenderer(custom_type=custom_type, render=render, replaces=replaces)
        return self._live().renderers.add(self._plugin, item)

    def markdown(self, transform: Callable[..., str]) -> Callable[[], None]:
        """Changes Markdown before it is shown."""
        return self._live().renderers.add(self._plugin, MarkdownTransformer(transform=transform))


async def _until(signal: Signal, dialog: Awaitable[Any], no: Any) -> Any:
    """The dialog's answer, or `no` once the signal is aborted."""
    task = asyncio.ensure_future(dialog)
    off = signal.on_abort(lambda: _cancel(task))
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task})
        raise
    finally:
        off()
    return no if task.cancelled() else task.result()


def _cancel(task: asyncio.Future[Any]) -> None:
    task.cancel()


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

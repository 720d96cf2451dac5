"""What plugins draw in the transcript: their messages and entries, their tools' rows, Markdown before it is shown.

A renderer that raises is named once, and the plain form is shown. Knows the session's renderers, no plugin.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from zot_cli.plain import clean
from zot_cli.repl.custom.lines import drawn
from zot_cli.repl.custom.parts import Owner, Parts
from zot_cli.repl.spans import Line
from zot_core.types.content import Text
from zot_core.types.messages import CustomMessage
from zot_core.types.record import record
from zot_core.types.specs import ToolResult, ToolSpec, resolve
from zot_core.ui.rendering import MarkdownContext, RenderContext, RenderOptions

if TYPE_CHECKING:
    from zot_cli.repl.look import Look
    from zot_cli.repl.state import Block, Card, Custom, ToolRow
    from zot_core.runtime.runtime import Runtime

ROWS_KEPT = 500
"""Tool rows whose state is kept, the latest."""
_FAILED = ("failed", "blocked")


@record(kw_only=True)
class ShownEntry:
    """An entry as its renderer gets it."""

    id: str
    custom_type: str
    data: Mapping[str, Any]


class Rendering:
    """Draws with the renderers of the session of now. Every method answers None (or the text) for the plain form."""

    def __init__(self, parts: Parts, runtime: Callable[[], Runtime | None]) -> None:
        self._parts, self._runtime = parts, runtime
        self._rows: OrderedDict[str, dict[str, Any]] = OrderedDict()

    def message(self, block: Custom, width: int, look: Look) -> list[Line] | None:
        """A plugin's message."""
        runtime = self._runtime()
        found = runtime.renderers.messages.get(block.custom_type) if runtime is not None else None
        if found is None:
            return None
        plugin, renderer = found
        message = CustomMessage(
            custom_type=block.custom_type, content=block.content, display=True, details=block.details
        )
        options = RenderOptions(expanded=look.expanded)
        what = f"the renderer of {block.custom_type} messages"
        return self._drawn(plugin, what, renderer.render, (message, options, look.theme), width)

    def entry(self, card: Card, width: int, look: Look) -> list[Line] | None:
        """A plugin's entry."""
        runtime = self._runtime()
        found = runtime.renderers.entries.get(card.custom_type) if runtime is not None else None
        if found is None:
            return None
        plugin, renderer = found
        options = RenderOptions(expanded=look.expanded)
        what = f"the renderer of {card.custom_type} entries"
        return self._drawn(plugin, what, renderer.render, (shown(card), options, look.theme), width)

    def call(self, row: ToolRow, width: int, look: Look) -> list[Line] | None:
        """A tool's call, by its own `render_call`."""
        found = self._tool(row)
        if found is None or found[1].render_call is None:
            return None
        plugin, tool = found
        return self._slot(plugin, tool.render_call, row, width, look, "call", (row.args, look.theme))

    def result(self, row: ToolRow, width: int, look: Look) -> list[Line] | None:
        """What came of a tool's call, by its own `render_result`; its progress too."""
        found = self._tool(row)
        if found is None or found[1].render_result is None or not (row.result or row.details or row.progress):
            return None
        plugin, tool = found
        content = row.result if row.done else (Text(row.progress),)
        result = ToolResult(content=content, details=row.details, is_error=row.status in _FAILED)
        options = RenderOptions(expanded=look.expanded, is_partial=not row.done)
        return self._slot(plugin, tool.render_result, row, width, look, "result", (result, options, look.theme))

    def own_shell(self, row: ToolRow) -> bool:
        """Whether a tool's renderers draw the frame of its row too."""
        found = self._tool(row)
        return found is not None and found[1].render_shell == "self"

    def markdown(
        self, text: str, kind: Literal["user", "assistant", "assistant-thinking"], streaming: bool, width: int
    ) -> str:
        """The Markdown that is to be shown."""
        runtime = self._runtime()
        rows = runtime.renderers.markdown if runtime is not None else ()
        context = MarkdownContext(message_type=kind, is_streaming=streaming, available_width=width) if rows else None
        for plugin, transformer in rows:
            try:
                changed = resolve(transformer.transform)(text, context)
                if not isinstance(changed, str):
                    raise TypeError(f"it answered {type(changed).__name__}, not text")
                text = changed
            except Exception as error:  # a plugin's transformer: the text so far is shown
                self._report(plugin, "a transformer of Markdown", error)
        return text

    def replaces(self, before: Block | None, card: Card) -> bool:
        """Whether an entry takes the place of the one directly before it."""
        from zot_cli.repl.state import Card

        runtime = self._runtime()
        found = runtime.renderers.entries.get(card.custom_type) if runtime is not None else None
        if found is None or not isinstance(before, Card) or before.custom_type != card.custom_type:
            return False
        plugin, renderer = found
        try:
            return renderer.replaces is not None and bool(resolve(renderer.replaces)(shown(before), shown(card)))
        except Exception as error:  # a plugin's renderer
            self._report(plugin, f"the renderer of {card.custom_type} entries", error)
            return False

    def has_entry(self, custom_type: str) -> bool:
        """Whether entries of a type are shown at all."""
        runtime = self._runtime()
        return runtime is not None and custom_type in runtime.renderers.entries

    def replaceable(self, custom_type: str) -> bool:
        """Whether a later entry may take the place of one of this type."""
        runtime = self._runtime()
        found = runtime.renderers.entries.get(custom_type) if runtime is not None else None
        return found is not None and found[1].replaces is not None

    # --- drawing -----------------------------------------------------------------------------------------------------

    def _tool(self, row: ToolRow) -> tuple[str, ToolSpec] | None:
        runtime = self._runtime()
        tool = runtime.toolbox.get(row.name) if runtime is not None and row.name else None
        if runtime is None or tool is None or (tool.render_call is None and tool.render_result is None):
            return None
        return runtime.toolbox.owner_of(row.name), tool

    def _slot(
        self, plugin: str, renderer: Any, row: ToolRow, width: int, look: Look, slot: str, args: tuple[Any, ...]
    ) -> list[Line] | None:
        kept = self._row(row.call_id)
        context = RenderContext(
            tool_call_id=row.call_id,
            args=row.args,
            state=kept["state"],
            cwd=self._cwd(),
            last_component=kept.get(slot),
            expanded=look.expanded,
            is_partial=not row.done,
            is_error=row.status in _FAILED,
            execution_started=row.status not in ("writing", "waiting"),
            args_complete=row.status != "writing",
            show_images=look.gallery is not None and look.gallery.on,
            keybindings=self._parts.keybindings,
            invalidate=self._parts.repl.draw,
        )

        def keep(component: Any) -> None:
            kept[slot] = component

        return self._drawn(plugin, f"render_{slot} of {row.name}", renderer, (*args, context), width, keep)

    def _row(self, call_id: str) -> dict[str, Any]:
        kept = self._rows.setdefault(call_id, {"state": {}})
        self._rows.move_to_end(call_id)
        while len(self._rows) > ROWS_KEPT:
            self._rows.popitem(last=False)
        return kept

    def _cwd(self) -> str:
        runtime = self._runtime()
        return runtime.cwd if runtime is not None else ""

    def _drawn(
        self,
        plugin: str,
        what: str,
        renderer: Any,
        args: tuple[Any, ...],
        width: int,
        keep: Callable[[Any], None] = lambda component: None,
    ) -> list[Line] | None:
        try:
            made = resolve(renderer)(*args)
            if made is None:
                return None
            keep(made)
            return drawn(made, width, look=self._parts.repl.look)
        except Exception as error:  # a plugin's renderer: the plain form is shown
            self._report(plugin, what, error)
            return None

    def _report(self, plugin: str, what: str, error: Exception) -> None:
        self._parts.report(Owner(plugin, self._runtime()), what, error)


def shown(card: Card) -> ShownEntry:
    """An entry as plugins get it."""
    return ShownEntry(id=card.id, custom_type=clean(card.custom_type), data=card.data)

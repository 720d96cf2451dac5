"""What plugins draw in the place of a screen's own: renderers of messages and entries, transformers of Markdown.

Contributions come first, by rank; what is registered in a session comes after them. Renders nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from zot_core.types.specs import EntryRenderer, MarkdownTransformer, MessageRenderer

if TYPE_CHECKING:
    from zot_core.runtime.runtime import Runtime

Renderer: TypeAlias = "MessageRenderer | EntryRenderer | MarkdownTransformer"


class Renderers:
    """The renderers of one session, each with its plugin's name. Of equal types the first stays, and it is said."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.messages: dict[str, tuple[str, MessageRenderer]] = {}
        self.entries: dict[str, tuple[str, EntryRenderer]] = {}
        self.markdown: list[tuple[str, MarkdownTransformer]] = []
        for hook in ("message_renderers", "entry_renderers", "markdown_transformers"):
            for plugin, item in runtime.contributed(hook):
                self.add(plugin, item)

    def add(self, plugin: str, item: Renderer) -> Callable[[], None]:
        """Adds a renderer of `plugin`; the answer takes it away."""
        row = (plugin, item)
        if isinstance(item, MarkdownTransformer):
            self.markdown.append((plugin, item))
            return lambda: self._remove(row)
        table: dict[str, tuple[str, Renderer]] = (
            self.messages if isinstance(item, MessageRenderer) else self.entries  # type: ignore[assignment]
        )
        first = table.setdefault(item.custom_type, row)
        if first is not row:
            what = "messages" if isinstance(item, MessageRenderer) else "entries"
            said = f"another renderer of {item.custom_type} {what} is not used; that of {first[0]} comes first"
            self._runtime.note(said, "warning", plugin)
        return lambda: self._remove(row)

    def _remove(self, row: tuple[str, Renderer]) -> None:
        self.markdown = [one for one in self.markdown if one != row]
        for table in (self.messages, self.entries):
            kept = {name: one for name, one in table.items() if one is not row}
            table.clear()
            table.update(kept)  # type: ignore[arg-type]

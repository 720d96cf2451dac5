"""A list that stays open while its entries are worked on: renamed, deleted, switched. Knows no terminal.

`ctx.ui.custom(lambda tui, theme, keybindings, done: Picker("Which?", items, ...))` shows one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from zot_core.types.record import record
from zot_core.ui.ansi import cut, wrap
from zot_core.ui.component import Component
from zot_core.ui.controls import SelectItem, SelectList
from zot_core.ui.keys import Keybindings

if TYPE_CHECKING:
    from zot_core.ui.editor import Tui
    from zot_core.ui.theme import Theme

_AROUND = 13
"""Rows of the screen that are not the list's: its title, hints and status, the conversation's end, the footer."""


@record(kw_only=True)
class RowAction:
    """What a key does with the marked entry, the list staying open.

    `id` is the action in keybindings.json, `keys` are those of an action that the application does not have.
    `run(item)` may be async, so it may ask with `ctx.ui`; without a marked entry it is called, with None, only if it
    needs none.
    """

    id: str
    text: str | Callable[[], str]
    run: Callable[[Any], object]
    keys: tuple[str, ...] = ()
    needs_row: bool = True


class Picker(Component):
    """A titled list with `actions`. `on_select(item)` and `on_cancel()` are called; `detail(item)` is a line on the
    marked entry; with `tui` it is no higher than the screen has room for. While it is open `items`, `title`, `empty`
    (what an empty list says) and `status` (a line below the list, until the next key) may be set."""

    def __init__(  # noqa: PLR0913 - a component's own
        self,
        title: str,
        items: Sequence[SelectItem],
        on_select: Callable[[SelectItem], object],
        on_cancel: Callable[[], object],
        *,
        actions: Sequence[RowAction] = (),
        detail: Callable[[SelectItem], str] = lambda item: "",
        empty: str = "nothing is here",
        theme: Theme | None = None,
        keybindings: Keybindings | None = None,
        tui: Tui | None = None,
        rows: int = 10,
    ) -> None:
        self.title, self.empty, self.status = title, empty, ""
        self._actions, self._detail = actions, detail
        self._theme, self._keys = theme, keybindings or Keybindings()
        self._working = False
        self._tui, self._rows = tui, rows
        self.list = SelectList(items, on_select, on_cancel, theme=theme, keybindings=self._keys, rows=rows)

    @property
    def items(self) -> list[SelectItem]:
        """Its entries."""
        return self.list.items

    @items.setter
    def items(self, items: Sequence[SelectItem]) -> None:
        self.list.replace(items)

    def render(self, width: int) -> list[str]:
        """Title, list, a line on the marked entry, what was said last, and the keys."""
        if self._tui is not None:
            self.list.rows = max(min(self._rows, self._tui.rows - _AROUND), 1)
        lines = [self._fg("accent", line) for line in wrap(self.title, width)]
        lines += self.list.render(width) if self.items else [self._fg("muted", f"  {self.empty}")]
        marked = self.list.selected
        if marked is not None and (detail := self._detail(marked)):
            lines.append(self._fg("dim", cut(f"  {detail}", width)))
        if self.status:
            lines += [self._fg("warning", line) for line in wrap(self.status, width)]
        return [*lines, *(self._fg("dim", line) for line in wrap(" · ".join(self._hints()), width))]

    def handle_key(self, key: str) -> Awaitable[None] | None:
        """A key of an action, else of the list. Awaits what an action's `run` answers."""
        self.status = ""
        for action in self._actions:
            if self._keys.matches(key, action.id) or (key in action.keys and not self._keys.keys(action.id)):
                marked = self.list.selected
                if self._working or (marked is None and action.needs_row):
                    return None
                return self._run(action, marked)
        self.list.handle_key(key)
        return None

    async def _run(self, action: RowAction, marked: SelectItem | None) -> None:
        self._working = True
        try:
            answer = action.run(marked)
            if isinstance(answer, Awaitable):
                await answer
        finally:
            self._working = False

    def _hints(self) -> list[str]:
        hints = [self._keys.hint("tui.select.confirm", "take")] if self.items else []
        for action in self._actions:
            if self.items or not action.needs_row:
                key = self._keys.key_text(action.id) or next(iter(action.keys), "")
                text = action.text if isinstance(action.text, str) else action.text()
                hints += [f"{key} {text}"] if key else []
        if not self.list.filter and self.items:
            hints.append("type to search")
        return [*hints, self._keys.hint("tui.select.cancel", "cancel")]

    def _fg(self, token: str, text: str) -> str:
        return self._theme.fg(token, text) if self._theme is not None else text

"""A list of settings that stays open while they are changed: a name, its value, where it comes from, what it is for.

`SettingsList(items, on_change, on_cancel, theme=theme, keybindings=keybindings)`. Keys are those of the `keybindings`
it is given. Knows no terminal and no settings file.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from zot_core.types.record import record
from zot_core.ui.ansi import CURSOR, cut, width_of, wrap
from zot_core.ui.component import Component
from zot_core.ui.controls import SelectItem, SelectList
from zot_core.ui.keys import Keybindings

if TYPE_CHECKING:
    from zot_core.ui.theme import Theme

CYCLED = 3
"""Values that a key goes through one by one; of more than these one is chosen from a list."""
DESCRIPTION_ROWS = 2
"""Lines for the marked setting's description, so that the list does not jump."""
STATUS_ROWS = 5


@record(kw_only=True)
class SettingItem:
    """A row: its `id`, what is shown, the `value` as text, and the `values` to choose from.

    `description` and `note` (where the value comes from) are shown too. `submenu(value, done)` makes a component that
    asks for the value in the place of the list; `done(None)` leaves it as it was.
    """

    id: str
    label: str = ""
    value: str = ""
    values: tuple[str, ...] = ()
    description: str = ""
    note: str = ""
    submenu: Callable[[str, Callable[[str | None], None]], Component] | None = None

    @property
    def text(self) -> str:
        """What is shown."""
        return self.label or self.id


class SettingsList(Component):
    """Rows to change; letters that are typed narrow them. Enter and space change the marked one: to its next value, or
    by a list or a component of its own. `on_change(id, value)` is told and may be async; it may set `status`, a line
    below the list until the next key, and put another row in with `update`."""

    def __init__(
        self,
        items: Sequence[SettingItem],
        on_change: Callable[[str, str], Awaitable[None] | None],
        on_cancel: Callable[[], object] = lambda: None,
        *,
        theme: Theme | None = None,
        keybindings: Keybindings | None = None,
        rows: int = 10,
        search: bool = True,
    ) -> None:
        self._items = list(items)
        self._on_change, self._on_cancel = on_change, on_cancel
        self._theme, self._keys = theme, keybindings or Keybindings()
        self._rows, self._search = rows, search
        self._at = 0
        self._submenu: Component | None = None
        self._answer: Awaitable[None] | None = None
        self.filter = ""
        self.status = ""

    @property
    def matching(self) -> list[SettingItem]:
        """The rows that have every typed word in them."""
        words = self.filter.casefold().split()
        return [one for one in self._items if all(word in f"{one.text} {one.description}".casefold() for word in words)]

    @property
    def selected(self) -> SettingItem | None:
        """The row that is marked."""
        found = self.matching
        return found[min(self._at, len(found) - 1)] if found else None

    def update(self, item: SettingItem) -> None:
        """Shows `item` in the place of the row with its id."""
        self._items = [item if one.id == item.id else one for one in self._items]

    def render(self, width: int) -> list[str]:
        """The filter if there is one, the rows around the marked one in columns, its description, and the keys; or what
        asks for its value."""
        marked = self.selected
        if self._submenu is not None and marked is not None:
            about = wrap(marked.description, max(width, 8))[:DESCRIPTION_ROWS] if marked.description else []
            head = [cut(self._fg("accent", marked.text), width), *(self._fg("muted", line) for line in about)]
            lines = [*head, *self._submenu.render(width), self._hint("takes it", "leaves it")]
            return [cut(line, width) for line in lines]
        return [cut(line, width) for line in self._lines(width, marked)]

    def _lines(self, width: int, marked: SettingItem | None) -> list[str]:
        found = self.matching
        self._at = max(0, min(self._at, len(found) - 1))
        first = max(0, min(self._at - self._rows // 2, len(found) - self._rows))
        lines = [f"{self._fg('dim', 'filter: ')}{self.filter}{CURSOR} "] if self.filter else []
        names = min(max((width_of(one.text) for one in self._items), default=0), max(width // 2 - 2, 8))
        values = min(max((width_of(one.value) for one in self._items), default=0), max(width // 4, 8))
        for number, item in enumerate(found[first : first + self._rows], first):
            lines.append(self._row(item, names, values, number == self._at))
        if not found:
            return [*lines, self._fg("muted", "  nothing matches"), *self._status(width)]
        if len(found) > self._rows:
            lines.append(self._fg("dim", f"  {self._at + 1} of {len(found)}"))
        about = wrap(marked.description, max(width - 2, 8))[:DESCRIPTION_ROWS] if marked is not None else []
        about += [""] * (DESCRIPTION_ROWS - len(about))
        return [*lines, "", *(f"  {self._fg('muted', line)}" for line in about), *self._status(width)]

    def handle_key(self, key: str) -> Awaitable[None] | None:
        """Moves, changes, closes, or narrows. The answer is that of an async `on_change`."""
        if self._submenu is not None:
            self._answer = None
            own = self._submenu.handle_key(key)
            return self._answer or own
        self.status = ""
        keys, found = self._keys, self.matching
        steps = {"up": -1, "down": 1, "page_up": -self._rows, "page_down": self._rows}
        step = next((step for name, step in steps.items() if keys.matches(key, f"tui.select.{name}")), 0)
        if keys.matches(key, "tui.select.cancel"):
            self._on_cancel()
            return None
        if keys.matches(key, "tui.select.confirm") or key == " ":
            return self._change(found[self._at]) if found else None
        if step:
            last = max(len(found) - 1, 0)
            at = self._at + step
            self._at = at % (last + 1) if abs(step) == 1 else max(0, min(at, last))
        elif self._search and key == "backspace":
            self.filter, self._at = self.filter[:-1], 0
        elif self._search and len(key) == 1 and key.isprintable():
            self.filter, self._at = self.filter + key, 0
        return None

    def invalidate(self) -> None:
        """Tells what asks for a value."""
        if self._submenu is not None:
            self._submenu.invalidate()

    def _change(self, item: SettingItem) -> Awaitable[None] | None:
        if item.submenu is not None:
            self._submenu = item.submenu(item.value, lambda value: self._chosen(item, value))
        elif len(item.values) > CYCLED:
            chooser = SelectList(
                [SelectItem(value=value) for value in item.values],
                lambda chosen: self._chosen(item, chosen.value),
                lambda: self._chosen(item, None),
                theme=self._theme,
                keybindings=self._keys,
                rows=self._rows,
            )
            chooser.mark(item.value)
            self._submenu = chooser
        elif item.values:
            at = item.values.index(item.value) if item.value in item.values else -1
            return self._on_change(item.id, item.values[(at + 1) % len(item.values)])
        return None

    def _chosen(self, item: SettingItem, value: str | None) -> None:
        self._submenu = None
        if value is not None and value != item.value:
            self._answer = self._on_change(item.id, value)

    def _row(self, item: SettingItem, names: int, values: int, here: bool) -> str:
        name, value = cut(item.text, names), cut(item.value, values)
        line = f"{self._fg('accent', '› ')}{name}" if here else f"  {name}"
        line += " " * (names - width_of(name) + 2) + (self._fg("accent", value) if here else value)
        note = " " * (values - width_of(value) + 2) + self._fg("dim", item.note) if item.note else ""
        return line + note

    def _status(self, width: int) -> list[str]:
        if self.status:
            return [self._fg("accent", line) for line in wrap(self.status, width)[:STATUS_ROWS]]
        return [self._hint("changes", "closes")]

    def _hint(self, confirm: str, cancel: str) -> str:
        keys = self._keys
        said = f"{keys.hint('tui.select.confirm', confirm)} · {keys.hint('tui.select.cancel', cancel)}"
        return self._fg("dim", said)

    def _fg(self, token: str, text: str) -> str:
        return self._theme.fg(token, text) if self._theme is not None else text

"""Components that people work with: lists to choose from, a line to type in, a loader that can be called off.

Their keys are those of the `keybindings` they are given. Knows no terminal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from zot_core.agent.cancel import Signal
from zot_core.types.record import record
from zot_core.ui.ansi import CURSOR, cut, plain, width_of
from zot_core.ui.component import Border, Component
from zot_core.ui.keys import Keybindings

if TYPE_CHECKING:
    from zot_core.ui.theme import Theme

_FRAMES = ("⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏")
_INTERVAL = 0.1


@record(kw_only=True)
class SelectItem:
    """An entry of a list: what is answered, what is shown (the value if that is empty), and a word on it. `search` is
    text that is not shown and finds it all the same."""

    value: Any
    label: str = ""
    description: str = ""
    search: str = ""

    @property
    def text(self) -> str:
        """What is shown."""
        return self.label or str(self.value)


class SelectList(Component):
    """Entries to choose from; letters that are typed narrow them. `on_select(item)` and `on_cancel()` are called."""

    def __init__(
        self,
        items: Sequence[SelectItem | str],
        on_select: Callable[[SelectItem], object],
        on_cancel: Callable[[], object] = lambda: None,
        *,
        theme: Theme | None = None,
        keybindings: Keybindings | None = None,
        rows: int = 10,
        filters: bool = True,
    ) -> None:
        self._items = [SelectItem(value=one) if isinstance(one, str) else one for one in items]
        self._on_select, self._on_cancel = on_select, on_cancel
        self._theme, self._keys = theme, keybindings or Keybindings()
        self.rows, self._filters = rows, filters
        self._at = 0
        self.filter = ""
        self._found: tuple[str, list[SelectItem]] | None = None

    @property
    def matching(self) -> list[SelectItem]:
        """The entries that have every typed word in them."""
        if self._found is None or self._found[0] != self.filter:
            words = self.filter.casefold().split()
            found = [one for one in self._items if all(word in _searched(one) for word in words)]
            self._found = (self.filter, found)
        return self._found[1]

    def mark(self, value: Any) -> None:
        """Marks the entry of that value; one that is not shown changes nothing."""
        self._at = next((at for at, one in enumerate(self.matching) if one.value == value), self._at)

    def replace(self, items: Sequence[SelectItem]) -> None:
        """Shows other entries. What was typed stays, and the mark stays on its entry, else where it was."""
        before = self.selected
        self._items, self._found = list(items), None
        if before is not None:
            self.mark(before.value)

    @property
    def items(self) -> list[SelectItem]:
        """Every entry."""
        return self._items

    @property
    def selected(self) -> SelectItem | None:
        """The entry that is marked."""
        found = self.matching
        return found[min(self._at, len(found) - 1)] if found else None

    def render(self, width: int) -> list[str]:
        """The filter if there is one, the entries around the marked one, and where one is in a long list."""
        found = self.matching
        self._at = max(0, min(self._at, len(found) - 1))
        first = max(0, min(self._at - self.rows // 2, len(found) - self.rows))
        lines = [f"{self._fg('dim', 'filter: ')}{self.filter}{CURSOR} "] if self.filter else []
        for number, item in enumerate(found[first : first + self.rows], first):
            here = number == self._at
            line = f"{self._fg('accent', '› ')}{item.text}" if here else f"  {item.text}"
            lines.append(cut(line + (self._fg("dim", f"  {item.description}") if item.description else ""), width))
        if not found:
            lines.append(self._fg("muted", "  nothing matches"))
        elif len(found) > self.rows:
            lines.append(self._fg("dim", f"  {self._at + 1} of {len(found)}"))
        return lines

    def handle_key(self, key: str) -> None:
        """Moves, takes, cancels, or narrows."""
        found, keys = self.matching, self._keys
        if keys.matches(key, "tui.select.cancel"):
            self._on_cancel()
        elif keys.matches(key, "tui.select.confirm"):
            if found:
                self._on_select(found[self._at])
        elif keys.matches(key, "tui.select.up"):
            self._at = (self._at - 1) % max(len(found), 1)
        elif keys.matches(key, "tui.select.down"):
            self._at = (self._at + 1) % max(len(found), 1)
        elif keys.matches(key, "tui.select.page_up"):
            self._at = max(self._at - self.rows, 0)
        elif keys.matches(key, "tui.select.page_down"):
            self._at = min(self._at + self.rows, max(len(found) - 1, 0))
        elif self._filters and key == "backspace":
            self.filter, self._at = self.filter[:-1], 0
        elif self._filters and len(key) == 1 and key.isprintable():
            self.filter, self._at = self.filter + key, 0

    def _fg(self, token: str, text: str) -> str:
        return self._theme.fg(token, text) if self._theme is not None else text


class Input(Component):
    """A line to type in. `on_submit(text)` and `on_cancel()` are called; `hidden` shows dots."""

    def __init__(
        self,
        on_submit: Callable[[str], object],
        on_cancel: Callable[[], object] = lambda: None,
        *,
        value: str = "",
        placeholder: str = "",
        hidden: bool = False,
        theme: Theme | None = None,
        keybindings: Keybindings | None = None,
    ) -> None:
        self.value = value
        self.at = len(value)
        self._on_submit, self._on_cancel = on_submit, on_cancel
        self._placeholder, self._hidden = placeholder, hidden
        self._theme, self._keys = theme, keybindings or Keybindings()

    def render(self, width: int) -> list[str]:
        """One line; a longer text is moved so that the cursor is seen."""
        mark = self._theme.fg("accent", "› ") if self._theme is not None else "› "
        if not self.value:
            word = self._placeholder
            return [mark + CURSOR + (self._theme.fg("dim", word) if self._theme is not None else word)]
        before = "•" * self.at if self._hidden else self.value[: self.at]
        after = "•" * (len(self.value) - self.at) if self._hidden else self.value[self.at :]
        while before and width_of(before) > max(width - 4, 1):
            before = before[1:]
        return [cut(f"{mark}{before}{CURSOR}{after or ' '}", width, "")]

    def handle_key(self, key: str) -> None:
        """Types, moves and erases; a paste loses its line breaks."""
        if self._keys.matches(key, "tui.select.cancel"):
            self._on_cancel()
        elif self._keys.matches(key, "tui.select.confirm"):
            self._on_submit(self.value)
        elif key == "backspace":
            self._put(self.value[: max(self.at - 1, 0)], self.value[self.at :])
        elif key == "delete":
            self._put(self.value[: self.at], self.value[self.at + 1 :])
        elif key == "ctrl+u":
            self._put("", self.value[self.at :])
        elif key == "ctrl+k":
            self._put(self.value[: self.at], "")
        elif key in ("left", "right"):
            self.at = max(0, min(self.at + (1 if key == "right" else -1), len(self.value)))
        elif key in ("home", "ctrl+a", "end", "ctrl+e"):
            self.at = 0 if key in ("home", "ctrl+a") else len(self.value)
        elif len(key) == 1 or not is_key_name(key):
            self._put(self.value[: self.at] + plain(key).replace("\n", " "), self.value[self.at :])

    def _put(self, before: str, after: str) -> None:
        self.value, self.at = before + after, len(before)


class BorderedLoader(Component):
    """A spinner between two rules while something goes on; `signal` is aborted when the person cancels."""

    def __init__(
        self,
        tui: Any,
        theme: Theme,
        message: str,
        *,
        keybindings: Keybindings | None = None,
        on_cancel: Callable[[], object] = lambda: None,
    ) -> None:
        self.message = message
        self.signal = Signal()
        self._tui, self._theme = tui, theme
        self._keys, self._on_cancel = keybindings or Keybindings(), on_cancel
        self._rule = Border(lambda text: theme.fg("border", text))
        self._timer: asyncio.TimerHandle | None = None

    def render(self, width: int) -> list[str]:
        """Four lines; the spinner moves as long as they are drawn."""
        loop = asyncio.get_running_loop()
        if self._timer is None and not self.signal.aborted:
            self._timer = loop.call_later(_INTERVAL, self._tick)
        frame = _FRAMES[int(loop.time() / _INTERVAL) % len(_FRAMES)]
        rule = self._rule.render(width)
        hint = self._theme.fg("dim", self._keys.hint("tui.select.cancel", "to cancel"))
        return [*rule, cut(f"{self._theme.fg('accent', frame)} {self.message}", width), hint, *rule]

    def handle_key(self, key: str) -> None:
        """Cancels."""
        if self._keys.matches(key, "tui.select.cancel") and not self.signal.aborted:
            self.signal.abort()
            self._on_cancel()

    def _tick(self) -> None:
        self._timer = None
        self._tui.request_render()


def _searched(item: SelectItem) -> str:
    return f"{item.text} {item.description} {item.search}".casefold()


_NAMED = frozenset(
    "enter tab backspace delete insert esc up down left right home end pageup pagedown".split()  # noqa: SIM905
)


def is_key_name(key: str) -> bool:
    """Whether `key`, as `handle_key` has it, is a key's name and not a text that was typed or pasted."""
    parts = key.split("+")
    if len(parts) > 1 and set(parts[:-1]) <= {"ctrl", "alt", "shift"} and parts[-1]:
        return True
    return key in _NAMED or (key[:1] == "f" and key[1:].isdecimal() and 0 < int(key[1:]) < 25)

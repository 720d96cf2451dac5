"""The stage: what has taken the editor's place (a dialog, a panel, a plugin's component), and its keys.

A component is `render(width) -> lines` and `handle_key(key)`; one that breaks is closed and named, and the application
goes on. Knows no dialog.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from prompt_toolkit.data_structures import Point
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import ALL_KEYS, Keys
from prompt_toolkit.layout import FormattedTextControl, Window
from prompt_toolkit.layout.dimension import Dimension

from zot_cli.repl.modified_keys import is_escape
from zot_cli.repl.spans import Line, cut, line_width

CURSOR = "cursor"
"""The style of the span before which the terminal's cursor is put."""
_NOT_KEYS = frozenset(
    {"<any>", "<bracketed-paste>", "<cursor-position-response>", "<ignore>", "<scroll-down>", "<scroll-up>"}
    | {"<sigint>", "<vt100-mouse-event>", "<windows-mouse-event>"}
)
NAMED_KEYS = tuple(key for key in ALL_KEYS if key not in _NOT_KEYS)
"""Every key with a name; prompt-toolkit ignores some of them unless they are bound by it."""
_NAMES = {
    "c-m": "enter",
    "c-i": "tab",
    "s-tab": "shift+tab",
    "c-h": "backspace",
    "escape": "esc",
    "c-?": "backspace",
}


class Component(Protocol):
    """What can take the editor's place."""

    def render(self, width: int) -> list[Line]:
        """Its lines, none wider than `width`."""

    def handle_key(self, key: str) -> None:
        """A key: `up`, `enter`, `esc`, `ctrl+x`, or the character typed; a paste comes as one text."""


class Stage:
    """A stack of components; the top one is shown and has the keys. `broken(component, error)` is told of one that
    broke, after it was closed."""

    def __init__(self, draw: Callable[[], None]) -> None:
        self._stack: list[Component] = []
        self._draw = draw
        self._cursor = Point(0, 0)
        self._width = 79
        self.broken: Callable[[Component, Exception], None] = lambda component, error: None
        self.control = FormattedTextControl(
            self._fragments, focusable=True, show_cursor=True, get_cursor_position=lambda: self._cursor
        )
        self.container = Window(self.control, height=self._height, wrap_lines=False, dont_extend_height=True)

    @property
    def active(self) -> bool:
        """Whether something has the editor's place."""
        return bool(self._stack)

    @property
    def depth(self) -> int:
        """How many components are open."""
        return len(self._stack)

    def show(self, component: Component) -> None:
        """Puts a component on top."""
        self._stack.append(component)
        self._draw()

    def close(self, component: Component) -> None:
        """Takes a component away, wherever in the stack it is."""
        if component in self._stack:
            self._stack.remove(component)
            self._draw()

    def bind(self, keys: KeyBindings) -> None:
        """Adds the keys of components: all of them, while one is shown."""
        active = Condition(lambda: self.active)

        @keys.add(Keys.Any, filter=active)
        @keys.add(Keys.BracketedPaste, filter=active)
        def pressed(event: KeyPressEvent) -> None:
            press = event.key_sequence[-1]
            if press.key is Keys.BracketedPaste:
                self.paste(press.data)
            elif press.data or len(press.key) > 1:  # what has no data came with Alt, and means nothing
                self.press(named(str(getattr(press.key, "value", press.key)), press.data))

        for name in NAMED_KEYS:

            @keys.add(name, filter=active, eager=name != "escape")
            def named_key(event: KeyPressEvent, name: str = name) -> None:
                if name != "escape" or is_escape(event.key_sequence[0]):
                    self.press(named(name, ""))

    def paste(self, text: str) -> None:
        """A pasted text for the top component: its `handle_paste`, where it tells a word from a key's name, or else its
        `handle_key`."""
        if self._stack:
            self._hand(getattr(self._stack[-1], "handle_paste", None) or self._stack[-1].handle_key, text)

    def press(self, key: str) -> None:
        """A key for the top component."""
        if self._stack:
            self._hand(self._stack[-1].handle_key, key)

    def _hand(self, handle: Callable[[str], object], key: str) -> None:
        top = self._stack[-1]
        try:
            handle(key)
        except Exception as error:  # a plugin's component
            self._failed(top, error)
        self._draw()

    def measure(self, width: int) -> None:
        """The width that the next rendering has."""
        self._width = width

    def _height(self) -> Dimension:
        return Dimension.exact(max(len(self._lines()), 1))

    def _lines(self) -> list[Line]:
        while self._stack:
            top = self._stack[-1]
            try:
                return [cut(line, self._width) for line in top.render(self._width)]
            except Exception as error:  # a plugin's component
                self._failed(top, error)
        return []

    def _fragments(self) -> StyleAndTextTuples:
        fragments: StyleAndTextTuples = []
        self._cursor = Point(0, 0)
        for number, line in enumerate(self._lines()):
            if number:
                fragments.append(("", "\n"))
            column = 0
            for style, text in line:
                if CURSOR in style.split():
                    self._cursor = Point(column, number)
                    style = style.replace(CURSOR, "")
                fragments.append((style.replace("dim", ""), text))
                column += line_width([(style, text)])
        return fragments

    def _failed(self, component: Component, error: Exception) -> None:
        self.close(component)
        self.broken(component, error)


def named(key: str, data: str) -> str:
    """A key in the words of components."""
    if key in _NAMES:
        return _NAMES[key]
    if key.startswith("c-s-"):
        return f"ctrl+shift+{key[4:]}"
    if key.startswith(("c-", "s-")):
        return f"{'ctrl' if key[0] == 'c' else 'shift'}+{key[2:]}"
    return key if len(key) > 1 else data or key

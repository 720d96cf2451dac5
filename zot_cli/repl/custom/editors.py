"""A custom editor in the place of zot's own: it gets every key first, and what it passes on does what it always does.

One that breaks is taken away and zot's own is back, with what was typed. Knows no plugin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from prompt_toolkit.application.current import get_app
from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import KEY_ALIASES, Keys
from prompt_toolkit.layout import BufferControl, UIContent, Window

from zot_cli.repl.components import NAMED_KEYS, Component, Stage, named
from zot_cli.repl.custom.held import Held
from zot_cli.repl.custom.parts import Owner, Parts
from zot_cli.repl.keys import pt_keys
from zot_cli.repl.modified_keys import is_escape
from zot_core.ui.controls import is_key_name

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl

_DATA = {"c-m": "\r", "c-j": "\n", "c-i": "\t", "escape": "\x1b"}


class Passed(KeyPress):
    """A key that a custom editor has passed on."""


class _Control(BufferControl):
    """The editor's buffer, for the keys that edit it, drawn as the component draws it."""

    def __init__(self, repl: Repl, stage: Stage) -> None:
        super().__init__(repl.editor.buffer, focusable=True)
        self._stage = stage

    def create_content(self, width: int, height: int, preview_search: bool = False) -> UIContent:
        self.buffer.load_history_if_not_yet_loaded()
        return self._stage.control.create_content(width, height)


class Editors:
    """The custom editor in use, if any. `factory` is the plugin's, for others to wrap."""

    def __init__(self, repl: Repl, parts: Parts) -> None:
        self._repl, self._parts = repl, parts
        self._stage = Stage(repl.draw)
        self._stage.broken = self._broke
        self._window = Window(
            _Control(repl, self._stage), height=self._stage.container.height, wrap_lines=False, dont_extend_height=True
        )
        self._held: Held | None = None
        self.factory: Callable[..., Any] | None = None

    @property
    def container(self) -> Window | None:
        """Where the custom editor is drawn; None while zot's own is in use."""
        if self._held is None:
            return None
        self._stage.measure(self._repl.screen.width)
        return self._window

    @property
    def embeds(self) -> bool:
        """Whether a custom editor is in use that draws the working status itself."""
        return self._held is not None and bool(getattr(self._held.component, "embed_working_status", False))

    def use(self, owner: Owner, factory: Callable[..., Any] | None) -> None:
        """Takes the editor that `factory(tui, theme, keybindings)` makes; None is zot's own."""
        self.forget()
        if factory is None:
            return
        try:
            component = factory(self._parts.tui, self._parts.theme, self._parts.keybindings)
        except Exception as error:  # a plugin's factory
            self._parts.report(owner, "set_editor_component", error)
            return
        self._held = Held(self._parts, owner, component, lambda _: self.forget())
        self.factory = factory
        self._stage.show(self._held)

    def forget(self) -> None:
        """Zot's own editor is back."""
        if self._held is not None:
            self._stage.close(self._held)
        self._held = self.factory = None

    def bindings(self) -> KeyBindings:
        """All keys, while a custom editor is in use and nothing is in its place."""
        keys = KeyBindings()
        mine = Condition(self._has_keys)

        def bind(name: str, *, eager: bool) -> None:
            @keys.add(name, filter=mine, eager=eager)
            def pressed(event: KeyPressEvent) -> None:
                press = event.key_sequence[-1]
                if press.key is Keys.BracketedPaste:
                    self._press(press.data, event)
                elif is_escape(press) or (press.key is not Keys.Escape and (press.data or len(press.key) > 1)):
                    self._press(named(str(getattr(press.key, "value", press.key)), press.data), event)

        for name in (Keys.Any.value, Keys.BracketedPaste.value, *NAMED_KEYS):
            bind(name, eager=name != "escape")  # an eager Esc would take the keys with Alt apart; others mean nothing
        return keys

    def _has_keys(self) -> bool:
        if self._held is None or self._repl.stage.active or self._repl.overlays.has_keys:
            return False
        buffer = get_app().key_processor.key_buffer
        return not (buffer and isinstance(buffer[-1], Passed))

    def _press(self, key: str, event: KeyPressEvent) -> None:
        text = self._parts.tui.editor
        text.pressed.clear()
        self._stage.press(key)
        presses = [press for one in text.pressed for press in passed(one)]
        text.pressed.clear()
        event.app.key_processor.feed_multiple(presses, first=True)

    def _broke(self, component: Component, error: Exception) -> None:
        assert isinstance(component, Held)
        self._held = self.factory = None
        self._parts.report(component.owner, "its editor", error)


def passed(key: str) -> list[KeyPress]:
    """A key as components name it, or a text, as prompt-toolkit is fed it."""
    names = pt_keys(key) if len(key) == 1 or is_key_name(key) else None
    if names is None:
        return [Passed(Keys.BracketedPaste, key)] if key else []
    found: list[KeyPress] = []
    for name in names:
        known = KEY_ALIASES.get(name, name)
        if len(known) == 1:
            found.append(Passed(key if len(key) == 1 else known, key if len(key) == 1 else known))
        else:
            found.append(Passed(Keys(known), _DATA.get(known, "")))
    return found

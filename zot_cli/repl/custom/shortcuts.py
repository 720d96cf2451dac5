"""Keys of plugins. The application's own keys come first; of two plugins the first by rank has a key; both are said."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import DynamicKeyBindings, KeyBindings, KeyBindingsBase, KeyPressEvent

from zot_cli.repl.custom.parts import Owner
from zot_cli.repl.keys import ACTIONS, place_of, pt_keys
from zot_core.types.specs import ShortcutSpec, resolve

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl
    from zot_core.runtime.runtime import Runtime


class Shortcuts:
    """The shortcuts of the session of now; another session's are looked up when its first key is pressed."""

    def __init__(self, repl: Repl) -> None:
        self._repl = repl
        self._runtime: Runtime | None = None
        self._keys = KeyBindings()
        self.rows: list[tuple[str, ShortcutSpec]] = []
        """(plugin, shortcut) of those that have their key."""

    def bindings(self) -> KeyBindingsBase:
        """The keys in force."""
        return DynamicKeyBindings(self.load)

    def load(self) -> KeyBindings:
        """Collects the session's shortcuts, once a session."""
        app = self._repl.app
        if app is None or app.runtime is self._runtime:
            return self._keys
        runtime = self._runtime = app.runtime
        self._keys, self.rows = KeyBindings(), []
        taken = {pt_keys(key): action.id for action in ACTIONS if place_of(action.id) == "app"
                 for key in self._repl.keymap.keys(action.id)}  # fmt: skip
        for plugin, shortcut in runtime.contributed("shortcuts"):
            sequence = pt_keys(shortcut.key)
            if sequence is None or (len(sequence) == 1 and len(sequence[0]) == 1):
                runtime.note(f"{shortcut.key!r} is no key of a shortcut; write ctrl+x, alt+x or f5", "warning", plugin)
            elif sequence in taken:
                said = f"the shortcut {shortcut.key} is not bound: it is the key of {taken[sequence]}"
                runtime.note(said, "warning", plugin)
            else:
                taken[sequence] = f"a shortcut of {plugin}"
                self.rows.append((plugin, shortcut))
                self._bind(plugin, shortcut, sequence, runtime)
        return self._keys

    def _bind(self, plugin: str, shortcut: ShortcutSpec, sequence: tuple[str, ...], runtime: Runtime) -> None:
        editing = Condition(lambda: not self._repl.stage.active)

        @self._keys.add(*sequence, filter=editing, eager=len(sequence) == 1)
        def pressed(event: KeyPressEvent) -> None:
            self._repl.begin(self._run(plugin, shortcut, runtime), "shortcut")

    async def _run(self, plugin: str, shortcut: ShortcutSpec, runtime: Runtime) -> None:
        try:
            answer: Any = resolve(shortcut.handler)(runtime.context(plugin))
            if inspect.isawaitable(answer):
                await answer
        except Exception as error:  # a plugin's handler
            self._repl.ui.parts.report(Owner(plugin, runtime), f"the shortcut {shortcut.key}", error)

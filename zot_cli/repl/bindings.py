"""Keys of the application: which action each has, and what it does. The editor's own keys are the editor's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition, Filter
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from zot_cli.repl.actions import Actions
from zot_cli.repl.keys import pt_keys
from zot_cli.repl.modified_keys import is_escape, register

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl


def bindings(repl: Repl) -> KeyBindings:
    """The application's keys in force."""
    register()
    keys = KeyBindings()
    editing = Condition(lambda: not repl.stage.active)

    def on(action: str, does: Callable[[], None], *, when: Filter = editing) -> None:
        for key in repl.keymap.keys(action):
            sequence = pt_keys(key)
            if sequence is None:
                continue

            @keys.add(*sequence, filter=when, eager=len(sequence) == 1 and action != "app.abort")
            def pressed(event: KeyPressEvent, alone: bool = sequence == ("escape",)) -> None:
                if alone and not is_escape(event.key_sequence[0]):
                    return  # a key with Alt that means nothing ends no run
                does()
                repl.draw()

    on("app.submit", repl.sending.submit)
    on("app.follow_up", lambda: repl.sending.submit(other_way=True))
    on("app.newline", lambda: repl.editor.buffer.insert("\n"))
    on("app.abort", repl.interrupt)
    on("app.clear", repl.clear_or_leave)
    on("app.exit", repl.leave, when=editing & Condition(lambda: not repl.editor.shown))
    on("app.queue.take_back", repl.sending.take_back)
    for action, does in Actions(repl).table.items():
        on(action, does)
    menu = editing & Condition(lambda: repl.menu.open)
    on("tui.select.up", lambda: repl.menu.move(-1), when=menu)
    on("tui.select.down", lambda: repl.menu.move(1), when=menu)
    on("tui.input.tab", lambda: None if repl.menu.take() else repl.menu.look_up(forced=True))
    repl.stage.bind(keys)
    return keys

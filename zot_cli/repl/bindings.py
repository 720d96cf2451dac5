"""Keys of the application: which action each has, and what it does. The editor's own keys are the editor's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition, Filter
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from zot_cli.repl.actions import Actions
from zot_cli.repl.keys import pt_keys

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl

_SHIFT_ENTER = ("\x1b[27;2;13~", "\x1b[13;2u")
"""What terminals send for Shift-Enter; prompt-toolkit takes the one for Enter and types the other."""


def bindings(repl: Repl) -> KeyBindings:
    """The application's keys in force."""
    _register_shift_enter()
    keys = KeyBindings()
    editing = Condition(lambda: not repl.stage.active)

    def on(action: str, does: Callable[[], None], *, when: Filter = editing) -> None:
        for key in repl.keymap.keys(action):
            sequence = pt_keys(key)
            if sequence is None:
                continue

            @keys.add(*sequence, filter=when, eager=len(sequence) == 1 and action != "app.abort")
            def pressed(event: KeyPressEvent) -> None:
                does()
                repl.draw()

    on("app.submit", repl.sending.submit)
    on("app.follow_up", lambda: repl.sending.submit(follow_up=True))
    on("app.newline", lambda: repl.editor.buffer.insert_text("\n"))
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


def _register_shift_enter() -> None:
    from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
    from prompt_toolkit.keys import Keys

    for sequence in _SHIFT_ENTER:
        ANSI_SEQUENCES[sequence] = (Keys.Escape, Keys.F20)

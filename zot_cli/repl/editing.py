"""The keys of the editor: what each action of `keys.EDITING` does to what is typed. Knows no session."""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit.filters import has_focus
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from zot_cli.repl.keys import EDITING, Keymap, pt_keys
from zot_cli.repl.typed import Typing

PAGE = 10
"""Rows that PageUp and PageDown go."""
_Command = Callable[[Typing, int], None]


def _times(step: Callable[[Typing], int]) -> _Command:
    """Moves to where `step` says, as often as the count says."""

    def command(text: Typing, count: int) -> None:
        for _ in range(count):
            text.move(step(text))

    return command


def _selects(step: Callable[[Typing], int]) -> _Command:
    return lambda text, count: text.move(step(text), select=True)


def _deletes(span: Callable[[Typing, int], tuple[int, int]]) -> _Command:
    """Deletes the part that `span` says for the cursor's place; what is selected goes before."""

    def command(text: Typing, count: int) -> None:
        if text.drop_selection():
            return
        for _ in range(count):
            text.remove(*span(text, text.cursor_position))

    return command


def _kills(span: Callable[[Typing, int], tuple[int, int]]) -> _Command:
    def command(text: Typing, count: int) -> None:
        for _ in range(count):
            text.kill(*span(text, text.cursor_position))

    return command


def _to_end(text: Typing, at: int) -> tuple[int, int]:
    """The rest of the line; at its end the line break."""
    return at, max(text.line_end(at), min(at + 1, len(text.text)))


def _to_start(text: Typing, at: int) -> tuple[int, int]:
    """The line before the cursor; at its beginning the line break."""
    return min(text.line_start(at), max(at - 1, 0)), at


COMMANDS: dict[str, _Command] = {
    "left": _times(lambda text: text.before(text.cursor_position)),
    "right": _times(lambda text: text.after(text.cursor_position)),
    "word_left": _times(lambda text: text.word_before(text.cursor_position)),
    "word_right": _times(lambda text: text.word_after(text.cursor_position)),
    "line_start": _times(lambda text: text.line_start(text.cursor_position)),
    "line_end": _times(lambda text: text.line_end(text.cursor_position)),
    "start": _times(lambda text: 0),
    "end": _times(lambda text: len(text.text)),
    "up": lambda text, count: text.up(count),
    "down": lambda text, count: text.down(count),
    "page_up": lambda text, count: _page(text, -PAGE),
    "page_down": lambda text, count: _page(text, PAGE),
    "older": lambda text, count: text.history_backward(count),
    "newer": lambda text, count: text.history_forward(count),
    "select_left": _selects(lambda text: text.before(text.cursor_position)),
    "select_right": _selects(lambda text: text.after(text.cursor_position)),
    "delete_left": _deletes(lambda text, at: (text.before(at), at)),
    "delete_right": _deletes(lambda text, at: (at, text.after(at))),
    "kill_word_left": _kills(lambda text, at: (text.word_before(at), at)),
    "kill_to_blank": _kills(lambda text, at: (text.blank_before(at), at)),
    "kill_word_right": _kills(lambda text, at: (at, text.word_after(at))),
    "kill_to_end": _kills(_to_end),
    "kill_to_start": _kills(_to_start),
    "yank": lambda text, count: text.yank(),
    "yank_pop": lambda text, count: text.yank_pop(),
    "undo": lambda text, count: text.undo(),
    "redo": lambda text, count: text.redo(),
    "swap_characters": lambda text, count: text.swap_characters(),
    "swap_words": lambda text, count: text.swap_words(),
    "uppercase": lambda text, count: text.recase(str.upper),
    "lowercase": lambda text, count: text.recase(str.lower),
    "capitalize": lambda text, count: text.recase(str.title),
}
"""By the last part of the action's id."""
_CHANGES = ("kill", "yank", "swap", "uppercase", "lowercase", "capitalize")
"""Those that are a step of undo each; deletions in a row are one, and moves are none."""


def editing(text: Typing, keymap: Keymap, edited: Callable[[], None] = lambda: None) -> KeyBindings:
    """The keys of the editor in force, while it has the keys; `edited` is told when one changed the text."""
    keys = KeyBindings()
    here = has_focus(text)

    def bind(name: str, command: _Command, sequence: tuple[str, ...]) -> None:
        def saves(event: KeyPressEvent) -> bool:
            if name.startswith("delete"):
                return not event.is_repeat or text.at_chip
            return name.startswith(_CHANGES)

        @keys.add(*sequence, filter=here, save_before=saves)
        def pressed(event: KeyPressEvent) -> None:
            _told(text, edited, lambda: command(text, max(event.arg, 1)))

    usual = {key for action in EDITING for key in action.keys}
    for key in usual - {key for action in EDITING for key in keymap.keys(action.id)}:
        keys.add(*(pt_keys(key) or ("c-q",)), filter=here)(_nothing)  # the person's file has taken it away
    for action in EDITING:
        name = action.id.rpartition(".")[2]
        for key in keymap.keys(action.id):
            if sequence := pt_keys(key):
                bind(name, COMMANDS[name], sequence)

    @keys.add(Keys.Any, filter=here, save_before=lambda event: _begins_step(text, event))
    def typed(event: KeyPressEvent) -> None:
        if letter := _letter(event):
            _told(text, edited, lambda: text.insert(letter * max(event.arg, 1)))

    for sequence in (("c-q",), ("c-z",), ("escape", "#"), ("escape", "*")):
        keys.add(*sequence, filter=here)(_nothing)
    return keys


def _told(text: Typing, edited: Callable[[], None], change: Callable[[], None]) -> None:
    before = text.text
    change()
    if text.text != before:
        edited()


def _nothing(event: KeyPressEvent) -> None:
    """readline takes the next key as it is, inserts ^Z, sends the line as a comment, puts in all completions."""


def _page(text: Typing, step: int) -> None:
    if not text.move_rows(step):
        text.move(0 if step < 0 else len(text.text))


def _letter(event: KeyPressEvent) -> str:
    """The character that was typed, "" for a key that is none, or that came with Alt: that is not for the text."""
    press = event.key_sequence[-1]
    return "" if isinstance(press.key, Keys) or not press.data else press.key


def _begins_step(text: Typing, event: KeyPressEvent) -> bool:
    """Whether typing this letter is a new step of undo: the first after something else, and each word."""
    before = text.text[text.cursor_position - 1 : text.cursor_position]
    return not event.is_repeat or (before.isspace() and not _letter(event).isspace())

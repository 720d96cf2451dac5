"""What can be done with keys: actions by id, the keys they have by default, and those of `keybindings.json`.

Ids are namespaced as plugins name them, `app.*` for the application and `tui.*` for lists and dialogs. Knows no screen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zot_core.types.record import record


@record
class Action:
    """One thing that keys do."""

    id: str
    keys: tuple[str, ...]
    help: str


ACTIONS: tuple[Action, ...] = (
    Action("app.submit", ("enter",), "send; while a run goes on, join it at its next step (setting `queue.enter`)"),
    Action("app.follow_up", ("alt+enter",), "send when the run is over; with `queue.enter` as `follow_up`, join it"),
    Action("app.newline", ("shift+enter", "ctrl+j"), "a new line"),
    Action("app.abort", ("esc",), "close a menu, else end the run and take back what is queued"),
    Action("app.clear", ("ctrl+c",), "clear what is typed, else end the run; twice leaves"),
    Action("app.exit", ("ctrl+d",), "leave, on an empty line"),
    Action("app.suspend", ("ctrl+z",), "suspend zot; `fg` brings it back"),
    Action("app.tools.expand", ("ctrl+o",), "the whole transcript, tool results whole"),
    Action("app.thinking.toggle", ("ctrl+t",), "show or hide what the model thinks"),
    Action("app.thinking.cycle", ("shift+tab",), "the next thinking level"),
    Action("app.model.select", ("ctrl+l",), "choose a model"),
    Action("app.model.cycle", ("ctrl+p",), "the next model, of those of `--models` or of all"),
    Action("app.model.cycle_back", ("alt+p",), "the model before"),
    Action("app.editor.external", ("ctrl+g",), "write in $VISUAL or $EDITOR"),
    Action("app.queue.take_back", ("alt+up",), "take what is queued back into the editor"),
    Action("app.paste.image", ("ctrl+v",), "paste a picture from the clipboard"),
    Action("app.widget.action", ("alt+w",), "run what a plugin's widget offers"),
    Action("app.history.search", ("ctrl+r",), "search what was typed before"),
    Action("app.session.rename", ("ctrl+r",), "in the list of sessions: rename one"),
    Action("app.session.delete", ("ctrl+d",), "in the list of sessions: delete one, once it is confirmed"),
    Action("app.session.all", ("tab",), "in the list of sessions: those of all projects, or of this one"),
    Action("tui.select.up", ("up", "ctrl+p"), "the entry before"),
    Action("tui.select.down", ("down", "ctrl+n"), "the entry after"),
    Action("tui.select.page_up", ("pageup",), "a page back"),
    Action("tui.select.page_down", ("pagedown",), "a page on"),
    Action("tui.select.confirm", ("enter",), "take the entry"),
    Action("tui.select.cancel", ("esc", "ctrl+c"), "close without a choice"),
    Action("tui.input.tab", ("tab",), "complete, or the next field"),
)
"""Every action, in the order of the reference page."""

EDITING: tuple[Action, ...] = (
    Action("tui.editor.left", ("left", "ctrl+b"), "a character back"),
    Action("tui.editor.right", ("right", "ctrl+f"), "a character on"),
    Action("tui.editor.word_left", ("alt+b", "ctrl+left", "alt+left"), "a word back"),
    Action("tui.editor.word_right", ("alt+f", "ctrl+right", "alt+right"), "a word on"),
    Action("tui.editor.line_start", ("home", "ctrl+a"), "the beginning of the line"),
    Action("tui.editor.line_end", ("end", "ctrl+e"), "the end of the line"),
    Action("tui.editor.start", ("ctrl+home", "alt+<"), "the beginning of the text"),
    Action("tui.editor.end", ("ctrl+end", "alt+>"), "the end of the text"),
    Action("tui.editor.up", ("up",), "a row up; from the first, what was typed before"),
    Action("tui.editor.down", ("down", "ctrl+n"), "a row down; from the last, what was typed after, and the draft"),
    Action("tui.editor.page_up", ("pageup",), "ten rows up"),
    Action("tui.editor.page_down", ("pagedown",), "ten rows down"),
    Action("tui.editor.older", ("ctrl+up",), "what was typed before, from any row"),
    Action("tui.editor.newer", ("ctrl+down",), "what was typed after, from any row"),
    Action("tui.editor.select_left", ("shift+left",), "select a character back"),
    Action("tui.editor.select_right", ("shift+right",), "select a character on"),
    Action("tui.editor.delete_left", ("backspace", "shift+backspace", "ctrl+h"), "delete the character before"),
    Action("tui.editor.delete_right", ("delete", "ctrl+d"), "delete the character after"),
    Action("tui.editor.kill_word_left", ("alt+backspace", "ctrl+backspace"), "cut the word before"),
    Action("tui.editor.kill_to_blank", ("ctrl+w",), "cut back to a blank"),
    Action("tui.editor.kill_word_right", ("alt+d", "ctrl+delete", "alt+delete"), "cut the word after"),
    Action("tui.editor.kill_to_end", ("ctrl+k",), "cut to the end of the line"),
    Action("tui.editor.kill_to_start", ("ctrl+u",), "cut to the beginning of the line"),
    Action("tui.editor.yank", ("ctrl+y",), "put in what was cut last; cuts in a row are one"),
    Action("tui.editor.yank_pop", ("alt+y",), "then: what was cut before that"),
    Action("tui.editor.undo", ("ctrl+_", "ctrl+x ctrl+u"), "undo"),
    Action("tui.editor.redo", ("alt+_", "ctrl+x ctrl+r"), "redo what was undone"),
    Action("tui.editor.swap_characters", ("ctrl+x ctrl+t",), "swap the two characters around the cursor"),
    Action("tui.editor.swap_words", ("alt+t",), "swap the two words around the cursor"),
    Action("tui.editor.uppercase", ("alt+u",), "the word in capitals"),
    Action("tui.editor.lowercase", ("alt+l",), "the word in small letters"),
    Action("tui.editor.capitalize", ("alt+c",), "the word with a capital"),
)
"""What keys do to the text while it is typed; `app.*` keys come first where both have one."""

_PT = {
    "esc": ("escape",),
    "enter": ("enter",),
    "shift+enter": ("escape", "f20"),
    "alt+enter": ("escape", "enter"),
    "alt+up": ("escape", "up"),
    "shift+tab": ("s-tab",),
    "space": (" ",),
    "ctrl+backspace": ("escape", "c-h"),  # as `modified_keys.py` has terminals' sequences for them
    "shift+backspace": ("c-h",),
}


class Keymap:
    """The keys in force. `problems` are conflicts and unknown names of the person's file, in words."""

    def __init__(self, custom: Mapping[str, Any] | None = None) -> None:
        self.problems: list[str] = []
        known = {action.id: action for action in (*ACTIONS, *EDITING)}
        self._keys = {action.id: action.keys for action in known.values()}
        for name, value in (custom or {}).items():
            keys = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else None
            if name not in known:
                self.problems.append(f"{name} is no action{_near(name, known)}")
            elif keys is None or not all(isinstance(key, str) and pt_keys(key) for key in keys):
                self.problems.append(f"{name}: {value!r} is no key; write ctrl+x, alt+enter, f5 or a list of such")
            else:
                self._keys[name] = tuple(key.lower() for key in keys)
        self._report_conflicts()

    def keys(self, action: str) -> tuple[str, ...]:
        """The keys of an action, as people write them. Raises KeyError for no action."""
        return self._keys[action]

    def hint(self, action: str) -> str:
        """The first key of an action, "" if it has none."""
        keys = self._keys[action]
        return keys[0] if keys else ""

    def _report_conflicts(self) -> None:
        seen: dict[tuple[str, str], str] = {}
        for action, keys in self._keys.items():
            for key in keys:
                other = seen.setdefault((place_of(action), key), action)
                if other != action:
                    self.problems.append(f"{key} is the key of both {other} and {action}; {other} has it")


def place_of(action: str) -> str:
    """Where an action's keys count: in one kind of list, where one types, or else all over."""
    return next(
        (place for place in ("app.session", "tui.editor") if action.startswith(place)), action.partition(".")[0]
    )


def pt_keys(key: str) -> tuple[str, ...] | None:
    """A key in prompt-toolkit's words, None if it is none: `ctrl+x`, `alt+x`, `shift+up`, `f5`, a character, or several
    keys with blanks between them: `ctrl+x ctrl+u`."""
    key = key.strip().lower()
    if " " in key:
        parts = [pt_keys(part) for part in key.split()]
        return None if None in parts else tuple(name for part in parts if part for name in part)
    if key in _PT:
        return _PT[key]
    *modifiers, name = key.split("+") if key != "+" else [key]
    if not name or not set(modifiers) <= {"ctrl", "alt", "shift"}:
        return None
    before = ("escape",) if "alt" in modifiers else ()
    name = {"esc": "escape", "space": " ", "backtab": "s-tab"}.get(name, name)
    short = "".join(letter for modifier, letter in (("ctrl", "c-"), ("shift", "s-")) if modifier in modifiers)
    return (*before, short + name) if _known(short + name) else None


def _known(name: str) -> bool:
    if len(name) == 1:
        return True
    from prompt_toolkit.keys import ALL_KEYS, KEY_ALIASES

    return name in ALL_KEYS or name in KEY_ALIASES


def _near(name: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    import difflib  # only on the way to a message

    near = difflib.get_close_matches(name, list(known), 1)
    return f" (did you mean {near[0]}?)" if near else ""

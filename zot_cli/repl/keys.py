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
    Action("app.submit", ("enter",), "send; while a run goes on, join it at its next step"),
    Action("app.follow_up", ("alt+enter",), "send when the run is over"),
    Action("app.newline", ("shift+enter", "ctrl+j"), "a new line"),
    Action("app.abort", ("esc",), "close a menu, else end the run and take back what is queued"),
    Action("app.clear", ("ctrl+c",), "clear what is typed, else end the run; twice leaves"),
    Action("app.exit", ("ctrl+d",), "leave, on an empty line"),
    Action("app.suspend", ("ctrl+z",), "suspend zot; `fg` brings it back"),
    Action("app.tools.expand", ("ctrl+o",), "the whole transcript, tool results whole"),
    Action("app.thinking.toggle", ("ctrl+t",), "show or hide what the model thinks"),
    Action("app.thinking.cycle", ("shift+tab",), "the next thinking level"),
    Action("app.model.select", ("ctrl+l",), "choose a model"),
    Action("app.editor.external", ("ctrl+g",), "write in $VISUAL or $EDITOR"),
    Action("app.queue.take_back", ("alt+up",), "take what is queued back into the editor"),
    Action("app.paste.image", ("ctrl+v",), "paste a picture from the clipboard"),
    Action("app.widget.action", ("alt+w",), "run what a plugin's widget offers"),
    Action("app.history.search", ("ctrl+r",), "search what was typed before"),
    Action("tui.select.up", ("up", "ctrl+p"), "the entry before"),
    Action("tui.select.down", ("down", "ctrl+n"), "the entry after"),
    Action("tui.select.page_up", ("pageup",), "a page back"),
    Action("tui.select.page_down", ("pagedown",), "a page on"),
    Action("tui.select.confirm", ("enter",), "take the entry"),
    Action("tui.select.cancel", ("esc", "ctrl+c"), "close without a choice"),
    Action("tui.input.tab", ("tab",), "complete, or the next field"),
)
"""Every action, in the order of the reference page."""

_PT = {
    "esc": ("escape",),
    "enter": ("enter",),
    "shift+enter": ("escape", "f20"),
    "alt+enter": ("escape", "enter"),
    "alt+up": ("escape", "up"),
    "shift+tab": ("s-tab",),
    "space": (" ",),
}


class Keymap:
    """The keys in force. `problems` are conflicts and unknown names of the person's file, in words."""

    def __init__(self, custom: Mapping[str, Any] | None = None) -> None:
        self.problems: list[str] = []
        known = {action.id: action for action in ACTIONS}
        self._keys = {action.id: action.keys for action in ACTIONS}
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
                other = seen.setdefault((action.partition(".")[0], key), action)
                if other != action:
                    self.problems.append(f"{key} is the key of both {other} and {action}; {other} has it")


def pt_keys(key: str) -> tuple[str, ...] | None:
    """A key in prompt-toolkit's words, None if it is none: `ctrl+x`, `alt+x`, `shift+up`, `f5`, a character."""
    key = key.strip().lower()
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

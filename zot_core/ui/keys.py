"""Which keys do what, for components: actions by id (`app.*` of the application, `tui.*` of lists and dialogs).

The screen hands its own to each component, with the person's keybindings.json in it. Knows no screen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

LISTS: Mapping[str, Sequence[str]] = {
    "tui.select.up": ("up", "ctrl+p"),
    "tui.select.down": ("down", "ctrl+n"),
    "tui.select.page_up": ("pageup",),
    "tui.select.page_down": ("pagedown",),
    "tui.select.confirm": ("enter",),
    "tui.select.cancel": ("esc", "ctrl+c"),
    "tui.input.tab": ("tab",),
}
"""The keys of lists and dialogs where nobody says others."""


class Keybindings:
    """Keys by action. Use what a factory or a renderer is given, so that the person's own keys count."""

    def __init__(self, keys: Mapping[str, Sequence[str]] = LISTS) -> None:
        self._keys = keys

    def keys(self, action: str) -> tuple[str, ...]:
        """The keys of an action as people write them; none for an action that there is not."""
        return tuple(self._keys.get(action, ()))

    def matches(self, key: str, action: str) -> bool:
        """Whether `key`, as `handle_key` has it, is a key of the action."""
        return key in self._keys.get(action, ())

    def key_text(self, action: str) -> str:
        """The first key of an action, "" if it has none."""
        return next(iter(self.keys(action)), "")

    def hint(self, action: str, text: str) -> str:
        """The action's key and what it does, such as `ctrl+o to expand`; the text alone where it has no key."""
        return f"{self.key_text(action)} {text}".strip()

    @staticmethod
    def raw_hint(key: str, text: str) -> str:
        """A key that is no action's and what it does, written as `hint` does."""
        return f"{key} {text}".strip()

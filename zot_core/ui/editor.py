"""A custom editor's base: zot's own editor as a component, to be extended or wrapped.

Keys that a subclass does not take it passes to `super().handle_key`; then they do what they always do, those of the
application included. Knows no terminal; the screen brings the text and the keys.
"""

from __future__ import annotations

from typing import Protocol

from zot_core.ui.ansi import CURSOR, wrap
from zot_core.ui.component import Component
from zot_core.ui.keys import Keybindings
from zot_core.ui.theme import Theme

ROWS = 10
"""Rows of an editor before it scrolls."""
MOST = 20_000
"""Characters around the cursor that are looked at for a frame."""


class EditorText(Protocol):
    """What stands in the screen's editor. `at` is the cursor, counted in characters; both may be set."""

    text: str
    """What is typed; a long paste is folded to a chip."""
    at: int
    """The cursor's place in it."""

    def insert(self, text: str) -> None:
        """Types a text at the cursor."""

    def press(self, key: str) -> None:
        """Has a key do what it does without a custom editor, once the component's `handle_key` has returned. Several
        are done in order."""


class Tui(Protocol):
    """The screen, as components see it."""

    editor: EditorText
    """What stands in the editor."""

    @property
    def columns(self) -> int:
        """The terminal's width."""

    @property
    def rows(self) -> int:
        """The terminal's height."""

    @property
    def footer(self) -> FooterData:
        """What zot's own footer would tell."""

    def request_render(self) -> None:
        """Has a frame drawn soon; to be called when a component changes by itself."""


class FooterData(Protocol):
    """What a footer may tell. `tokens` of `window` are the model's context; `window` 0 means that none is chosen."""

    @property
    def cwd(self) -> str:
        """The project's folder, in short."""

    @property
    def branch(self) -> str:
        """The git branch, "" outside of a repository."""

    @property
    def model(self) -> str:
        """`provider/id`, "" while none is chosen."""

    @property
    def level(self) -> str:
        """The thinking level."""

    @property
    def tokens(self) -> int:
        """Tokens in use of the model's window."""

    @property
    def window(self) -> int:
        """Tokens that the model takes."""

    @property
    def cost(self) -> float:
        """US dollars that the conversation cost."""

    @property
    def session(self) -> str:
        """The session's name."""

    @property
    def statuses(self) -> dict[str, str]:
        """What plugins have set, by key."""


class AppEditor(Component):
    """zot's editor as a component. Extend it: override `handle_key` for keys of your own, `render` for the look.

    `base`, another editor (of `ctx.ui.get_editor_component()`), gets the keys and draws in the place of zot's own.
    """

    prompt = "› "
    """The mark before the first line."""

    def __init__(self, tui: Tui, theme: Theme, keybindings: Keybindings, *, base: Component | None = None) -> None:
        self.tui, self.theme, self.keybindings, self.base = tui, theme, keybindings, base

    @property
    def text(self) -> str:
        """What is typed."""
        return self.tui.editor.text

    @text.setter
    def text(self, text: str) -> None:
        self.tui.editor.text = text

    @property
    def at(self) -> int:
        """The cursor's place in the text."""
        return self.tui.editor.at

    @at.setter
    def at(self, at: int) -> None:
        self.tui.editor.at = at

    def insert(self, text: str) -> None:
        """Types a text at the cursor."""
        self.tui.editor.insert(text)

    def handle_key(self, key: str) -> None:
        """The key does what it does in zot's own editor, or in `base`."""
        if self.base is not None:
            self.base.handle_key(key)
        else:
            self.tui.editor.press(key)

    def render(self, width: int) -> list[str]:
        """The text with the cursor, at most `ROWS` rows around it."""
        if self.base is not None:
            return self.base.render(width)
        text, at = self.text, self.at
        start = max(at - MOST // 2, 0)
        shown = text[start:at].replace("\x1b", "") + CURSOR + (text[at : at + MOST // 2].replace("\x1b", "") or " ")
        lines = wrap(shown, max(width - len(self.prompt), 1))
        here = next((number for number, line in enumerate(lines) if CURSOR in line), 0)
        first = max(0, min(here - ROWS + 1, len(lines) - ROWS))
        mark = self.theme.fg("accent", self.prompt)
        blank = " " * len(self.prompt)
        return [
            (mark if number == 0 and not start else blank) + line
            for number, line in enumerate(lines[first : first + ROWS], first)
        ]

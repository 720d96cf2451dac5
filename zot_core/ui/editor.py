"""A custom editor's base: zot's own editor as a component, to be extended or wrapped.

Keys that a subclass does not take it passes to `super().handle_key`; then they do what they always do, those of the
application included. Knows no terminal; the screen brings the text and the keys.
"""

from __future__ import annotations

from typing import Protocol

from zot_core.types.record import record
from zot_core.types.usage import Usage
from zot_core.ui.ansi import CURSOR, cut, width_of, wrap
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


@record(kw_only=True)
class Working:
    """What goes on while a run does: the spinner's `frame` of now (styles in it as its plugin wrote them, "" where it
    is hidden), `words` such as `Working`, and `details`: the time, what the run has used, and the key that ends it."""

    frame: str = ""
    words: str = ""
    details: str = ""


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

    @property
    def working(self) -> Working | None:
        """The working status; None while nothing runs or a plugin has hidden it."""

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
    def used(self) -> Usage:
        """Tokens that went to models and came from them."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is wrong, a few words each."""

    @property
    def session(self) -> str:
        """The session's name."""

    @property
    def statuses(self) -> dict[str, str]:
        """What plugins have set, by key."""


class AppEditor(Component):
    """zot's editor as a component. Extend it: override `handle_key` for keys of your own, `render` for the look.

    `base`, another editor (of `ctx.ui.get_editor_component()`), gets the keys and draws in the place of zot's own.
    With `embed_working_status` the working status stands in the editor's upper border and zot's own row is away; a
    `render` of your own then puts `self.border(width)` above its lines.
    """

    prompt = "› "
    """The mark before the first line."""

    embed_working_status = False
    """Whether the working status is drawn here. The screen asks any editor for it."""

    def __init__(
        self,
        tui: Tui,
        theme: Theme,
        keybindings: Keybindings,
        *,
        base: Component | None = None,
        embed_working_status: bool = False,
    ) -> None:
        self.tui, self.theme, self.keybindings, self.base = tui, theme, keybindings, base
        self.embed_working_status = embed_working_status or type(self).embed_working_status

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

    def border(self, width: int) -> str:
        """A rule, with the working status in it while a run goes on."""
        working = self.tui.working
        if working is None:
            return self.theme.fg("border", "─" * width)
        frame = f"{self.theme.fg('accent', working.frame)} " if working.frame else ""
        status = f" {frame}{working.words}  {self.theme.fg('dim', working.details)} "
        status = cut(f"{self.theme.fg('border', '──')}{status}", width)
        return status + self.theme.fg("border", "─" * (width - width_of(status)))

    def render(self, width: int) -> list[str]:
        """The text with the cursor, at most `ROWS` rows around it, below the border if the status is embedded."""
        border = [self.border(width)] if self.embed_working_status else []
        if self.base is None:
            return [*border, *self._text_lines(width)]
        embedded = getattr(self.base, "embed_working_status", False)
        return [*([] if embedded else border), *self.base.render(width)]

    def _text_lines(self, width: int) -> list[str]:
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

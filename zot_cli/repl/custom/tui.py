"""The screen as components see it: its size, its theme, its keys, the text in its editor, what its footer tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zot_cli.plain import clean
from zot_cli.repl.keys import ACTIONS, EDITING, Keymap
from zot_core.types.record import record
from zot_core.types.usage import Usage
from zot_core.ui.keys import Keybindings
from zot_core.ui.theme import Theme

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl
    from zot_core.ui.editor import Working


def keybindings_of(keymap: Keymap) -> Keybindings:
    """The keys in force, for components."""
    return Keybindings({action.id: keymap.keys(action.id) for action in (*ACTIONS, *EDITING)})


class LiveTheme:
    """The theme in use at the time that it is asked, so that what a component keeps stays right."""

    def __init__(self, theme: Callable[[], Theme]) -> None:
        self._now = theme

    def __getattr__(self, name: str) -> Any:
        return getattr(self._now(), name)


@record(kw_only=True)
class ScreenFooter:
    """What zot's own footer would tell; see `zot_core.ui.editor.FooterData`."""

    cwd: str
    branch: str
    model: str
    level: str
    tokens: int
    window: int
    cost: float
    used: Usage
    warnings: tuple[str, ...]
    session: str
    statuses: dict[str, str]


class ScreenText:
    """What stands in the editor; see `zot_core.ui.editor.EditorText`."""

    def __init__(self, repl: Repl) -> None:
        self._repl = repl
        self.pressed: list[str] = []
        """Keys that a custom editor has passed on, to be done once it has returned."""

    @property
    def text(self) -> str:
        """What is typed, folded pastes folded."""
        return self._repl.editor.shown

    @text.setter
    def text(self, text: str) -> None:
        self._repl.editor.set(clean(text))
        self._repl.draw()

    @property
    def at(self) -> int:
        """The cursor's place in it."""
        return self._repl.editor.buffer.cursor_position

    @at.setter
    def at(self, at: int) -> None:
        self._repl.editor.buffer.cursor_position = max(0, min(at, len(self._repl.editor.shown)))
        self._repl.draw()

    def insert(self, text: str) -> None:
        """Types a text at the cursor."""
        self._repl.editor.buffer.insert_text(clean(text))

    def press(self, key: str) -> None:
        """Has a key do what it does without a custom editor, after this one has returned."""
        self.pressed.append(key)


class ScreenTui:
    """See `zot_core.ui.editor.Tui`."""

    def __init__(self, repl: Repl) -> None:
        self._repl = repl
        self.editor = ScreenText(repl)

    @property
    def columns(self) -> int:
        """The terminal's width."""
        return self._repl.screen.size.columns

    @property
    def rows(self) -> int:
        """The terminal's height."""
        return self._repl.screen.size.rows

    @property
    def footer(self) -> ScreenFooter:
        """What zot's own footer would tell."""
        facts = self._repl.facts.read(self._repl.app)
        return ScreenFooter(
            cwd=facts.cwd,
            branch=facts.branch,
            model=facts.model,
            level=facts.level,
            tokens=facts.tokens,
            window=facts.window,
            cost=facts.cost,
            used=facts.used,
            warnings=facts.warnings,
            session=facts.session,
            statuses=dict(self._repl.front.state.statuses),
        )

    @property
    def working(self) -> Working | None:
        """The working status."""
        return self._repl.ui.working()

    def request_render(self) -> None:
        """A frame, soon."""
        self._repl.draw()

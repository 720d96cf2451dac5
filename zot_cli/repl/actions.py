"""What keys do beyond sending and ending: looking back, changing levels, writing elsewhere. Each by its action's id."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.history import FileHistory

from zot_cli.repl.dialogs.select import Choice, SelectDialog
from zot_cli.repl.pager import Pager
from zot_cli.repl.pictures import from_clipboard
from zot_cli.repl.spans import Line
from zot_core.models.levels import levels_of

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl

MOST_HISTORY = 2000
"""Entries that can be searched, the latest."""


class Actions:
    """The application's actions by id; `table` is what `bindings.py` binds."""

    def __init__(self, repl: Repl) -> None:
        self._repl = repl
        self.table: dict[str, Callable[[], None]] = {
            "app.tools.expand": self.transcript,
            "app.thinking.toggle": self.toggle_thinking,
            "app.thinking.cycle": self.cycle_level,
            "app.model.select": lambda: repl.sending.send("/model"),
            "app.editor.external": self.external_editor,
            "app.paste.image": lambda: repl.begin(self._paste_picture(), "picture"),
            "app.suspend": lambda: repl.screen.app.suspend_to_background(),
            "app.widget.action": lambda: repl.begin(self._widget_action(), "widget"),
            "app.history.search": lambda: repl.begin(self._search(), "history"),
        }

    def transcript(self) -> None:
        """The whole transcript in the alternate screen, tool results whole."""
        repl = self._repl
        look = repl.look.with_(expanded=True, thinking=True)

        def lines(width: int) -> list[Line]:
            blocks = [*repl.transcript.blocks, *repl.front.state.blocks]
            return repl.transcript.lines(blocks, width, look, None)

        repl.begin(Pager(lines, look).run(repl.screen), "transcript")

    def toggle_thinking(self) -> None:
        """Shows what the model thinks, or that it thinks."""
        repl = self._repl
        repl.look = repl.look.with_(thinking=not repl.look.thinking)
        repl.ui.notify_self("thinking is shown" if repl.look.thinking else "thinking is hidden")

    def cycle_level(self) -> None:
        """The next thinking level of the model."""
        app = self._repl.app
        model = app.runtime.choice.model if app is not None else None
        if app is None or model is None:
            return
        levels = levels_of(model)
        if len(levels) < 2:
            self._repl.ui.notify_self(f"{model.id} has no thinking levels")
            return
        at = levels.index(app.runtime.choice.thinking) if app.runtime.choice.thinking in levels else -1
        self._repl.begin(app.runtime.choice.set_thinking(levels[(at + 1) % len(levels)]), "level")

    def external_editor(self) -> None:
        """What is typed, in $VISUAL or $EDITOR; folded pastes are unfolded."""
        editor = self._repl.editor
        editor.set(editor.text)
        editor.buffer.open_in_editor()

    async def _paste_picture(self) -> None:
        picture = await asyncio.to_thread(from_clipboard)
        if picture is None:
            self._repl.ui.notify_self("the clipboard holds no picture that can be read here")
        else:
            self._repl.editor.add_picture(picture, "clipboard")

    async def _widget_action(self) -> None:
        """What a widget offers: the only one at once, of several the chosen one."""
        repl = self._repl
        offered = repl.ui.parts.actions()
        if not offered:
            repl.ui.notify_self("no widget offers anything")
            return
        chosen: str | None = offered[0][1]
        if len(offered) > 1:
            chosen = await repl.ui.choose(
                "Run what?", [Choice(value=command, label=label) for label, command in offered]
            )
        if chosen:
            repl.sending.send(chosen)

    async def _search(self) -> None:
        repl = self._repl
        history = repl.editor.buffer.history
        entries: list[str] = []
        with contextlib.suppress(OSError):
            found = history.load_history_strings() if isinstance(history, FileHistory) else history.get_strings()
            for text in found:
                if text not in entries and len(entries) < MOST_HISTORY:
                    entries.append(text)
        choices = [Choice(value=text) for text in entries]
        chosen = await repl.ui.ask(lambda done: SelectDialog(repl.look, "Typed before", choices, done), None)
        if chosen is not None:
            repl.editor.set(chosen)

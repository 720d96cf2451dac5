"""What keys do beyond sending and ending: looking back, changing levels, writing elsewhere. Each by its action's id."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from zot_cli.plain import clean
from zot_cli.repl.dialogs.select import Choice, SelectDialog
from zot_cli.repl.elsewhere import CannotWrite, away, written
from zot_cli.repl.pager import Pager
from zot_cli.repl.pictures import from_clipboard
from zot_cli.repl.spans import Line
from zot_core.models.levels import levels_of

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl
    from zot_core.app import App


class Actions:
    """The application's actions by id; `table` is what `bindings.py` binds."""

    def __init__(self, repl: Repl) -> None:
        self._repl = repl
        self.table: dict[str, Callable[[], None]] = {
            "app.tools.expand": self.transcript,
            "app.thinking.toggle": self.toggle_thinking,
            "app.thinking.cycle": self.cycle_level,
            "app.model.select": lambda: repl.sending.send("/model"),
            "app.model.cycle": lambda: self.cycle_model(1),
            "app.model.cycle_back": lambda: self.cycle_model(-1),
            "app.editor.external": lambda: repl.begin(self._write_elsewhere(), "editor"),
            "app.paste.image": lambda: repl.begin(self._paste_picture(), "picture"),
            "app.suspend": lambda: repl.screen.suspend(),
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

    def cycle_model(self, step: int) -> None:
        """The next model of the scope, or of all that can be used, from the next model call on."""
        app = self._repl.app
        if app is not None:
            self._repl.begin(self._cycle_model(app, step), "model")

    async def _cycle_model(self, app: App, step: int) -> None:
        runtime = app.runtime
        if await runtime.scoping.cycle(step) is None:
            if not runtime.scoping.candidates():
                self._repl.ui.notify_self("no model can be used yet; /login stores a key")
            elif len(runtime.scoping.candidates()) == 1:
                self._repl.ui.notify_self(f"there is no other model{' in the scope' if runtime.scoping.models else ''}")
            return  # why it could not be chosen was said
        model, level = runtime.choice.model, runtime.choice.thinking
        if model is not None:
            thinks = f" · {level}" if model.reasoning else ""
            later = "" if app.is_idle else ", from the next model call on"
            self._repl.ui.notify_self(f"{model.provider}/{model.id}{thinks}{later}")

    async def _write_elsewhere(self) -> None:
        """What is typed, in $VISUAL or $EDITOR: pastes whole there, and chips again when it comes back."""
        repl, editor = self._repl, self._repl.editor
        before = editor.text
        try:
            text = await away(repl.screen, lambda: written(before))
        except CannotWrite as error:
            repl.ui.notify_self(str(error))
            return
        if text != before:
            editor.set(editor.chips.folded(clean(text)))

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
        choices = [Choice(value=text) for text in await asyncio.to_thread(repl.editor.history.entries)]
        chosen = await repl.ui.ask(lambda done: SelectDialog(repl.look, "Typed before", choices, done), None)
        if chosen is not None:
            repl.editor.set(chosen)

"""`ctx.ui` on the screen: dialogs one after another in the editor's place, statuses, widgets, the working row.

Dialogs that time out count down; an abort of whoever asked dismisses them. Knows the application, no plugin.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from zot_cli.plain import clean
from zot_cli.repl import state as st
from zot_cli.repl.chrome import SPINNER, working_of
from zot_cli.repl.components import Component
from zot_cli.repl.custom.cards import card_of, with_card
from zot_cli.repl.custom.held import Held
from zot_cli.repl.custom.lines import markdown_texts
from zot_cli.repl.custom.parts import Parts
from zot_cli.repl.custom.plugin_ui import PluginScreen
from zot_cli.repl.dialogs.approve import ApproveDialog, preview_lines
from zot_cli.repl.dialogs.questions import QuestionDialog
from zot_cli.repl.dialogs.select import Choice, SelectDialog
from zot_cli.repl.dialogs.text import TextDialog
from zot_cli.repl.pager import Pager
from zot_cli.repl.panels import PanelComponent
from zot_cli.repl.spans import Line, wrap
from zot_core.ctx.null_ui import Approved, NullUi
from zot_core.frontend import Note
from zot_core.ui.component import Markdown

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl
    from zot_core.types.panels import Panel, PanelHandle
    from zot_core.ui.editor import Working

_YES, _NO = "Yes", "No"
TYPING = 0.7
"""Seconds of rest until a dialog takes the place of a text that is being typed: its keys are no answers."""
TURN = 4.0
"""Seconds that each of the theme's words for work is shown."""
SPIN = 0.12
"""Seconds between two frames of the spinner."""


class ReplUi(NullUi):
    """The screen's form of `ctx.ui`; what plugins draw themselves is `custom/plugin_ui.py`'s."""

    def __init__(self, repl: Repl) -> None:
        super().__init__(lambda note: repl.front.note(note), "repl")
        self._repl = repl
        self._turn = asyncio.Lock()
        self._answer: asyncio.Future[Any] | None = None
        self._over = False
        self._frames: tuple[str, ...] | None = None
        self._interval = SPIN
        self.parts = Parts(repl)
        self.working_words = ""
        self.working_visible = True
        repl.stage.broken = self._broke
        Markdown.renderer = lambda text, width: markdown_texts(text, width, lambda: repl.look)

    def of(self, plugin: str, runtime: Any) -> Any:
        """This form in a plugin's name."""
        return PluginScreen(self._repl, plugin, runtime)

    def forget(self) -> None:
        """The session is over: what its plugins have put on the screen goes."""
        self.parts.forget()
        self._repl.editors.forget()
        self._repl.completer.forget()
        self._frames, self.working_words, self.working_visible = None, "", True

    def dismiss(self) -> None:
        """The end: who waits for a person has no answer, and nobody is asked any more."""
        self._over = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(None)
        self.parts.forget()

    def entry_appended(self, entry: Any) -> None:
        """A plugin's entry, shown if there is a renderer for it; before the session is open it is not yet."""
        if self._repl.app is not None and (card := card_of(entry, self._repl.rendering)) is not None:
            self._repl.front.fold()
            self._repl.front.change(with_card(self._repl.front.state, card, self._repl.rendering))

    # --- dialogs -----------------------------------------------------------------------------------------------------

    async def select(self, title: str, options: Sequence[str], *, timeout: float | None = None) -> str | None:
        """One of `options`, chosen from a list."""
        choices = [_choice(option) for option in options]
        return await self.ask(lambda done: SelectDialog(self._repl.look, title, choices, done), timeout)

    async def choose(self, title: str, choices: Sequence[Choice], **options: Any) -> str | None:
        """One of `choices`, with labels and hints."""
        return await self.ask(lambda done: SelectDialog(self._repl.look, title, choices, done, **options), None)

    async def confirm(self, title: str, message: str = "", *, timeout: float | None = None) -> bool:
        """Yes or no, yes first."""
        choices = [Choice(value=_YES), Choice(value=_NO)]
        answer = await self.ask(
            lambda done: SelectDialog(self._repl.look, title, choices, done, message=message, filters=False), timeout
        )
        return answer == _YES

    async def input(
        self, title: str, placeholder: str = "", *, timeout: float | None = None, hidden: bool = False
    ) -> str | None:
        """A line of text, dots in its place where it is a secret."""
        return await self.ask(
            lambda done: TextDialog(self._repl.look, title, done, placeholder=placeholder, hidden=hidden), timeout
        )

    async def editor(self, title: str, prefill: str = "", *, timeout: float | None = None) -> str | None:
        """Several lines of text."""
        return await self.ask(lambda done: TextDialog(self._repl.look, title, done, text=prefill, lines=True), timeout)

    async def question(
        self, questions: Sequence[Mapping[str, Any]], *, timeout: float | None = None
    ) -> Mapping[str, Any]:
        """Several questions, one after another."""
        if not questions:
            return {"outcome": "answered", "answers": {}}
        late: Mapping[str, Any] = {"outcome": "timed_out", "answers": {}}
        answer = await self._shown(lambda done: QuestionDialog(self._repl.look, questions, done), timeout, late)
        return {"outcome": "cancelled", "answers": {}} if answer is None else dict(answer)

    async def approve(self, call_id: str, tool_name: str, preview: str) -> Approved:
        """Whether a call may run: once, for the tool, for everything, or not, with a word to the model."""
        repl = self._repl

        def lines(width: int) -> list[Line]:
            return [*wrap(f"{tool_name}:", width, repl.look.style("accent")), *preview_lines(preview, width, repl.look)]

        def show_all() -> None:
            repl.begin(Pager(lines, repl.look, at_end=False).run(repl.screen), "preview")

        keys = repl.keymap.keys("app.tools.expand")
        answer = await self.ask(
            lambda done: ApproveDialog(
                repl.look,
                tool_name,
                preview,
                done,
                rows=lambda: repl.screen.size.rows,
                keys=keys,
                show_all=show_all,
            ),
            None,
        )
        if answer in ("once", "tool", "session"):
            remember: Any = answer
            return Approved(allowed=True, remember=remember)
        why = await self.input("What should the model do instead?") if answer == "why" else ""
        said = f"the user refused this call: {why}" if why else "the user refused this call"
        return Approved(allowed=False, reason=said)

    async def ask(self, make: Callable[[Callable[[str | None], None]], Component], timeout: float | None) -> str | None:
        """Shows a dialog once those before it are answered; None when it was dismissed or its time is over."""
        answer: str | None = await self._shown(make, timeout, None)
        return answer

    async def _shown(self, make: Callable[[Callable[[Any], None]], Component], timeout: float | None, late: Any) -> Any:
        """Shows a dialog once those before it are answered; None when it was dismissed, `late` when its time is
        over."""
        async with self._turn:
            await self._rest()
            if self._over:
                return None
            answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            self._answer = answer
            stage = self._repl.stage

            def done(value: Any) -> None:
                stage.close(dialog)  # at once: the next key is the editor's
                if not answer.done():
                    answer.set_result(value)

            dialog = make(done)
            stage.show(dialog)
            try:
                return await _counted(answer, dialog, timeout, self._repl.draw, late)
            finally:
                stage.close(dialog)
                self._answer = None

    async def _rest(self) -> None:
        editor = self._repl.editor
        while not self._over and editor.shown:  # a text that was sent is an end of typing too
            if (left := editor.changed + TYPING - time.monotonic()) <= 0:
                return
            await asyncio.sleep(min(left, 0.1))

    def open_panel(
        self, plugin: str, panel: Panel, on_key: Callable[[str, str], Any], on_close: Callable[[], Any]
    ) -> PanelHandle | None:
        """A plugin's panel in the editor's place."""
        return PanelComponent(self._repl, plugin, panel, on_key, on_close)

    # --- what stays --------------------------------------------------------------------------------------------------

    def notify_self(self, text: str, seconds: float = 0.0) -> None:
        """Zot's own one-shot note; it takes the place of the last one, and goes away after `seconds`, if given."""
        state, note = st.unflash(self._repl.front.state, "zot"), st.Flash(source="zot", text=text)
        self._repl.front.change(st.flash(state, note))
        if seconds:
            asyncio.get_running_loop().call_later(seconds, self._expire, note)

    def _expire(self, note: st.Flash) -> None:
        if any(one is note for one in self._repl.front.state.flashes):
            self._repl.front.change(st.unflash(self._repl.front.state, "zot"))

    def notify(self, message: str, level: Literal["info", "success", "warning", "error"] = "info") -> None:
        """A one-shot note below the transcript."""
        self._send(Note(source="", text=message, level=level))

    def set_status(self, key: str, text: str | None) -> None:
        """A status in the footer."""
        state = self._repl.front.state
        statuses = {name: said for name, said in state.statuses.items() if name != key}
        if text:
            statuses[key] = clean(text)
        self._repl.front.change(replace(state, statuses=statuses))

    def set_working_message(self, text: str | None = None) -> None:
        """The words beside the spinner."""
        self.working_words = clean(text or "")
        self._repl.draw()

    def set_working_visible(self, visible: bool) -> None:
        """Shows or hides the working row."""
        self.working_visible = visible
        self._repl.draw()

    def set_working_indicator(self, frames: Sequence[str] | None = None, interval: float = 0.1) -> None:
        """The spinner's frames, styles in them as they are."""
        self._frames = None if frames is None else tuple(str(frame) for frame in frames)
        self._interval = max(interval, 0.02)
        self._repl.draw()

    def working(self) -> Working | None:
        """The working status of now; None while nothing runs or it is hidden."""
        state = self._repl.front.state
        if not (state.running or state.activity) or not self.working_visible:
            return None
        asked = self._answer is not None and not self._answer.done()
        own = self.working_words or self._spinning(time.monotonic() - state.since)
        words = "Waiting for your answer" if asked else state.activity or own
        hint = f"{self._repl.keymap.hint('app.abort')} to end"
        return working_of(state, time.monotonic(), self._frame(self._repl.frame), words, hint)

    def _spinning(self, seconds: float) -> str:
        """The theme's words, one after another, else zot's."""
        messages = self._repl.look.theme.spinner.messages or ("Working",)
        return clean(messages[int(max(seconds, 0) / TURN) % len(messages)])

    def _frame(self, number: int) -> str:
        """The spinner's frame: a plugin's, the theme's, else zot's."""
        frames = self._repl.look.theme.spinner.frames or SPINNER if self._frames is None else self._frames
        return frames[number % len(frames)] if frames else ""

    @property
    def interval(self) -> float:
        """Seconds between two frames of the spinner."""
        own = self._repl.look.theme.spinner.interval_ms / 1000
        return self._interval if self._frames is not None else own or SPIN

    def set_subagent_cost(self, dollars: float | None) -> None:
        """What sub-agents cost, beside the session's own cost."""
        self.parts.subagents = dollars
        self._repl.draw()

    def set_title(self, text: str) -> None:
        """The terminal's title."""
        self._repl.screen.output.set_title(clean(text))

    def set_editor_text(self, text: str) -> None:
        """Puts `text` in the place of what is typed."""
        self._repl.editor.set(clean(text))
        self._repl.draw()

    def get_editor_text(self) -> str:
        """What is typed and not sent yet."""
        return self._repl.editor.text

    def paste_to_editor(self, text: str) -> None:
        """Pastes at the cursor."""
        self._repl.editor.paste(text)
        self._repl.draw()

    @property
    def tools_expanded(self) -> bool:
        """Whether results are shown whole."""
        return self._repl.look.expanded

    @tools_expanded.setter
    def tools_expanded(self, expanded: bool) -> None:
        if expanded != self._repl.look.expanded:
            self._repl.expand()

    def _broke(self, component: Component, error: Exception) -> None:
        """A component in the editor's place broke and was closed."""
        if isinstance(component, Held):
            component.failed(error)
        else:
            self._repl.tell(f"internal error in {type(component).__name__}: {error}", "error")


def _choice(option: str) -> Choice:
    """An entry of a plugin's list; what stands after two blanks is its second column."""
    label, _, hint = option.partition("  ")
    if not label or not hint.strip():
        return Choice(value=option)
    return Choice(value=option, label=label, hint=hint.strip())


async def _counted(
    answer: asyncio.Future[Any], dialog: Any, timeout: float | None, draw: Callable[[], None], late: Any
) -> Any:
    if timeout is None:
        return await answer
    loop = asyncio.get_running_loop()
    end = loop.time() + timeout
    while (left := end - loop.time()) > 0:
        dialog.countdown = f" · {left:.0f} s left"
        draw()
        done, _ = await asyncio.wait({answer}, timeout=min(1.0, left))
        if done:
            return answer.result()
    return late

"""The interactive application: one screen, one editor, one session at a time, and what keys do with them.

Holds the pieces together; what is shown is `state.py`'s and `blocks/`'s, what a session does is the core's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from prompt_toolkit.layout import Container

from zot_cli import exits
from zot_cli.plain import clean
from zot_cli.repl import rescue
from zot_cli.repl import state as st
from zot_cli.repl.bindings import bindings
from zot_cli.repl.blocks import render
from zot_cli.repl.chrome import flash_lines, footer_lines, waiting_lines, working_line
from zot_cli.repl.completion.menu import Menu
from zot_cli.repl.completion.sources import BuiltIn
from zot_cli.repl.completion.stack import Stack
from zot_cli.repl.components import Stage
from zot_cli.repl.custom.cards import merged, stored_cards
from zot_cli.repl.custom.editors import Editors
from zot_cli.repl.custom.overlays import Overlays
from zot_cli.repl.custom.rendering import Rendering
from zot_cli.repl.custom.shortcuts import Shortcuts
from zot_cli.repl.editor import Editor
from zot_cli.repl.facts import FactSource
from zot_cli.repl.front import ReplFront, from_messages
from zot_cli.repl.keys import Keymap
from zot_cli.repl.look import Look
from zot_cli.repl.plugin import ReplPlugin
from zot_cli.repl.screen import Screen
from zot_cli.repl.spans import Line
from zot_cli.repl.state import Told, Waiting
from zot_cli.repl.terminal import Terminal
from zot_cli.repl.themes import ScreenThemes
from zot_cli.repl.transcript import Transcript
from zot_cli.repl.ui import ReplUi
from zot_core.agent.cancel import Signal
from zot_core.types.content import Image, Text, text_of
from zot_core.types.failure import UsageError
from zot_core.types.messages import UserMessage

if TYPE_CHECKING:
    from zot_core.app import App

GREETING = """Welcome. No model can be asked yet, because there is no key.

- `/login` stores one, or set your provider's variable, such as `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`.
- `/model scripted/scripted` shows how zot works, without a key and a network.
- A server of your own: `zot --base-url http://127.0.0.1:8080`."""

TWICE = 2.0
"""Seconds within which a second Ctrl-C leaves."""


class Repl:
    """`app` is set once the session is open; until then what is sent waits. `over` is set when it is to end."""

    def __init__(self, terminal: Terminal, look: Look, keymap: Keymap, editor: Editor) -> None:
        self.app: App | None = None
        self.keymap = keymap
        self.look = look
        self.editor = editor
        self.transcript = Transcript()
        self.over = asyncio.Event()
        self.stage = Stage(self.draw)
        self.completer = Stack(BuiltIn(lambda: self.app))
        self.ui = ReplUi(self)
        self.overlays = Overlays(self)
        self.editors = Editors(self, self.ui.parts)
        self.shortcuts = Shortcuts(self)
        self.rendering = Rendering(self.ui.parts, lambda: self.app.runtime if self.app is not None else None)
        self.look = look.with_(rendering=self.rendering)
        self.front = ReplFront(self.ui, self._changed)
        self.front.plugin = ReplPlugin(self)
        self.facts = FactSource()
        self.themes = ScreenThemes(self, look.theme.appearance)
        self.menu = Menu(editor.buffer, lambda: self.completer, self.draw, lambda why: self.tell(why, "error"))
        self.screen = Screen(
            input=terminal.input,
            output=terminal.output,
            body=self._body,
            keys=[editor.bindings(), bindings(self), self.shortcuts.bindings(), self.editors.bindings()],
            above=self.above,
            below=self.below,
            resized=self._resized,
            depth=look.depth,
        )
        self._tasks: set[asyncio.Task[Any]] = set()
        self._interrupted = -TWICE
        self._spinning: asyncio.TimerHandle | None = None
        self._frame = 0
        self.early: list[tuple[str, Sequence[Image]]] = []
        self._shells: list[Signal] = []

    # --- a session ---------------------------------------------------------------------------------------------------

    def opened(self, app: App) -> None:
        """The session is there: its conversation is shown, and what was sent meanwhile goes out."""
        self.app = app
        self.front.retries = max(app.runtime.settings.values.retry.attempts - 1, 0)
        self.themes.begin(app.runtime.settings.values.theme)
        for problem in self.keymap.problems:
            self.tell(f"keybindings.json: {problem}", "warning")
        self.editor.cwd = app.runtime.cwd
        provider = app.runtime.choice.provider
        if app.runtime.choice.model is None or (provider is not None and not app.has_credential(provider)):
            self._greet()
        self.shortcuts.load()
        self.show_session(app)
        self.draw()
        early, self.early = self.early, []
        for text, pictures in early:
            self.send(text, pictures=pictures)

    def show_session(self, app: App) -> None:
        """The end of the session's conversation, below what is on the screen."""
        session = app.runtime.session
        cards = stored_cards(session.branch(), self.rendering)
        blocks = merged(from_messages(session.messages(), session.display_of, cards), self.rendering)
        if blocks:
            self.transcript.blocks += blocks
            rows = 3 * self.screen.size.rows
            lines = self.transcript.last_lines(self.screen.width, self.look, rows)
            self.screen.commit([*lines, []])

    def _greet(self) -> None:
        """The first words to somebody who has no model yet."""
        self.front.change(st.append(self.front.state, Told(text=GREETING, markdown=True)))

    # --- what keys and commands do -----------------------------------------------------------------------------------

    def submit(self, *, follow_up: bool = False) -> None:
        """Sends what is typed: a prompt, a command, or, while a run goes on, a word to it."""
        if self.menu.open and not follow_up and self.menu.take() and not self.editor.shown.startswith("/"):
            return
        self.menu.close()
        pictures = self.editor.pictures
        text = self.editor.take().strip()
        if not text:
            return
        if self.app is None and text in ("/exit", "/quit"):
            self.leave()
            return
        self.front.change(st.unflash(self.front.state))
        self.send(text, follow_up=follow_up, pictures=pictures)

    def send(self, text: str, *, follow_up: bool = False, pictures: Sequence[Image] = ()) -> None:
        """Sends a text as if it had been typed."""
        if self.app is None:
            self.early.append((text, pictures))
        elif text.startswith("!") and text.strip("! "):
            self.begin(self._shell(self.app, text.lstrip("!").strip(), keep=not text.startswith("!!")), "shell")
        elif self.app.is_idle or self.app.is_command(text):
            self.begin(self._prompt(self.app, text, pictures), "prompt")
        else:
            kind: Any = "follow_up" if follow_up else "steer"
            waiting = (*self.front.state.waiting, Waiting(kind=kind, text=text))
            self.front.change(replace(self.front.state, waiting=waiting))
            self.begin(self._join(self.app, text, kind, pictures), kind)

    def interrupt(self) -> None:
        """Esc: closes the menu, else ends the run, and what was queued comes back into the editor."""
        if self.menu.open:
            self.menu.close(dismiss=True)
        elif self._shells:
            self._shells[-1].abort()
        elif self.app is not None and not self.app.is_idle:
            self.app.abort()
        else:
            self.front.change(st.unflash(self.front.state))

    def clear_or_leave(self) -> None:
        """Ctrl-C: clears what is typed, else ends the run; the second within two seconds leaves."""
        now = time.monotonic()
        if now - self._interrupted < TWICE and not self.editor.shown:
            self.leave()
            return
        self._interrupted = now
        if self.editor.shown:
            self.editor.set("")
        elif self.app is not None and not self.app.is_idle:
            self.app.abort()
        self.ui.notify_self("Ctrl-C again leaves")

    def interrupted(self) -> bool:
        """SIGINT from outside: as Ctrl-C; False when that was the end."""
        self.clear_or_leave()
        return not self.over.is_set()

    def leave(self) -> None:
        """Ends the application."""
        self.over.set()

    def take_back(self) -> None:
        """What is queued comes back into the editor."""
        if self.app is None:
            return
        texts = []
        for message in self.app.runtime.queues.give_back():
            if isinstance(message, UserMessage):
                texts.append(text_of(message.content))
            else:
                self.app.runtime.queues.put("next_turn", message)
        known = [one.text for one in self.front.state.waiting]
        self.front.change(replace(self.front.state, waiting=()))
        texts = texts or known
        if texts:
            self.editor.prepend("\n".join(texts))

    def expand(self) -> None:
        """Tool results whole in what is still live, or folded again."""
        self.look = self.look.with_(expanded=not self.look.expanded)
        self.draw()

    def begin(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        """Runs `work` beside the screen; how it fails is shown."""
        task = asyncio.get_running_loop().create_task(self._guarded(work), name=f"zot:repl:{name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self) -> None:
        """Waits for what was begun, once the run was aborted."""
        self.ui.dismiss()
        self.screen.end_guest()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=3.0)

    def tell(self, text: str, level: st.Level = "info", source: str = "") -> None:
        """Zot's own word, or that of `source`, in the transcript."""
        self.front.fold()
        self.front.change(st.append(self.front.state, Told(text=text, level=level, source=source)))

    async def _guarded(self, work: Coroutine[Any, Any, Any]) -> None:
        try:
            await work
        except Exception as error:  # one thing that failed is not the end of the conversation
            failure = exits.failure_of(error)
            self.tell(str(failure) if isinstance(failure, UsageError) else failure.message, "error")

    async def _prompt(self, app: App, text: str, pictures: Sequence[Image]) -> None:
        try:
            end = await app.prompt(text, pictures)
        except Exception:
            self._cut_off(app, text)
            raise
        said = exits.reason_of(end.stop, end.failure) if end is not None else ""
        if end is not None and end.stop == "aborted" and not end.messages:
            self.editor.prepend(text)  # it never began: what was typed comes back
        self.front.fold()
        self.front.change(st.ended(self.front.state))
        if said:
            if end is not None and end.failure is not None and end.failure.kind == "auth":
                said += " Here: `/login` stores a key, `/model` chooses another model."
            self.tell(said, "warning" if end is not None and end.stop == "aborted" else "error")
        if end is not None and end.failure is not None and end.failure.kind == "session":
            self._cut_off(app, text)
        if app.is_idle and (app.runtime.queues or self.front.state.waiting):
            self.take_back()
        while end is not None and end.failure is not None:
            end = await rescue.offered(self, app, end.failure)
            if end is not None and (said := exits.reason_of(end.stop, end.failure)):
                self.front.change(st.ended(self.front.state))
                self.tell(said, "error")

    def _cut_off(self, app: App, text: str) -> None:
        """The prompt's work failed, as on a full disk: what has not arrived in the session comes back."""
        self.front.fold()
        self.front.change(st.ended(self.front.state))
        self.take_back()
        arrived = any(isinstance(m, UserMessage) and text_of(m.content) == text for m in app.runtime.session.messages())
        if not arrived and not app.is_command(text):
            self.editor.prepend(text)

    async def _shell(self, app: App, command: str, *, keep: bool) -> None:
        """The person's own command: a row like a tool's, and Esc ends it."""
        signal, call_id, now = Signal(), f"user:{time.monotonic()}", time.monotonic()
        name = "you" if keep else "you, not for the model"
        self._shells.append(signal)

        def change(**changes: Any) -> None:
            self.front.fold()
            self.front.change(st.tool(self.front.state, call_id, **changes))

        change(name=name, args={"command": command}, status="running", since=now)
        try:
            result = await app.user_bash(command, keep=keep, signal=signal, update=lambda text: change(progress=text))
        except BaseException:
            change(status="blocked")
            raise
        finally:
            self._shells.remove(signal)
        content = (Text(result.content),) if isinstance(result.content, str) else tuple(result.content)
        status: st.Status = "failed" if result.is_error else "done"
        change(status=status, result=content, took=time.monotonic() - now)

    async def _join(self, app: App, text: str, kind: str, pictures: Sequence[Image]) -> None:
        lane = getattr(app.runtime.queues, kind)
        last = lane[-1] if lane else None
        try:
            await (app.follow_up(text, pictures) if kind == "follow_up" else app.steer(text, pictures))
        except Exception:
            self.take_back()
            raise
        if app.is_idle and self.front.state.waiting:
            self.take_back()  # the run was over by then, and the prompt that it became failed
        else:
            waits = text_of(lane[-1].content) if lane and lane[-1] is not last else ""
            self.front.change(st.requeued(self.front.state, text, waits))

    # --- drawing -----------------------------------------------------------------------------------------------------

    def draw(self) -> None:
        """A frame, soon."""
        self.screen.draw()

    def _changed(self, soon: bool) -> None:
        if soon:
            self.screen.draw_soon(self._settle)
        else:
            self._settle()
            self.draw()

    def _settle(self) -> None:
        """What is final moves up; the rest is drawn with the next frame."""
        began = time.perf_counter()
        self.front.fold()
        before = self.transcript.blocks[-1] if self.transcript.blocks else None
        self.front.state, done = self.transcript.take(self.front.state)
        if done:
            width, header = self.screen.width, [] if before else self.ui.parts.header_lines(self.screen.width)
            lines = self.transcript.lines(done, width, self.look, before)
            self.screen.commit([*header, [], *lines] if header else lines)
        if self.front.state.running and self._spinning is None:
            self._spin()
        self.screen.cost(time.perf_counter() - began)

    def _spin(self) -> None:
        if not self.front.state.running:
            self._spinning = None
            return
        self._frame += 1
        self._spinning = asyncio.get_running_loop().call_later(self.ui.interval, self._spin)
        self.draw()

    def _body(self) -> Container:
        return self.stage.container if self.stage.active else self.editors.container or self.editor.window

    def above(self, width: int, height: int) -> list[Line]:
        now, state, look = time.monotonic(), self.front.state, self.look
        self.stage.measure(width)
        after: list[Line] = [*flash_lines(state.flashes, width, look)]
        if state.running and self.ui.working_visible:
            words = state.activity or self.ui.working_words or "Working"
            frame = self.ui.frame(self._frame)
            after.append(working_line(state, look, now, frame, words, f"{self.keymap.hint('app.abort')} to end"))
        hint = f"{self.keymap.hint('app.queue.take_back')} takes back"
        after += waiting_lines(state.waiting, width, look, hint)
        after += self.ui.parts.widgets("above_editor", width)
        live: list[Line] = [] if self.transcript.blocks else self.ui.parts.header_lines(width)
        for block in state.blocks:
            if live or self.transcript.blocks:
                live.append([])
            live += render(block, width, look, now)
        menu = [] if self.stage.active else self.menu.lines(width, look)
        room = max(height - len(after) - len(menu) - 1, 0)
        shown = live[-room:] if room else []
        if shown and len(shown) < len(live):
            shown[0] = [(look.style("dim"), f"… {len(live) - len(shown) + 1} lines above, to be printed when finished")]
        return [*shown, [], *after, *menu]

    def below(self, width: int) -> list[Line]:
        widgets, own = self.ui.parts.widgets("below_editor", width), self.ui.parts.footer_lines(width)
        if own is not None:
            return [*widgets, *own]
        facts = replace(self.facts.read(self.app), subagents=self.ui.parts.subagents)
        return [*widgets, *footer_lines(facts, self.front.state.statuses, width, self.look)]

    def _resized(self, width: int) -> None:
        rows = self.screen.size.rows + self.screen.held_back
        self.screen.held_back = 0
        self.screen.reprint(self.transcript.last_lines(width, self.look, rows)[-rows:])

    def prompt_mark(self) -> tuple[str, str]:
        """The mark before what is typed."""
        return self.look.style("accent"), "› "

    def failed(self, context: dict[str, Any]) -> None:
        """The event loop's own complaint: a note, never text across the screen."""
        error = context.get("exception")
        self.tell(clean(f"internal error: {context.get('message', '')} {error or ''}"), "error")

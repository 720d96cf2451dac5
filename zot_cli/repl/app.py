"""The interactive application: one screen, one editor, one session at a time, and what keys do with them.

Holds the pieces together; what is shown is `state.py`'s and `blocks/`'s, what a session does is the core's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from prompt_toolkit.layout import Container

from zot_cli import exits
from zot_cli.plain import clean
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
from zot_cli.repl.sending import Sending
from zot_cli.repl.spans import Line
from zot_cli.repl.state import Told
from zot_cli.repl.terminal import Terminal
from zot_cli.repl.themes import ScreenThemes
from zot_cli.repl.transcript import Transcript
from zot_cli.repl.ui import ReplUi
from zot_core.types.failure import UsageError

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
        self.sending = Sending(self)
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
        self.sending.send_early()

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

    def interrupt(self) -> None:
        """Esc: closes the menu, else ends the run, and what was queued comes back into the editor."""
        if self.menu.open:
            self.menu.close(dismiss=True)
        elif self.sending.end_shell():
            pass
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

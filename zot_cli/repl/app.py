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
from zot_cli.repl.chrome import flash_lines, waiting_lines, working_line
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
from zot_cli.repl.footer import footer_lines
from zot_cli.repl.front import ReplFront, from_messages
from zot_cli.repl.gallery import gallery_of
from zot_cli.repl.keys import Keymap
from zot_cli.repl.look import Look
from zot_cli.repl.plugin import ReplPlugin
from zot_cli.repl.screen import Screen
from zot_cli.repl.sending import Sending
from zot_cli.repl.spans import Line, rows_of
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
        built_in = BuiltIn(lambda: self.app)
        self.completer = Stack(built_in)
        editor.hint = built_in.hint
        editor.edited = self._edited
        self.ui = ReplUi(self)
        self.overlays = Overlays(self)
        self.editors = Editors(self, self.ui.parts)
        self.shortcuts = Shortcuts(self)
        self.rendering = Rendering(self.ui.parts, lambda: self.app.runtime if self.app is not None else None)
        self.gallery = gallery_of(self, lambda: self._changed(False))
        self.look = look.with_(rendering=self.rendering, gallery=self.gallery)
        self.front = ReplFront(self.ui, self._changed)
        self.front.plugin = ReplPlugin(self)
        self.facts = FactSource()
        self.themes = ScreenThemes(self, look.theme.appearance)
        self.menu = Menu(editor.buffer, lambda: self.completer, self.draw, lambda why: self.tell(why, "error"))
        self.screen = Screen(
            input=terminal.input,
            output=terminal.output,
            body=self._body,
            keys=[editor.bindings(keymap), bindings(self), self.shortcuts.bindings(), self.editors.bindings()],
            above=self.above,
            below=self.below,
            resized=self._resized,
            depth=look.depth,
        )
        self._tasks: set[asyncio.Task[Any]] = set()
        self._asked: asyncio.Future[None] | None = None
        self._interrupted = -TWICE
        self._spinning: asyncio.TimerHandle | None = None
        self.frame = 0
        """Counts the frames of the spinner."""

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
        self._asked = asyncio.ensure_future(app.asked_to_end())
        self._asked.add_done_callback(lambda _: self.leave())

    def show_session(self, app: App) -> None:
        """The end of the session's conversation, below what is on the screen."""
        session = app.runtime.session
        cards = stored_cards(session.branch(), self.rendering)
        blocks = merged(from_messages(session.messages(), session.display_of, cards), self.rendering)
        if blocks:
            self.transcript.blocks += blocks
            self._show_last()

    def _show_last(self) -> None:
        """The end of the transcript, once its pictures are ready."""
        rows = 3 * self.screen.size.rows
        lines = self.transcript.last_lines(self.screen.width, self.look, rows)
        if lines and self.gallery.ready(lines, self._show_last):
            self.screen.commit([*lines, []], max(len(self.transcript.blocks) - rows, 0))

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
            self.editor.clear()
        elif self.app is not None and not self.app.is_idle:
            self.app.abort()
        self.ui.notify_self("Ctrl-C again leaves")

    def _edited(self) -> None:
        if self.app is not None:
            self.app.runtime.activity.emit("user_activity", "draft")

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
        if self._asked is not None:
            self._asked.cancel()
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
        done: list[st.Block] = []
        pictures = self.transcript.pictures(self.front.state, self.screen.width, self.look)
        if not self.gallery.busy and self.gallery.ready(pictures):
            self.front.state, done = self.transcript.take(self.front.state)
        if done:
            width, header = self.screen.width, [] if before else self.ui.parts.header_lines(self.screen.width)
            lines = self.transcript.lines(done, width, self.look, before)
            begin = len(self.transcript.blocks) - len(done)
            self.screen.commit([*header, [], *lines] if header else lines, begin)
        if self._spinning is None:
            self._spin()
        self.screen.cost(time.perf_counter() - began)

    def _spin(self) -> None:
        if not (self.front.state.running or self.front.state.activity):
            self._spinning = None
            return
        self.frame += 1
        self._spinning = asyncio.get_running_loop().call_later(self.ui.interval, self._spin)
        self.draw()

    def _body(self) -> Container:
        return self.stage.container if self.stage.active else self.editors.container or self.editor.window

    def above(self, width: int, height: int) -> list[Line]:
        now, state, look = time.monotonic(), self.front.state, self.look
        self.stage.measure(width)
        after: list[Line] = [*flash_lines(state.flashes, width, look)]
        working = None if self.editors.embeds and not self.stage.active else self.ui.working()
        if working is not None:
            after.append(working_line(working, look))
        hint = f"{self.keymap.hint('app.queue.take_back')} takes back"
        after += waiting_lines(state.waiting, width, look, hint)
        after += self.ui.parts.widgets("above_editor", width)
        live: list[Line] = [] if self.transcript.blocks else self.ui.parts.header_lines(width)
        for block in state.blocks:
            if live or self.transcript.blocks:
                live.append([])
            live += render(block, width, look, now)
        menu = [] if self.stage.active else self.menu.lines(width, look)
        room = max(height - len(after) - len(menu) - 2, 0)
        shown = live[-room:] if room else []
        if shown and len(shown) < len(live):
            shown[0] = [(look.style("dim"), f"… {len(live) - len(shown) + 1} lines above, to be printed when finished")]
        first: list[Line] = [[]] if shown or self.transcript.blocks else []
        between: list[Line] = [[]] if after and self.stage.active else []
        return [*shown, *first, *after, *between, *menu]

    def below(self, width: int) -> list[Line]:
        widgets, own = self.ui.parts.widgets("below_editor", width), self.ui.parts.footer_lines(width)
        if own is not None:
            return [*widgets, *own]
        facts = replace(self.facts.read(self.app), subagents=self.ui.parts.subagents)
        return [*widgets, *footer_lines(facts, self.front.state.statuses, width, self.look)]

    def _resized(self, width: int) -> None:
        screen, transcript = self.screen, self.transcript
        rows = max(screen.size.rows - screen.area_rows, 1)
        seen = screen.ground.visible(*reversed(screen.size))
        held, screen.held_from = screen.held_from, None
        whole = self.app is not None and self.app.runtime.settings.values.rewrap_scrollback
        if whole:
            lines = transcript.lines(transcript.blocks, width, self.look, None)
        else:
            lines = transcript.again(width, self.look, rows, screen.width_before, seen, held)
        if whole or rows_of(lines) < rows:
            header = self.ui.parts.header_lines(width) if transcript.blocks else []
            lines = [*screen.opening, *header, *([[]] if header else []), *lines]
        screen.reprint(lines, scrollback=whole)

    def prompt_mark(self) -> tuple[str, str]:
        """The mark before what is typed."""
        return self.look.style("accent"), "› "

    def failed(self, context: dict[str, Any]) -> None:
        """The event loop's own complaint: a note, never text across the screen."""
        error = context.get("exception")
        self.tell(clean(f"internal error: {context.get('message', '')} {error or ''}"), "error")

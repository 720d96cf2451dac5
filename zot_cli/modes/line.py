"""The plain line loop of a terminal: a prompt, the answer, again. Typing while an answer comes steers it.

Knows the App's doors for prompts and the few events that it prints; must not draw anything that is not a line.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from zot_cli import exits, running, stdio
from zot_cli.appoptions import app_options
from zot_cli.modes.contributed import find, names, run_spec
from zot_cli.modes.line_front import LineFront
from zot_cli.modes.lines import Lines
from zot_cli.modes.run import close
from zot_cli.modes.signals import Signals
from zot_cli.options import refuse_misspelt
from zot_cli.plain import clean
from zot_core.app import App
from zot_core.types.content import text_of
from zot_core.types.failure import UsageError
from zot_core.types.messages import UserMessage

if TYPE_CHECKING:
    from zot_cli.options import CommandLine
    from zot_core.types.specs import CliSpec

TWICE = 2.0
"""Seconds within which a second Ctrl-C leaves."""


class Loop:
    """One person, one App, one run at a time. `app` is set once it is open."""

    def __init__(self, front: LineFront, lines: Lines) -> None:
        self.app: App | None = None
        self._front = front
        self._lines = lines
        self._runs: set[asyncio.Task[Any]] = set()
        self._queued: set[asyncio.Task[Any]] = set()
        self._interrupted = -TWICE
        self._over = asyncio.Event()

    @property
    def busy(self) -> bool:
        """Whether an answer is coming."""
        return bool(self._runs)

    def interrupt(self) -> bool:
        """Ctrl-C: ends what goes on; False for the second within two seconds, which is to leave."""
        now = time.monotonic()
        asking = self._front.ui.asking
        if now - self._interrupted < TWICE or (self.app is None and not asking):
            return False
        self._interrupted = now
        if asking:
            self._front.ui.answer(None)
        if self.app is not None and self.busy:
            self.app.abort()
        elif not asking:
            self._front.say("\n(Ctrl-C again leaves, Ctrl-D too)\n")
            self._front.prompt()
        return True

    def leave(self) -> None:
        """Ends the loop; what runs is aborted."""
        self._over.set()

    async def run(self, first: str) -> None:
        """Reads and runs until the person leaves."""
        assert self.app is not None
        self._send(first) if first else self._front.prompt()
        over = asyncio.ensure_future(self._over.wait())
        asked = asyncio.ensure_future(self.app.asked_to_end())
        asked.add_done_callback(lambda _: self._over.set())
        try:
            while not self._over.is_set():
                line = asyncio.ensure_future(self._lines.next())
                await asyncio.wait({line, over}, return_when=asyncio.FIRST_COMPLETED)
                if not line.done():
                    line.cancel()
                elif not self._typed(line.result()):
                    break
        finally:
            over.cancel()
            asked.cancel()
            if self.busy:
                self.app.abort()
                await asyncio.wait(self._runs)

    def _typed(self, line: str | None) -> bool:
        """What a line means; False when it was the last one."""
        if self._front.ui.asking:
            self._front.ui.answer(line)
            return line is not None
        text = (line or "").strip()
        if line is None or text in ("/quit", "/exit"):
            return False
        assert self.app is not None
        if not self.busy:
            self._send(text) if text else self._front.prompt()
        elif self.app.is_command(text):
            self._send(text)
        elif text.startswith(">"):
            self._queue(self.app.follow_up(text[1:].strip()), "· taken; it follows when the answer is over")
        elif text:
            self._queue(self.app.steer(text), "· taken; it joins at the next step")
        return True

    def _send(self, text: str) -> None:
        assert self.app is not None
        task = asyncio.create_task(self._answered(self.app, text), name="zot:line-prompt")
        self._runs.add(task)
        task.add_done_callback(self._runs.discard)

    def _queue(self, joining: Coroutine[Any, Any, object], sign: str) -> None:
        # No run of its own unless the other one ends meanwhile, and then the loop has to wait for it.
        task = asyncio.create_task(self._joined(joining, sign), name="zot:line-queue")
        self._queued.add(task)
        task.add_done_callback(self._queued.discard)

    async def _joined(self, joining: Coroutine[Any, Any, object], sign: str) -> None:
        assert self.app is not None
        try:
            await joining
            if self.app.runtime.queues:
                self._front.say(f"{sign}\n")
        except Exception as error:  # as for a prompt
            stdio.reason(_said(error))

    async def _answered(self, app: App, text: str) -> None:
        try:
            end = await app.prompt(text)
            said = exits.reason_of(end.stop, end.failure) if end is not None else ""
        except Exception as error:  # one prompt that failed is not the end of the conversation
            said = _said(error)
        self._front.finish()
        if said:
            stdio.reason(said)
        self._give_back(app)
        if len(self._runs) <= 1:
            self._front.prompt()

    def _give_back(self, app: App) -> None:
        """What was queued for a run that was aborted or failed is shown again and dropped: no line is sent unawares."""
        if not app.is_idle or not app.runtime.queues:
            return
        texts = []
        for message in app.runtime.queues.give_back():
            if isinstance(message, UserMessage):
                texts.append(clean(text_of(message.content)))
            else:
                app.runtime.queues.put("next_turn", message)  # a plugin's; it joins the next prompt
        if texts:
            lines = "1 line was" if len(texts) == 1 else f"{len(texts)} lines were"
            self._front.say("\n  ".join([f"({lines} not sent:)", *texts]) + "\n")


def _said(error: Exception) -> str:
    failure = exits.failure_of(error)
    return str(failure) if isinstance(failure, UsageError) else failure.message


async def _main(line: CommandLine) -> tuple[int, CliSpec | None]:
    task = asyncio.current_task()
    assert task is not None
    front = LineFront()
    app: App | None = None
    spec: CliSpec | None = None
    with Signals(task) as signals, Lines() as lines:
        loop = Loop(front, lines)
        signals.on_interrupt = loop.interrupt
        try:
            loop.app = app = await _opened(line, front, lines)
            signals.on_stop = loop.leave
            if line.unknown:
                line.reparse(())
            spec = find(app, line)
            if spec is None:
                refuse_misspelt(line, names(app))
                front.greet(app)
                await loop.run(line.prompt)
        except asyncio.CancelledError:
            if not signals.code:
                raise
            task.uncancel()
        finally:
            late = await close(app)
    if late is not None:
        stdio.reason(late.message)
    return signals.code or (exits.DONE if late is None else exits.FAILED), spec


async def _opened(line: CommandLine, front: LineFront, lines: Lines) -> App:
    """Opens the App while its questions (may this project be trusted?) are answered by lines."""
    opening = asyncio.ensure_future(App.open(app_options(line, "repl"), front))
    typed = asyncio.ensure_future(lines.next())
    early: list[str | None] = []
    try:
        while not opening.done():
            await asyncio.wait({opening, typed}, return_when=asyncio.FIRST_COMPLETED)
            if typed.done():
                text = typed.result()
                front.ui.answer(text) if front.ui.asking else early.append(text)
                if text is None:
                    break
                typed = asyncio.ensure_future(lines.next())
        return await opening
    finally:
        typed.cancel()
        opening.cancel()
        for text in reversed(early):
            lines.unread(text)


def run(line: CommandLine) -> int:
    """Runs the line loop until the person leaves; returns the exit code."""
    code, spec = running.run(_main(line))
    return code if spec is None else run_spec(spec, line)

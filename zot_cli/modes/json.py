"""JSON mode: every event one line on stdout, as the command line's contract has it; diagnostics on stderr.

Lines that come in one step of the event loop leave in one write: a flood of deltas costs little and nothing waits.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from zot_cli.modes.front import Broken, show_note
from zot_cli.stdio import Output
from zot_core._version import __version__
from zot_core.ctx.null_ui import NullUi
from zot_core.wire.codec import encode
from zot_core.wire.json_events import Projector

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zot_cli.options import CommandLine
    from zot_core.agent.sink import Stored
    from zot_core.app import App
    from zot_core.events.base import Block, Event, Handled
    from zot_core.frontend import Note
    from zot_core.types.failure import Failure, StopReason
    from zot_core.types.specs import Mode
    from zot_core.wire.codec import WireEvent

FLUSH_AT = 1 << 16
"""Bytes that are written without waiting for the loop's next step."""


class JsonFront(Broken):
    """A front end that writes wire events. What comes before the session is known waits behind its line."""

    mode: Mode = "json"
    wants = Projector.wants

    def __init__(self, out: Output) -> None:
        super().__init__(out)
        self.ui = NullUi(self.note, self.mode)
        self._projector = Projector()
        self._lines: list[bytes] = []
        self._size = 0
        self._begun = False
        self._ended = False
        self._scheduled = False

    def event(self, event: Event, stop: Block | Handled | None = None, plugin: str = "") -> None:
        self._send(self._projector.event(event, stop))

    def stored(self, stored: Stored) -> None:
        self._send(self._projector.stored(stored))

    def note(self, note: Note) -> None:
        told = [] if self._ended else self._projector.note(note)
        if told:
            self._send(told)
        else:
            show_note(note)

    def begin(self, app: App) -> None:
        session = app.runtime.session
        if session.path is not None:
            line = {"type": "session", "id": session.id, "path": str(session.path), "cwd": str(app.runtime.cwd)}
            self._lines.insert(0, encode({**line, "version": __version__}))
        self._begun = True
        self._flush()

    def end(self, stop: StopReason, failure: Failure | None) -> None:
        self._send(self._projector.finish(stop, failure))
        self._begun = self._ended = True
        self._flush()

    def _send(self, events: Iterable[WireEvent]) -> None:
        if self._ended:
            return  # from something that was told to end and did not; `done` stays the last line
        for event in events:
            line = encode(event)
            self._lines.append(line)
            self._size += len(line)
        if not self._begun or not self._lines:
            return
        if self._size > FLUSH_AT:
            self._flush()
        elif not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._scheduled = False
        if self._lines and self._begun:
            data = b"".join(self._lines)
            self._lines.clear()
            self._size = 0
            self.write(data)


def run(line: CommandLine) -> int:
    """Runs the line's prompt in JSON mode; returns the exit code."""
    from zot_cli.modes.run import run_prompt

    return run_prompt(line, JsonFront)

"""Print mode: the last answer's visible text on stdout when the run is over, and nothing else there.

Notices and retries go to stderr; what the tools do goes there too while it is a terminal. The text that a slash command
returned is an answer as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zot_cli import stdio
from zot_cli.modes.front import Broken, note_text, withheld_by
from zot_cli.modes.progress import Progress, call_line, failed_line, retries_of, retry_text
from zot_cli.plain import clean
from zot_cli.stdio import Output, OutputGone
from zot_core.ctx.null_ui import NullUi
from zot_core.types.content import text_of
from zot_core.types.messages import AssistantMessage
from zot_core.types.stream import Retrying, TextDelta

if TYPE_CHECKING:
    from zot_cli.options import CommandLine
    from zot_core.agent.sink import Stored
    from zot_core.app import App
    from zot_core.events.base import Block, Event, Handled
    from zot_core.events.message import MessageUpdateEvent
    from zot_core.events.tool import ToolCallEvent, ToolExecutionEndEvent
    from zot_core.frontend import Note
    from zot_core.types.failure import Failure, StopReason
    from zot_core.types.specs import Mode

_ALWAYS = frozenset({"message_update"})
_ON_A_TERMINAL = _ALWAYS | {"turn_start", "tool_call", "tool_execution_end"}


class PrintFront(Broken):
    """A front end that keeps the last answer. Without a terminal on stderr it wants nothing but to know of retries."""

    mode: Mode = "print"

    def __init__(self, out: Output) -> None:
        super().__init__(out)
        self.ui = NullUi(self.note, self.mode)
        self._progress = Progress() if stdio.is_terminal(2) else None
        self.wants: frozenset[str] = _ON_A_TERMINAL if self._progress else _ALWAYS
        self._answer = ""
        self._retries = 0

    def event(self, event: Event, stop: Block | Handled | None = None, plugin: str = "") -> None:
        if stop is not None or self.broken is not None:
            return
        try:
            if event.hook == "message_update":
                self._part(event)  # type: ignore[arg-type]
            elif self._progress is not None:
                self._show(self._progress, event)
        except OSError:
            # The terminal is gone, and with it whoever waits for the answer.
            self.give_up(OutputGone())

    def stored(self, stored: Stored) -> None:
        if isinstance(stored.message, AssistantMessage):
            self._answer = "" if stored.withheld else stored.display or ""
            if stored.withheld:
                self._say(f"zot: the answer was withheld by {withheld_by(stored)}")

    def note(self, note: Note) -> None:
        if note.kind == "answer":
            self._wipe()
            self._write_text(note.text)
        else:
            self._say(note_text(note, verbose=self._progress is not None))

    def begin(self, app: App) -> None:
        self._retries = retries_of(app)

    def end(self, stop: StopReason, failure: Failure | None) -> None:
        self._wipe()
        if failure is not None or stop in ("error", "aborted", "blocked"):
            return
        if stop == "length":
            self._say("zot: the answer was cut: the model reached its limit of output")
        self._write_text(self._answer)

    def _write_text(self, text: str) -> None:
        text = clean(text)
        if text:
            self.write((text if text.endswith("\n") else text + "\n").encode("utf-8", "replace"))

    def _show(self, progress: Progress, event: Event) -> None:
        if event.hook == "turn_start":
            progress.status("· waiting for the model …")
        elif event.hook == "tool_call":
            call: ToolCallEvent = event  # type: ignore[assignment]
            progress.line(call_line(call.tool_name, call.args))
        else:
            ended: ToolExecutionEndEvent = event  # type: ignore[assignment]
            if ended.is_error:
                progress.line(failed_line(ended.tool_name, text_of(ended.content)))

    def _part(self, event: MessageUpdateEvent) -> None:
        if isinstance(event.part, Retrying):
            self._say(f"zot: {retry_text(event.part, self._retries)}")
        elif self._progress is not None and isinstance(event.part, TextDelta):
            self._progress.status("· answering …")

    def _wipe(self) -> None:
        if self._progress is not None:
            try:
                self._progress.status("")
            except OSError:
                self.give_up(OutputGone())

    def _say(self, text: str) -> None:
        if text:
            self._wipe()
            stdio.complain(text)


def run(line: CommandLine) -> int:
    """Runs the line's prompt in print mode; returns the exit code."""
    from zot_cli.modes.run import run_prompt

    return run_prompt(line, PrintFront)

"""The line loop's front end: the answer as it comes, whole lines at a time, and what the tools do.

Text waits for the end of its line, so that no control sequence gets through in two halves.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from zot_cli.modes.front import note_text
from zot_cli.modes.line_ui import LineUi
from zot_cli.modes.progress import call_line, failed_line, retry_line
from zot_cli.plain import clean, one_line
from zot_core._version import __version__
from zot_core.types.content import text_of
from zot_core.types.messages import AssistantMessage, CustomMessage
from zot_core.types.stream import Retrying, TextDelta

if TYPE_CHECKING:
    from zot_core.agent.sink import Stored
    from zot_core.events.base import Block, Event, Handled
    from zot_core.events.message import MessageUpdateEvent
    from zot_core.events.tool import ToolCallEvent, ToolExecutionEndEvent
    from zot_core.frontend import Note
    from zot_core.types.specs import Mode

HELP = (
    "Enter sends. While an answer comes, a line steers it and a line that begins with > waits for its end. "
    "Ctrl-C stops the answer, twice leaves; Ctrl-D leaves."
)


class LineFront:
    """Prints to a terminal that may go away at any time; `gone` is then true and nothing more is printed."""

    mode: Mode = "repl"
    wants = frozenset({"message_start", "message_update", "tool_call", "tool_execution_end"})

    def __init__(self) -> None:
        self.ui = LineUi(self.note, self.say)
        self.gone = False
        self._line = ""
        self._printed = False

    def greet(self) -> None:
        """The first lines."""
        self.say(f"zot {__version__}. {HELP}\n")

    def say(self, text: str) -> None:
        """Text for the terminal, as it is."""
        if self.gone:
            return
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError:
            self.gone = True

    def prompt(self) -> None:
        """Asks for the next prompt."""
        self.say("> ")

    def finish(self) -> None:
        """The answer is over: prints what still waits for the end of its line."""
        if self._line:
            self.say(f"{clean(self._line)}\n")
            self._line = ""

    def event(self, event: Event, stop: Block | Handled | None = None, plugin: str = "") -> None:
        if stop is not None:
            return
        if event.hook == "message_update":
            self._part(event)  # type: ignore[arg-type]
        elif event.hook == "message_start":
            self._printed = False
        elif event.hook == "tool_call":
            call: ToolCallEvent = event  # type: ignore[assignment]
            self.finish()
            self.say(call_line(call.tool_name, call.args) + "\n")
        else:
            ended: ToolExecutionEndEvent = event  # type: ignore[assignment]
            if ended.is_error:
                self.say(failed_line(ended.tool_name, text_of(ended.content)) + "\n")

    def stored(self, stored: Stored) -> None:
        message = stored.message
        if isinstance(message, AssistantMessage):
            if stored.withheld:
                self._line = ""
                self.say(f"(the answer was withheld by {one_line(stored.plugin or 'a plugin')})\n")
            elif stored.display and not self._printed:
                self._line = stored.display
            self.finish()
        elif isinstance(message, CustomMessage) and message.display:
            self.say(f"[{one_line(message.custom_type, 60)}] {clean(text_of(message.content))}\n")

    def note(self, note: Note) -> None:
        text = note_text(note, verbose=True)
        if text:
            self.finish()
            self.say(text + "\n")

    def _part(self, event: MessageUpdateEvent) -> None:
        if isinstance(event.part, TextDelta):
            self._printed = self._printed or bool(event.part.text)
            whole, newline, self._line = (self._line + event.part.text).rpartition("\n")
            if newline:
                self.say(f"{clean(whole)}\n")
        elif isinstance(event.part, Retrying):
            self.finish()
            self._printed = False
            self.say(retry_line(event.part) + "\n")

"""The line loop's front end: the answer as it comes, whole lines at a time, and what the tools do.

Text waits for the end of its line, so that no control sequence gets through in two halves.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from zot_cli.modes.front import note_text, withheld_by
from zot_cli.modes.line_ui import LineUi
from zot_cli.modes.progress import Progress, call_line, failed_line, retries_of, retry_text
from zot_cli.plain import clean, one_line
from zot_cli.stdio import fitted
from zot_core._version import __version__
from zot_core.types.content import text_of
from zot_core.types.failure import RunFailed
from zot_core.types.messages import AssistantMessage, CustomMessage, UserMessage
from zot_core.types.stream import Retrying, TextDelta, ThinkingDelta

if TYPE_CHECKING:
    from zot_core.agent.sink import Stored
    from zot_core.app import App
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
    plugin: object = None
    wants = frozenset({"turn_start", "message_start", "message_update", "tool_call", "tool_execution_end"})

    def __init__(self) -> None:
        self.ui = LineUi(self.note, self.say)
        self.gone = False
        self._line = ""
        self._printed = False
        self._retries = 0
        self._progress = Progress(sys.stdout)

    def greet(self, app: App) -> None:
        """The first lines: how to use it, the model and the session, and what will be missing."""
        self._retries = retries_of(app)
        for text in (f"zot {__version__}. {HELP}", *banner(app)):
            self.say(f"{fitted(clean(text), 1)}\n")

    def say(self, text: str) -> None:
        """Text for the terminal, as it is."""
        if self.gone:
            return
        try:
            self._progress.status("")
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError:
            self.gone = True

    def prompt(self) -> None:
        """Asks for the next prompt."""
        self.say("zot> ")

    def finish(self) -> None:
        """The answer is over: prints what still waits for the end of its line."""
        line, self._line = self._line, ""
        self.say(f"{clean(line)}\n" if line else "")

    def event(self, event: Event, stop: Block | Handled | None = None, plugin: str = "") -> None:
        if stop is not None:
            return
        if event.hook == "message_update":
            self._part(event)  # type: ignore[arg-type]
        elif event.hook == "turn_start":
            self._status("· waiting for the model …")
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
                self.say(f"(the answer was withheld by {one_line(withheld_by(stored), 500)})\n")
            elif stored.display and not self._printed:
                self._line = stored.display
            self.finish()
        elif isinstance(message, CustomMessage) and message.display:
            self.say(f"[{one_line(message.custom_type, 60)}] {clean(text_of(message.content))}\n")

    def note(self, note: Note) -> None:
        text = note_text(note, verbose=True)
        if text:
            self.finish()
            self.say(fitted(text, 1) + "\n")

    def _part(self, event: MessageUpdateEvent) -> None:
        if isinstance(event.part, TextDelta):
            self._printed = self._printed or bool(event.part.text)
            whole, newline, self._line = (self._line + event.part.text).rpartition("\n")
            if newline:
                self.say(f"{clean(whole)}\n")
            if self._line:
                self._status("· answering …")
        elif isinstance(event.part, ThinkingDelta):
            self._status("· thinking …")
        elif isinstance(event.part, Retrying):
            self.finish()
            self._printed = False
            self.say(fitted(f"· {retry_text(event.part, self._retries)}", 1) + "\n")

    def _status(self, text: str) -> None:
        # Not where the person is being asked: the line that is wiped is theirs.
        if self.gone or self.ui.asking:
            return
        try:
            self._progress.status(text)
        except OSError:
            self.gone = True


def banner(app: App) -> list[str]:
    """The model and the session that the next prompt goes to, and what is known to be in its way."""
    choice = app.runtime.choice
    model, provider = choice.model, choice.provider
    if model is None or provider is None:
        try:
            choice.require()
        except RunFailed as error:
            return [_session(app), f"zot: warning: {error.failure.message}"]
        return [_session(app)]
    level = f":{choice.thinking}" if choice.thinking != "off" else ""
    said = [f"{model.provider}/{model.id}{level} · {_session(app)}"]
    if provider.stream is None and not app.has_credential(provider):
        said.append(f"zot: warning: {app.auth_missing(provider)}")
    return said


def _session(app: App) -> str:
    session = app.runtime.session
    messages = session.messages()
    if not messages:
        return "new session" if session.path is not None else "no session is kept"
    first = next((text_of(message.content) for message in messages if isinstance(message, UserMessage)), "")
    title = one_line(session.name or first, 40)
    return f"session {session.id} goes on: {len(messages)} messages" + (f', "{title}"' if title else "")

"""A front end that keeps everything it is told, and answers dialogs with what a test put there beforehand.

Knows no test framework; decides nothing.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zot_core.ctx.null_ui import Approved, NullUi
from zot_core.events import LANE_OF
from zot_core.types.messages import AssistantMessage, Message
from zot_core.wire.json_events import Projector

if TYPE_CHECKING:
    from zot_core.agent.loop import RunEnd
    from zot_core.agent.sink import Stored
    from zot_core.events.base import Block, Event, Handled
    from zot_core.frontend import Note
    from zot_core.types.specs import Mode


@dataclass(frozen=True, slots=True)
class Seen:
    """One event as a front end is told it: a Gate after its chain, with the stop and the plugin that stopped it."""

    event: Any
    stop: Block | Handled | None = None
    plugin: str = ""

    @property
    def hook(self) -> str:
        """The event's name."""
        return str(self.event.hook)


class AnsweringUi(NullUi):
    """A `ctx.ui` for tests: what `answer` queued is answered in order, else the "no" of a mode without a person.

    `asked` lists every dialog as (method, title), `hidden` the titles of those that ask for a secret.
    """

    def __init__(self, send: Callable[[Note], None], mode: str) -> None:
        super().__init__(send, mode)
        self.asked: list[tuple[str, str]] = []
        self.hidden: list[str] = []
        self._answers: defaultdict[str, deque[Any]] = defaultdict(deque)

    def answer(self, method: str, *values: Any) -> None:
        """The next answers of `method`: select, confirm, input, editor, question, approve or custom."""
        self._answers[method].extend(values)

    def _next(self, method: str, title: str, otherwise: Any) -> Any:
        self.asked.append((method, title))
        queue = self._answers[method]
        return queue.popleft() if queue else otherwise

    async def select(self, title: str, options: Sequence[str], *, timeout: float | None = None) -> str | None:
        """The next queued option, or None."""
        chosen = self._next("select", title, None)
        if chosen is not None and chosen not in options:
            raise AssertionError(f"{chosen!r} is not among the options of {title!r}: {', '.join(options)}")
        return chosen  # type: ignore[no-any-return]

    async def confirm(self, title: str, message: str = "", *, timeout: float | None = None) -> bool:
        """The next queued truth, or False."""
        return bool(self._next("confirm", title, False))

    async def input(
        self, title: str, placeholder: str = "", *, timeout: float | None = None, hidden: bool = False
    ) -> str | None:
        """The next queued line, or None."""
        self.hidden += [title] if hidden else []
        return self._next("input", title, None)  # type: ignore[no-any-return]

    async def editor(self, title: str, prefill: str = "", *, timeout: float | None = None) -> str | None:
        """The next queued text, or None."""
        return self._next("editor", title, None)  # type: ignore[no-any-return]

    async def question(
        self, questions: Sequence[Mapping[str, Any]], *, timeout: float | None = None
    ) -> Mapping[str, Any]:
        """The next queued answer, or the outcome `unavailable`."""
        otherwise = await super().question(questions, timeout=timeout)
        return self._next("question", str(questions[0].get("question", "")) if questions else "", otherwise)  # type: ignore[no-any-return]

    async def approve(self, call_id: str, tool_name: str, preview: str) -> Approved:
        """Yes or no as queued (a bool or an `Approved`), else no."""
        answer = self._next("approve", tool_name, None)
        if answer is None:
            return await super().approve(call_id, tool_name, preview)
        return answer if isinstance(answer, Approved) else Approved(allowed=bool(answer), reason="the test said so")

    async def custom(self, factory: Callable[..., Any], **options: Any) -> Any:
        """The next queued value, or None."""
        return self._next("custom", "", None)


class RecordingFrontEnd:
    """A front end for tests. `events`, `messages`, `notes` and `lines` (the JSON events) grow as things happen."""

    def __init__(self, mode: Mode = "json") -> None:
        self.mode: Mode = mode
        self.plugin: Any = None
        self.wants = frozenset(LANE_OF)
        self.ui = AnsweringUi(self.note, mode)
        self.events: list[Seen] = []
        self.messages: list[Message] = []
        self.shown: list[str] = []
        """What people see of each assistant message; a withheld one is missing."""
        self.notes: list[Note] = []
        self.lines: list[dict[str, Any]] = []
        self.projector = Projector()
        self.end: RunEnd | None = None
        """How the run ended, where `run_prompt` ran it; None when a plugin or a command dealt with the prompt."""

    def event(self, event: Event, stop: Block | Handled | None = None, plugin: str = "") -> None:
        """Keeps the event and its JSON events."""
        self.events.append(Seen(event, stop, plugin))
        if event.hook in self.projector.wants:
            self.lines += self.projector.event(event, stop)

    def stored(self, stored: Stored) -> None:
        """Keeps the message and its JSON events."""
        self.messages.append(stored.message)
        if isinstance(stored.message, AssistantMessage) and stored.display and not stored.withheld:
            self.shown.append(stored.display)
        self.lines += self.projector.stored(stored)

    def note(self, note: Note) -> None:
        """Keeps the note and its JSON events."""
        self.notes.append(note)
        self.lines += self.projector.note(note)

    def of(self, hook: str) -> list[Any]:
        """The events named `hook`, in order."""
        return [seen.event for seen in self.events if seen.hook == hook]

    def hooks(self) -> list[str]:
        """The names of all events in order, deltas aside."""
        return [seen.hook for seen in self.events if seen.hook != "message_update"]

    def tool_results(self) -> list[Any]:
        """The results of tool calls in the order of the transcript."""
        return [message for message in self.messages if message.role == "tool"]

    @property
    def answer(self) -> str:
        """What people saw last of the model's text; empty when nothing was shown."""
        return self.shown[-1] if self.shown else ""

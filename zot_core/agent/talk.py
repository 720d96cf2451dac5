"""How a run talks to its sink: what an abort interrupts, what it must still let through, and what is kept in memory.

Within a run no cancel travels on: it is noted, the signal is aborted, and the run ends as an aborted one does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from zot_core import events
from zot_core.agent.cancel import AFTER_ABORT_S, Aborted, Signal, interruptible
from zot_core.agent.config import AgentState, TurnConfig
from zot_core.agent.queues import Queues
from zot_core.agent.sink import Outcome, Sink, Stored
from zot_core.events.base import Fact, Gate
from zot_core.types.content import Text, ToolCall, text_of
from zot_core.types.failure import Failure, RunFailed, StopReason
from zot_core.types.messages import (
    AssistantMessage,
    CustomMessage,
    DraftEntry,
    Message,
    ToolResultMessage,
    UserMessage,
    new_id,
)
from zot_core.types.usage import Usage

G = TypeVar("G", bound=Gate)
M = TypeVar("M", bound=Message)
T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Run:
    """What one run knows of itself. `system` is the prompt that `before_agent_start` set for this run, if it did."""

    state: AgentState
    config: Callable[[], TurnConfig]
    sink: Sink
    queues: Queues
    signal: Signal
    task: asyncio.Task[object] | None
    cancelling: int = 0
    id: str = field(default_factory=new_id)
    messages: list[Message] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    system: str | None = None
    max_steps: int = 0
    step: int = 0
    cuts: int = 0
    stop: StopReason = "end_turn"
    failure: Failure | None = None
    cancelled: bool = False

    def note_cancel(self, error: asyncio.CancelledError) -> None:
        """Called where a CancelledError was caught. One that was meant for this run's task ends the run; one that a
        handler let slip (it awaited something that was cancelled) counts as no answer; another task's goes on."""
        if asyncio.current_task() is not self.task:
            raise error
        if self.task is not None and self.task.cancelling() > self.cancelling:
            self.cancelled = True
            self.cancelling = self.task.cancelling()
            self.signal.abort("cancelled")

    def keep(self, message: Message) -> None:
        """Appends a message to the transcript in memory, once."""
        if not self.messages or self.messages[-1].id != message.id:
            self.state.messages.append(message)
            self.messages.append(message)
            usage = getattr(message, "usage", None)
            if usage is not None:
                self.usage = self.usage + usage


async def tell(run: Run, event: Fact) -> None:
    """A Fact. After an abort its listeners get `AFTER_ABORT_S` seconds together."""
    try:
        with interruptible(run.signal, AFTER_ABORT_S):
            await run.sink.tell(event)
    except Aborted:
        pass  # a listener that hangs may not hold up the end of an aborted run
    except asyncio.CancelledError as error:
        run.note_cancel(error)


async def interrupted(run: Run, work: Callable[[], Awaitable[T]]) -> T:
    """What `work` answers, unless an abort comes first. Raises Aborted; RunFailed when it was cancelled from within."""
    try:
        with interruptible(run.signal):
            return await work()
    except asyncio.CancelledError as error:
        run.note_cancel(error)
        if run.signal.aborted:
            raise Aborted(run.signal.reason) from None
        raise RunFailed(Failure(kind="internal", message="A step of the run was cancelled from within.")) from None


async def ask(run: Run, event: G) -> Outcome[G]:
    """A Gate that an abort interrupts at once. Raises Aborted."""
    return await interrupted(run, lambda: run.sink.gate(event))


async def ask_last(run: Run, event: G) -> Outcome[G] | None:
    """A Gate that is asked even after an abort, for `AFTER_ABORT_S` seconds; None: nobody answered in time."""
    try:
        with interruptible(run.signal, AFTER_ABORT_S):
            return await run.sink.gate(event)
    except Aborted:
        return None
    except asyncio.CancelledError as error:
        run.note_cancel(error)
        return None


async def prepared(run: Run) -> tuple[TurnConfig, str]:
    """The next model call's configuration and system prompt (this run's own, or the epoch's). Raises Aborted."""
    config, text = await interrupted(run, lambda: run.state.prompt.prepare(run.config, run.sink, run.signal))
    run.max_steps = config.max_steps
    return config, text if run.system is None else run.system


async def end_message(run: Run, message: M) -> M:
    """The message as `message_end` leaves it; an answer of another kind counts as none."""
    if not run.sink.wants("message_end"):
        return message
    outcome = await ask_last(run, events.MessageEndEvent(message=message))
    changed = message if outcome is None else outcome.event.message
    return changed if isinstance(changed, type(message)) else message


async def store(run: Run, stored: Stored) -> None:
    """Keeps a message in memory and in the session; no abort interrupts it. Raises RunFailed if it is not written."""
    run.keep(stored.message)
    try:
        await run.sink.store(stored)
    except asyncio.CancelledError as error:
        run.note_cancel(error)  # the record is written before anybody is told, so it counts as stored


async def publish(run: Run, message: UserMessage | CustomMessage | ToolResultMessage) -> None:
    """A message that is whole from the start: `message_start`, `message_end`, stored."""
    if run.sink.wants("message_start"):
        await tell(run, events.MessageStartEvent(message=message))
    message = await end_message(run, message)
    await store(run, Stored(message=message, display=text_of(message.content)))


async def publish_all(run: Run, messages: Sequence[UserMessage | CustomMessage | ToolResultMessage]) -> None:
    """Messages in their order. When one cannot be written all are kept in memory before RunFailed is raised."""
    for number, message in enumerate(messages):
        try:
            await publish(run, message)
        except RunFailed:
            for rest in messages[number:]:
                run.keep(rest)
            raise


async def store_entries(run: Run, entries: Iterable[DraftEntry]) -> None:
    """Writes the entries that plugins proposed at a boundary; those that models read join the transcript."""
    for entry in entries:
        try:
            message = await run.sink.store_entry(entry)
        except asyncio.CancelledError as error:
            run.note_cancel(error)
            continue
        if isinstance(message, CustomMessage):
            run.keep(message)


def unrun(call: ToolCall, why: str) -> ToolResultMessage:
    """The result of a call that never ran or never answered, so that every call has one."""
    return ToolResultMessage(call_id=call.id, tool_name=call.name, content=(Text(why),), is_error=True)


def why_aborted(signal: Signal, running: bool = False) -> str:
    """What the model is told of a call that an abort ended (`running`) or kept from running."""
    what = "aborted by the user" if signal.reason == "user" else f"aborted ({signal.reason or 'stopped'})"
    return f"The call was {what}; it may have done part of its work." if running else f"Not run: {what}."


def mend(run: Run) -> None:
    """Gives calls of the last assistant message that have no result one in memory. A run that ends as it should leaves
    nothing to mend; one that broke still leaves a transcript that can be sent."""
    answered = set()
    for message in reversed(run.messages):
        if isinstance(message, ToolResultMessage):
            answered.add(message.call_id)
            continue
        if isinstance(message, AssistantMessage):
            for call in message.tool_calls:
                if call.id not in answered:
                    run.keep(unrun(call, "Not run: the run ended before."))
        return

"""One turn: queued messages join, the model is called, its message is kept, its tool calls run.

Must not know a provider: what fails arrives as a `Failed` part, and a stream that breaks its word is treated as one.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from zot_core import events
from zot_core.agent.builder import MessageBuilder
from zot_core.agent.cancel import Aborted, interruptible
from zot_core.agent.config import TurnConfig
from zot_core.agent.sink import Stored
from zot_core.agent.talk import (
    Run,
    ask,
    ask_last,
    end_message,
    interrupted,
    prepared,
    publish,
    publish_all,
    store,
    store_entries,
    tell,
    unrun,
    why_aborted,
)
from zot_core.events.base import Block
from zot_core.models.protocol import Request
from zot_core.types.failure import Failure, RunFailed, StopReason
from zot_core.types.messages import AnyMessage, AssistantMessage, Message, SystemMessage, ToolResultMessage
from zot_core.types.safe_text import error_text
from zot_core.types.stream import Done, Failed, Retrying, Routed, StreamPart, TextDelta

if TYPE_CHECKING:
    from zot_core.agent.calls import Batch

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Turn:
    """How a turn ended. `more` asks for another model call: tools answered, or a plugin wants it."""

    stop: StopReason = "end_turn"
    failure: Failure | None = None
    message: AssistantMessage | None = None
    results: tuple[ToolResultMessage, ...] = ()
    more: bool = False


@dataclass(slots=True)
class _Reply:
    """One model call on its way: what has come, and who is told of it."""

    builder: MessageBuilder
    hold_text: bool
    wants_updates: bool
    started: bool = False
    done: Done | None = None
    failure: Failure | None = None
    partial: Any = field(init=False)

    def __post_init__(self) -> None:
        self.partial = self.builder.partial


async def take_turn(run: Run) -> Turn:
    """Runs one turn to its `turn_end`, however it goes. Raises RunFailed only when that cannot be told either."""
    turn = Turn()
    try:
        await _deliver_steering(run)
        block = await _announce(run)
        if block is not None:
            reason = block.reason or "a plugin stopped the turn"
            turn.stop, turn.failure = "blocked", Failure(kind="blocked", message=reason)
        else:
            await _converse(run, turn)
    except Aborted:
        turn.stop, turn.failure = "aborted", None
    except RunFailed as error:
        turn.stop, turn.failure = "error", error.failure
    if turn.stop != "error" and turn.stop != "blocked" and run.signal.aborted and not _is_last(turn):
        turn.stop, turn.more = "aborted", False
    await _end_turn(run, turn)
    return turn


def _is_last(turn: Turn) -> bool:
    """An abort that comes when a complete answer has ended the run aborts nothing."""
    return turn.stop in ("end_turn", "length") and turn.message is not None and not turn.more


async def _deliver_steering(run: Run) -> None:
    while not run.signal.aborted and (message := run.queues.take("steer")) is not None:
        await publish(run, message)


async def _announce(run: Run) -> Block | None:
    """`turn_start`, and the block that a plugin answered it with."""
    if not run.sink.wants("turn_start"):
        return None
    outcome = await ask(run, events.TurnStartEvent(step=run.step, time=time.time()))
    return outcome.stop if isinstance(outcome.stop, Block) else None


async def _converse(run: Run, turn: Turn) -> None:
    """The model call, again if room could be made for it, and the tool calls that it asks for."""
    config, system = await prepared(run)
    await call_model(run, config, system, turn)
    failure = turn.failure
    overflow = failure if failure and failure.kind == "context_overflow" and turn.message is None else None
    if overflow is not None and await _made_room(run, config, overflow):
        turn.stop, turn.failure = "end_turn", None
        config, system = await prepared(run)
        await call_model(run, config, system, turn)
    message = turn.message
    if message is None or not message.tool_calls:
        return
    if turn.stop in ("aborted", "error"):
        why = why_aborted(run.signal) if turn.stop == "aborted" else "Not run: the answer failed before its end."
        turn.results = tuple(unrun(call, why) for call in message.tool_calls)
        await publish_all(run, turn.results)
        return
    batch = await _run_batch(run, config, message)
    turn.results = batch.results
    turn.more = not batch.terminate
    run.cuts = run.cuts + 1 if turn.stop == "length" else 0


async def _made_room(run: Run, config: TurnConfig, failure: Failure) -> bool:
    make_room = config.on_overflow
    if make_room is None:
        return False
    return await interrupted(run, lambda: make_room(failure))


async def _run_batch(run: Run, config: TurnConfig, message: AssistantMessage) -> Batch:
    # Imported with the first call: the first request needs neither tools nor their events.
    from zot_core.agent.calls import run_batch

    return await run_batch(run, config, message)


async def call_model(run: Run, config: TurnConfig, system: str, turn: Turn) -> None:
    """One model call up to its stored message; `turn` gets stop, failure and message.

    A message begins with the first part that is neither a retry nor a failure; an answer that never began leaves none.
    """
    sink = run.sink
    model = config.model
    reply = _Reply(
        MessageBuilder(provider=model.provider, model=model.id, api=config.api or model.api, taken=run.state.call_ids),
        hold_text=sink.intercepts("assistant_message"),
        wants_updates=sink.wants("message_update"),
    )
    try:
        with interruptible(run.signal):
            await _stream(run, config, await _request(run, config, system), reply)
    except Aborted:
        pass  # read from the signal below: a stream may also answer an abort with a failure of its own
    except asyncio.CancelledError as error:
        run.note_cancel(error)
        if reply.failure is None:
            reply.failure = Failure(kind="internal", message="The model call was cancelled from within.")
    if reply.done is not None:
        turn.stop = reply.done.stop
    elif run.signal.aborted:
        turn.stop = "aborted"
    else:
        turn.stop, turn.failure = "error", reply.failure
    if reply.started:
        await _finish(run, reply, turn)
    elif reply.builder.usage is not None:
        run.usage = run.usage + reply.builder.usage


async def _request(run: Run, config: TurnConfig, system: str) -> Request:
    messages: tuple[Message, ...] = tuple(run.state.messages)
    text: str | None = system or None
    sink = run.sink
    if sink.wants("context"):
        messages = tuple((await sink.gate(events.ContextEvent(messages=messages))).event.messages)
    if sink.wants("context_with_system"):
        whole: tuple[AnyMessage, ...] = messages if text is None else (SystemMessage(text=text), *messages)
        whole = tuple((await sink.gate(events.ContextWithSystemEvent(messages=whole))).event.messages)
        text = whole[0].text or None if whole and isinstance(whole[0], SystemMessage) else None
        messages = tuple(message for message in whole if not isinstance(message, SystemMessage))
    return Request(
        model=config.model,
        messages=messages,
        system=text,
        tools=tuple(config.tools[name] for name in sorted(config.tools)),
        thinking=config.thinking,
        max_output=config.max_output,
        session_id=config.session_id,
    )


async def _stream(run: Run, config: TurnConfig, request: Request, reply: _Reply) -> None:
    """Reads the stream to its last part. What the provider raises becomes a failure; what the sink raises goes on."""
    try:
        parts = aiter(config.stream(request))
    except Exception as error:
        reply.failure = _as_failure(error)
        return
    try:
        await _read(run, parts, reply)
    finally:
        await _close(parts)


async def _read(run: Run, parts: AsyncIterator[StreamPart], reply: _Reply) -> None:
    feed, sink, signal = reply.builder.feed, run.sink, run.signal
    while True:
        try:
            part = await anext(parts)
            kind = type(part)
            if kind is Done or kind is Failed:
                break
            if signal.aborted:
                raise Aborted(signal.reason)  # a stream that never suspends gives a cancel no chance
            part = feed(part)
        except StopAsyncIteration:
            part = Failed(Failure(kind="network", message="The model's answer ended before its end.", retryable=True))
            break
        except Exception as error:
            part = Failed(_as_failure(error))
            break
        if not reply.started and kind is not Retrying and kind is not Routed:
            await _start(run, reply)
        if reply.wants_updates and not (reply.hold_text and kind is TextDelta):
            await sink.tell(events.MessageUpdateEvent(message_id=reply.builder.id, part=part, partial=reply.partial))
    if isinstance(part, Failed):
        reply.failure = part.failure
    elif isinstance(part, Done):
        await _end(run, reply, part)


async def _end(run: Run, reply: _Reply, part: Done) -> None:
    if part.stop not in ("end_turn", "tool_use", "length"):
        reply.failure = Failure(kind="provider", message=f"The model stopped with {part.stop!r}.")
        return
    reply.done = part
    if not reply.started:
        await _start(run, reply)


async def _start(run: Run, reply: _Reply) -> None:
    reply.started = True
    if run.sink.wants("message_start"):
        empty = replace(reply.builder.message(), content=())
        await run.sink.tell(events.MessageStartEvent(message=empty))


async def _close(parts: Any) -> None:
    """Lets a stream that was not read to its very end clean up; its troubles there are nobody's any more."""
    close = getattr(parts, "aclose", None)
    if close is None:
        return
    try:
        await close()
    except Exception:
        _log.debug("closing a model's stream failed", exc_info=True)


def _as_failure(error: Exception) -> Failure:
    if isinstance(error, RunFailed):
        return error.failure
    _log.debug("a provider's stream raised", exc_info=error)
    return Failure(kind="provider", message=f"The provider broke: {error_text(error)}")


async def _finish(run: Run, reply: _Reply, turn: Turn) -> None:
    """`message_end`, `assistant_message`, the held-back text, and the record, in this order."""
    message = await end_message(run, reply.builder.message(turn.stop, turn.failure))
    turn.message = message
    turn.stop = message.stop
    stored = await _as_shown(run, message)
    if reply.hold_text and stored.display and run.sink.wants("message_update"):
        part = TextDelta(stored.display)
        await tell(run, events.MessageUpdateEvent(message_id=message.id, part=part, partial=reply.partial))
    await store(run, stored)


async def _as_shown(run: Run, message: AssistantMessage) -> Stored:
    text = message.text
    if not text or not run.sink.wants("assistant_message"):
        return Stored(message=message, display=text)
    outcome = await ask_last(run, events.AssistantMessageEvent(text=text, message=message))
    if outcome is None:  # unanswered because of an abort: what a plugin did not release is not shown
        return Stored(message=message, display=None, withheld=True)
    if isinstance(outcome.stop, Block):
        return Stored(message=message, display=None, withheld=True, plugin=outcome.plugin, reason=outcome.stop.reason)
    return Stored(message=message, display=outcome.event.text, plugin=outcome.plugin)


async def _end_turn(run: Run, turn: Turn) -> None:
    """`turn_end`, its entries, and whether a plugin wants one more model call."""
    if not run.sink.wants("turn_end"):
        return
    event = events.TurnEndEvent(
        step=run.step, stop=turn.stop, message=turn.message, tool_results=turn.results, failure=turn.failure
    )
    outcome = await ask_last(run, event)
    if outcome is None or (turn.failure is not None and turn.failure.kind == "session"):
        return
    await store_entries(run, outcome.event.entries)
    if outcome.event.continue_run and turn.stop in ("end_turn", "tool_use", "length"):
        turn.more = True

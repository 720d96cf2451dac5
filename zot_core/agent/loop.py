"""The loop: a run from its prompt to the point where nothing goes on by itself.

Functions over messages, a configuration and a sink. Must not know a terminal, a file, a setting or a provider.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import field
from typing import Literal, TypeAlias

from zot_core.agent.cancel import Aborted, Signal
from zot_core.agent.config import AgentState, TurnConfig
from zot_core.agent.queues import Queued, Queues
from zot_core.agent.sink import Sink
from zot_core.agent.talk import Run, ask, ask_last, mend, prepared, publish_all, store_entries, tell
from zot_core.agent.turn import take_turn
from zot_core.events.agent import (
    AgentBeforeSettleEvent,
    AgentEndEvent,
    AgentSettledEvent,
    AgentStartEvent,
    BeforeAgentStartEvent,
    SystemPromptOptions,
)
from zot_core.types.content import Image, text_of
from zot_core.types.failure import Failure, RunFailed, StopReason
from zot_core.types.messages import CustomMessage, Message
from zot_core.types.record import record
from zot_core.types.usage import Usage

Trigger: TypeAlias = Literal["prompt", "delivery", "extension"]

MAX_CUTS = 3
"""So many answers in a row whose tool calls were cut at the output limit end the run."""


@record(kw_only=True)
class RunEnd:
    """How a run ended: the last turn's stop, what failed, the run's messages in order, what its model calls used."""

    stop: StopReason
    failure: Failure | None = None
    messages: tuple[Message, ...] = ()
    usage: Usage = field(default_factory=Usage)


async def run(
    *,
    state: AgentState,
    config: Callable[[], TurnConfig],
    sink: Sink,
    queues: Queues,
    signal: Signal,
    trigger: Trigger = "prompt",
) -> RunEnd:
    """Runs the agent on what waits in the lane `opening` until nothing more is to do. With nothing there it goes on
    from the transcript as it is.

    Failures of models, tools and records are part of the answer. An abort of `signal` is too; when it comes before
    `agent_start` nothing was stored, no further event is sent, and the lane is as it was. A cancel of the task is
    raised again, after the transcript was brought to a valid end.
    """
    task = asyncio.current_task()
    now = Run(
        state=state,
        config=config,
        sink=sink,
        queues=queues,
        signal=signal,
        task=task,
        cancelling=task.cancelling() if task else 0,
    )
    try:
        opening = await _open(now, trigger)
        await _rounds(now, opening)
    except Aborted:
        now.stop = "aborted"
    except RunFailed as error:
        now.stop, now.failure = "error", error.failure
    finally:
        mend(now)
    if now.cancelled:
        raise asyncio.CancelledError(signal.reason)
    return RunEnd(stop=now.stop, failure=now.failure, messages=tuple(now.messages), usage=now.usage)


async def _open(now: Run, trigger: Trigger) -> list[Queued]:
    """The prepared system prompt and `before_agent_start`; answers the messages that the run begins with."""
    config, system = await prepared(now)
    prompts = tuple(now.queues.opening)
    joining: list[CustomMessage] = []
    if now.sink.wants("before_agent_start"):
        event = BeforeAgentStartEvent(
            prompt="\n".join(text_of(message.content) for message in prompts),
            system_prompt=system,
            trigger=trigger,
            images=tuple(block for message in prompts for block in message.content if isinstance(block, Image)),
            options=config.options or SystemPromptOptions(),
        )
        answer = (await ask(now, event)).event
        joining.extend(message for message in answer.messages if isinstance(message, CustomMessage))
        if answer.system_prompt != system:
            now.system = answer.system_prompt
    prompts = now.queues.take_all("opening")  # asked for again: an abort may have taken them back meanwhile
    waiting = now.queues.take_all("next_turn")
    added: list[Queued] = [*waiting, *joining]
    first = [message for message in added if _before_prompt(message)]
    return [*first, *prompts, *(message for message in added if not _before_prompt(message))]


def _before_prompt(message: Queued) -> bool:
    return isinstance(message, CustomMessage) and message.placement == "before_prompt"


async def _rounds(now: Run, opening: list[Queued]) -> None:
    """From `agent_start` to `agent_settled`: rounds of turns, one more for each continuation that a plugin asks for."""
    more: list[Queued] | None = opening
    while more is not None:
        try:
            if now.sink.wants("agent_start"):
                await tell(now, AgentStartEvent(run_id=now.id))
            await publish_all(now, more)
            await _turns(now)
        except RunFailed as error:
            now.stop, now.failure = "error", error.failure
        mend(now)
        if now.sink.wants("agent_end"):
            messages = tuple(now.messages)
            await tell(now, AgentEndEvent(run_id=now.id, messages=messages, stop=now.stop, failure=now.failure))
        more = await _goes_on(now)
    if now.sink.wants("agent_settled"):
        await tell(now, AgentSettledEvent(run_id=now.id, stop=now.stop))


async def _turns(now: Run) -> None:
    """Turns, until the model has answered, nothing is queued, or something ends the run."""
    while True:
        if now.step >= now.max_steps:
            message = f"Stopped at the limit of {now.max_steps} model calls for one prompt (max_steps)."
            now.stop, now.failure = "error", Failure(kind="max_steps", message=message)
            return
        now.step += 1
        turn = await take_turn(now)
        now.stop, now.failure = turn.stop, turn.failure
        if not _healthy(now):
            return
        if now.cuts >= MAX_CUTS:
            now.failure = Failure(
                kind="provider",
                message=f"The model's tool calls were cut at the output limit {now.cuts} times in a row.",
            )
            return
        if turn.more or now.queues.steer:
            continue
        follow_up = [] if now.signal.aborted else _follow_up(now)
        if not follow_up:
            return
        await publish_all(now, follow_up)


def _follow_up(now: Run) -> list[Queued]:
    """The next follow-up: a prompt of its own, with its own steps."""
    message = now.queues.take("follow_up")
    if message is None:
        return []
    now.step = 0
    return [message]


async def _goes_on(now: Run) -> list[Queued] | None:
    """`agent_before_settle`: None to settle, else the messages that another round begins with, because a plugin wants
    it or something was queued meanwhile."""
    if now.failure is not None and now.failure.kind == "session":
        return None
    wanted = False
    if now.sink.wants("agent_before_settle"):
        outcome = await ask_last(now, AgentBeforeSettleEvent(run_id=now.id, stop=now.stop))
        if outcome is not None:
            await store_entries(now, outcome.event.entries)
            wanted = outcome.event.continue_run
    if not _healthy(now) or now.signal.aborted:
        return None
    if wanted or now.queues.steer:
        return []
    return _follow_up(now) or None


def _healthy(now: Run) -> bool:
    return now.failure is None and now.stop in ("end_turn", "tool_use", "length")

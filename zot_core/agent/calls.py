"""A batch of calls: those of one assistant message, and the nested calls that running tools make.

Three orders hold. Calls are gated one by one in the assistant's order, and none runs before all are gated; they end in
the order in which they complete; their result messages are published in the assistant's order. Each call gets one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from zot_core.agent.cancel import Aborted, Signal, interruptible
from zot_core.agent.config import AgentState, TurnConfig
from zot_core.agent.execute import run_call
from zot_core.agent.preflight import OpenCall, preflight, refused
from zot_core.agent.queues import Queues
from zot_core.agent.sink import Sink
from zot_core.agent.talk import Run, publish_all, unrun, why_aborted
from zot_core.types.content import ToolCall, text_of
from zot_core.types.failure import RunFailed
from zot_core.types.messages import AssistantMessage, ToolResultMessage, new_id
from zot_core.types.record import record
from zot_core.types.specs import ToolResult

ABANDON_AFTER_S = 5.0
"""How long, in seconds, an aborted tool may take to clean up before the run goes on without it."""
MAX_NESTED_DEPTH = 8
MAX_NESTED_RECORDS = 50
MAX_NESTED_TEXT = 500

_abandoned: set[asyncio.Task[None]] = set()
"""Tasks of tools that did not heed an abort; asyncio itself keeps no reference to them."""


@record
class Batch:
    """The results in the assistant's order; `terminate` if each of them asks to end the run."""

    results: tuple[ToolResultMessage, ...]
    terminate: bool


async def run_batch(run: Run, config: TurnConfig, message: AssistantMessage) -> Batch:
    """Gates and runs the calls of `message` and publishes their results. Raises RunFailed if one cannot be written; all
    are in memory then."""
    items = [OpenCall(call) for call in message.tool_calls]
    broken: RunFailed | None = None
    run.state.open_calls.update((item.call.id, item) for item in items)
    try:
        try:
            for item in items:
                await preflight(run, config, item, cut=message.stop == "length")
        except Aborted:
            _refuse_rest(items, why_aborted(run.signal))
        for group in _groups(items):
            await _run_group(run, config, group)
    except RunFailed as error:
        broken = error
    finally:
        for item in items:
            item.closed = True
            run.state.open_calls.pop(item.call.id, None)
    results = tuple(item.result or _missing(run, item, broken) for item in items)
    if broken is not None:
        for result in results:
            run.keep(result)
        raise broken
    await publish_all(run, results)
    return Batch(results, all(item.terminate for item in items))


def _refuse_rest(items: list[OpenCall], why: str) -> None:
    for item in items:
        if item.refusal is None:
            item.refusal = refused(why)


def _missing(run: Run, item: OpenCall, broken: RunFailed | None) -> ToolResultMessage:
    if broken is not None:
        return unrun(item.call, f"No result: {broken}")
    if run.signal.aborted:
        return unrun(item.call, why_aborted(run.signal, running=True))
    return unrun(item.call, "No result: the call was cancelled from outside.")


def _groups(items: list[OpenCall]) -> Iterator[list[OpenCall]]:
    """Calls that may run at the same time, in the assistant's order; a sequential tool's call stands alone."""
    group: list[OpenCall] = []
    for item in items:
        if item.refusal is None and item.spec is not None and item.spec.sequential:
            if group:
                yield group
            yield [item]
            group = []
        else:
            group.append(item)
    if group:
        yield group


async def _run_group(run: Run, config: TurnConfig, group: list[OpenCall]) -> None:
    tasks = [asyncio.create_task(run_call(run, config, item), name=f"tool {item.call.name}") for item in group]
    waiting = set(tasks)
    while waiting:
        try:
            with interruptible(run.signal, ABANDON_AFTER_S):
                await asyncio.wait(waiting)
            break
        except Aborted:
            for task in waiting:
                _abandon(task)
            break
        except asyncio.CancelledError as error:
            run.note_cancel(error)
    for task in tasks:
        if task.done() and not task.cancelled():
            task.result()  # raises what the sink raised in it


def _abandon(task: asyncio.Task[None]) -> None:
    if task.done():
        return
    _abandoned.add(task)
    task.add_done_callback(_forget)
    task.cancel()


def _forget(task: asyncio.Task[None]) -> None:
    _abandoned.discard(task)
    if not task.cancelled():
        task.exception()  # looked at, so that asyncio does not complain of it


async def execute_nested(
    name: str,
    args: Mapping[str, Any],
    *,
    state: AgentState,
    config: TurnConfig,
    sink: Sink,
    signal: Signal,
    parent_call_id: str | None = None,
    on_update: Callable[..., None] | None = None,
) -> ToolResult:
    """Runs a tool on behalf of a running call (`ctx.execute_tool`): validated and gated like a model's, with the id
    `parent/n`, its result not in the transcript but recorded, shortened, in the caller's `details["nested_calls"]`.

    Never raises for what the tool does: failures, refusals and an abort come back as an error result.
    """
    parent: OpenCall | None = state.open_calls.get(parent_call_id) if parent_call_id else None
    if parent is not None:
        parent.nested_count += 1
        call_id = f"{parent_call_id}/{parent.nested_count}"
    else:
        call_id = f"{parent_call_id or 'call'}/{new_id()}"
    if call_id.count("/") > MAX_NESTED_DEPTH:
        return refused(f"Not run: calls of tools by tools are nested deeper than {MAX_NESTED_DEPTH}.")
    run = Run(state=state, config=lambda: config, sink=sink, queues=Queues(), signal=signal, task=None)
    item = OpenCall(ToolCall(call_id, name, dict(args)), parent_call_id=parent_call_id, on_update=on_update)
    state.open_calls[call_id] = item
    try:
        try:
            await preflight(run, config, item)
        except Aborted:
            item.refusal = refused(why_aborted(signal))
        await run_call(run, config, item)
    finally:
        item.closed = True
        state.open_calls.pop(call_id, None)
    message = item.result or unrun(item.call, "No result.")
    if parent is not None:
        _record(parent, item, message)
        parent.activated.extend(item.activated)  # the transcript knows only the calls that a model made
    return ToolResult(content=message.content, is_error=message.is_error, details=message.details, usage=message.usage)


def _record(parent: OpenCall, item: OpenCall, message: ToolResultMessage) -> None:
    if message.usage is not None:
        total = parent.nested_usage
        parent.nested_usage = message.usage if total is None else total + message.usage
    if len(parent.nested) < MAX_NESTED_RECORDS:
        args = {key: _brief(value) for key, value in item.args.items()}
        text = text_of(message.content)[:MAX_NESTED_TEXT]
        parent.nested.append(
            {"id": item.call.id, "name": item.call.name, "args": args, "is_error": message.is_error, "text": text}
        )


def _brief(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    return (value if isinstance(value, str) else repr(value))[:MAX_NESTED_TEXT]

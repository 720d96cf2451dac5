"""Running one gated call: the tool itself, its progress, what it may answer, and what plugins make of the answer.

A tool is other people's code: whatever it raises or returns ends as this call's result, never as the run's end.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from zot_core.agent.cancel import Aborted, interruptible
from zot_core.agent.config import TurnConfig, Update
from zot_core.agent.preflight import OpenCall, refused
from zot_core.agent.talk import Run, ask_last, tell, why_aborted
from zot_core.events.tool import ToolExecutionEndEvent, ToolExecutionUpdateEvent, ToolResultEvent
from zot_core.types.content import Image, Text, UserContent, as_content
from zot_core.types.messages import ToolResultMessage
from zot_core.types.safe_text import error_text
from zot_core.types.specs import ToolResult, ToolSpec, resolve
from zot_core.types.usage import Usage

_log = logging.getLogger(__name__)

_FAULTS = (LookupError, TypeError, AttributeError, NameError, AssertionError, ArithmeticError, NotImplementedError)
"""Errors whose text alone says nothing; the model is told their name too."""


async def run_call(run: Run, config: TurnConfig, item: OpenCall) -> None:
    """Runs a call, or takes its refusal, and fills `item.result`. Meant for a task of its own."""
    result = item.refusal
    if result is None and item.spec is not None:
        result = await _execute(run, config, item, item.spec)
    if item.pump is not None:
        await item.pump
    if not item.closed:
        await _complete(run, config, item, result or refused("Not run."))


async def _execute(run: Run, config: TurnConfig, item: OpenCall, spec: ToolSpec) -> ToolResult:
    limit = asyncio.timeout(spec.timeout)
    running = False
    try:
        with interruptible(run.signal):
            if config.barrier is not None and spec.workspace_effect != "read":
                await config.barrier(spec)
            running = True
            async with limit:
                call = replace(item.call, args=item.args)
                context = config.tool_context(call, _updater(run, item), run.signal)
                answer = resolve(spec.execute)(item.value, context)
                if inspect.isawaitable(answer):
                    answer = await answer
        return normalised(spec, answer)
    except Aborted:
        return refused(why_aborted(run.signal, running))
    except TimeoutError as error:
        if limit.expired():
            return refused(f"{spec.name} took longer than {spec.timeout:g} seconds and was stopped.")
        return refused(_text_of(error))
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return refused(f"{spec.name} was cancelled from within.")
    except (Exception, SystemExit) as error:
        _log.debug("tool %s raised", spec.name, exc_info=True)
        return refused(_text_of(error))


def _text_of(error: BaseException) -> str:
    whole = error_text(error)
    text = whole.removeprefix(f"{type(error).__name__}: ")
    return whole if isinstance(error, _FAULTS) else text


def normalised(spec: ToolSpec, answer: Any) -> ToolResult:
    """What a tool returned as a ToolResult whose content are blocks; what cannot be one becomes an error result."""
    result = answer if isinstance(answer, ToolResult) else ToolResult(content=() if answer is None else answer)
    content = _as_blocks(result.content)
    if content is None:
        what = type(result.content).__name__
        return refused(f"{spec.name} broke its contract: it returned {what}, not text, content blocks or a ToolResult.")
    for name, value, allowed in (
        ("details", result.details, (Mapping, type(None))),
        ("usage", result.usage, (Usage, type(None))),
        ("activate_tools", result.activate_tools, (tuple, list)),
    ):
        if not isinstance(value, allowed):
            return refused(f"{spec.name} broke its contract: {name} of its result is {type(value).__name__}.")
    return replace(result, content=content, activate_tools=tuple(result.activate_tools))


def _as_blocks(content: Any) -> tuple[UserContent, ...] | None:
    if isinstance(content, str | Text | Image):
        return as_content(content)
    if not isinstance(content, list | tuple):
        return None
    blocks = tuple(Text(block) if isinstance(block, str) else block for block in content)
    return blocks if all(isinstance(block, Text | Image) for block in blocks) else None


def _updater(run: Run, item: OpenCall) -> Update:
    """The function by which a call reports progress: it queues an event and returns at once, from any thread."""
    loop = asyncio.get_running_loop()

    def queue(event: ToolExecutionUpdateEvent) -> None:
        if item.closed or item.result is not None:
            return
        item.updates.append(event)
        if item.pump is None or item.pump.done():
            item.pump = loop.create_task(_pump(run, item))

    def update(content: str | Sequence[UserContent] = "", details: Mapping[str, Any] | None = None) -> None:
        blocks = as_content(content if isinstance(content, str) else tuple(content))
        if item.on_update is not None:
            item.on_update(blocks, details)
        if not run.sink.wants("tool_execution_update"):
            return
        call = item.call
        event = ToolExecutionUpdateEvent(
            call_id=call.id, tool_name=call.name, args=item.args, content=blocks, details=details
        )
        try:
            here = asyncio.get_running_loop() is loop
        except RuntimeError:
            here = False
        if here:
            queue(event)
        else:
            loop.call_soon_threadsafe(queue, event)

    return update


async def _pump(run: Run, item: OpenCall) -> None:
    while item.updates:
        await tell(run, item.updates.popleft())


async def _complete(run: Run, config: TurnConfig, item: OpenCall, result: ToolResult) -> None:
    """`tool_result`, then `tool_execution_end`; the result message is kept for its turn in the assistant's order."""
    call, sink = item.call, run.sink
    item.terminate = result.terminate
    message = ToolResultMessage(
        call_id=call.id,
        tool_name=call.name,
        content=result.content,
        is_error=result.is_error,
        details=_details(item, result),
        usage=_usage(item, result),
    )
    if item.started and sink.wants("tool_result"):
        message = await _asked(run, item, message)
    if config.fit is not None and item.parent_call_id is None:  # after plugins: the file has what they let pass
        message = await _fitted(config.fit, message)
    if item.closed:
        return
    item.result = message
    if item.started and sink.wants("tool_execution_end"):
        end = ToolExecutionEndEvent(
            call_id=call.id,
            tool_name=call.name,
            content=message.content,
            details=message.details,
            is_error=message.is_error,
            parent_call_id=item.parent_call_id,
        )
        await tell(run, end)
    if result.activate_tools and config.activate_tools is not None:
        activated = config.activate_tools(result.activate_tools)
        if inspect.isawaitable(activated):
            activated = await activated
        item.activated.extend(activated or ())
    if item.activated:
        item.result = replace(message, activated=tuple(dict.fromkeys(item.activated)))


async def _fitted(fit: Callable[..., Any], message: ToolResultMessage) -> ToolResultMessage:
    content = fit(f"{message.tool_name}-{message.call_id}", message.content)
    if content is message.content:
        return message
    return replace(message, content=await content if inspect.isawaitable(content) else content)


async def _asked(run: Run, item: OpenCall, message: ToolResultMessage) -> ToolResultMessage:
    event = ToolResultEvent(
        call_id=message.call_id,
        tool_name=message.tool_name,
        args=item.args,
        content=message.content,
        details=message.details,
        is_error=message.is_error,
        usage=message.usage,
        parent_call_id=item.parent_call_id,
    )
    outcome = await ask_last(run, event)
    if outcome is None or outcome.event is event:
        return message
    changed = outcome.event
    content = _as_blocks(changed.content)
    return replace(
        message,
        content=message.content if content is None else content,
        details=changed.details,
        is_error=bool(changed.is_error),
        usage=changed.usage,
    )


def _details(item: OpenCall, result: ToolResult) -> Mapping[str, Any] | None:
    facts = item.spec.details if item.spec is not None else None
    if not facts and not item.nested:
        return result.details
    details = {**(result.details or {}), **(facts or {})}
    if item.nested:
        details["nested_calls"] = list(item.nested)
    return details


def _usage(item: OpenCall, result: ToolResult) -> Usage | None:
    own: Usage | None = result.usage
    if item.nested_usage is None:
        return own
    return item.nested_usage if own is None else own + item.nested_usage

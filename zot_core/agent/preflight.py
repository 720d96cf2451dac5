"""What a call passes before it may run: its tool is found, its arguments are prepared and validated, plugins are asked.

Nothing here runs a tool. Whatever is wrong becomes a result that tells the model how to call better.
"""

from __future__ import annotations

import asyncio
import difflib
import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from zot_core.agent.config import TurnConfig
from zot_core.agent.talk import Run, ask, tell
from zot_core.events.base import Block
from zot_core.events.tool import ToolCallEvent, ToolExecutionStartEvent, ToolExecutionUpdateEvent
from zot_core.types.content import Text, ToolCall
from zot_core.types.messages import ToolResultMessage
from zot_core.types.safe_text import error_text
from zot_core.types.specs import ToolResult, ToolSpec, resolve
from zot_core.types.usage import Usage

CUT = (
    "Not run: the output was cut at the output limit, so this call may be incomplete. Do it again in smaller steps: "
    "shorter arguments, one call at a time."
)


@dataclass(slots=True)
class OpenCall:
    """One call between the model's request and its result message.

    `args` are those that run, `value` is what the tool receives. `refusal` is the result of a call that will not run.
    """

    call: ToolCall
    parent_call_id: str | None = None
    on_update: Callable[..., None] | None = None
    spec: ToolSpec | None = None
    args: Mapping[str, Any] = field(default_factory=dict)
    value: Any = None
    refusal: ToolResult | None = None
    started: bool = False
    closed: bool = False
    result: ToolResultMessage | None = None
    terminate: bool = False
    updates: deque[ToolExecutionUpdateEvent] = field(default_factory=lambda: deque(maxlen=256))
    pump: asyncio.Task[None] | None = None
    nested: list[dict[str, Any]] = field(default_factory=list)
    nested_count: int = 0
    nested_usage: Usage | None = None
    activated: list[str] = field(default_factory=list)
    """Tools that became active through this call so far."""


def refused(text: str, *, terminate: bool = False) -> ToolResult:
    """The result of a call that failed or did not run: `text` is written for the model."""
    return ToolResult(content=(Text(text),), is_error=True, terminate=terminate)


async def preflight(run: Run, config: TurnConfig, item: OpenCall, *, cut: bool = False) -> None:
    """Everything before the run of one call. Raises Aborted while plugins are asked; then `refusal` is still None.

    `cut` says that the message ended at the output limit: nothing of it may run.
    """
    call = item.call
    item.spec = None if cut else await _found(config, item)
    item.refusal = refused(CUT) if cut else _resolve(config.tools, item)
    if run.sink.wants("tool_execution_start"):
        event = ToolExecutionStartEvent(
            call_id=call.id, tool_name=call.name, args=copied(item.args), parent_call_id=item.parent_call_id
        )
        await tell(run, event)
    item.started = True
    if item.refusal is not None or not run.sink.wants("tool_call"):
        return
    asked = ToolCallEvent(
        call_id=call.id, tool_name=call.name, args=copied(item.args), parent_call_id=item.parent_call_id
    )
    outcome = await ask(run, asked)
    if isinstance(outcome.stop, Block):
        reason = outcome.stop.reason or f"The call was blocked by {outcome.plugin or 'a plugin'}."
        item.refusal = refused(reason, terminate=outcome.stop.terminate)
    elif outcome.event is not asked and outcome.event.args != item.args:
        item.args = copied(outcome.event.args)
        item.refusal = _validate(item, ", after a plugin changed them")


async def _found(config: TurnConfig, item: OpenCall) -> ToolSpec | None:
    """The tool of that name: an active one, or one that a call by its name makes active."""
    name = item.call.name
    spec = config.tools.get(name)
    if spec is None and config.find_tool is not None:
        spec = await config.find_tool(name)
        if spec is not None:
            item.activated.append(name)
    return spec


def _resolve(tools: Mapping[str, ToolSpec], item: OpenCall) -> ToolResult | None:
    """Reads the arguments of the tool that was found; a result is why the call cannot run."""
    call = item.call
    spec = item.spec
    if spec is None:
        item.args = copied(call.args or {})
        return refused(_unknown(call.name, tools))
    if call.args is None:
        return refused(
            f"Not run: the arguments of {call.name} were not a JSON object: {_short(call.raw)}\n"
            "Call it again with one complete JSON object."
        )
    item.args = copied(call.args)
    if spec.prepare_arguments is not None:
        try:
            item.args = resolve(spec.prepare_arguments)(item.args)
        except Exception as error:  # a tool's own code: its fault is this call's result
            return refused(f"Preparing the arguments of {call.name} failed: {error_text(error)}")
        if not isinstance(item.args, Mapping):
            item.args = copied(call.args)
            return refused(f"Preparing the arguments of {call.name} failed: it gave no object.")
    return _validate(item)


def _validate(item: OpenCall, when: str = "") -> ToolResult | None:
    """Fills `value` by the tool's own model of arguments, where it has one."""
    spec = item.spec
    if spec is None or spec.arguments is None:
        item.value = copied(item.args)
        return None
    try:
        item.value = resolve(spec.arguments).model_validate(copied(item.args))
    except ValueError as error:
        problems = _problems(error)
        return refused(
            f"Not run: the arguments of {spec.name} are not valid{when}:\n{problems}\nReceived: {_as_json(item.args)}"
        )
    except Exception as error:  # an import or a validator of the tool's own that broke
        return refused(f"Not run: checking the arguments of {spec.name} failed: {error_text(error)}")
    return None


def _problems(error: ValueError) -> str:
    """A validation error line by line, without the library's own words."""
    listing = getattr(error, "errors", None)
    if listing is None:
        return f"- {error}"
    lines = []
    for problem in listing(include_url=False, include_context=False, include_input=False):
        where = ".".join(str(part) for part in problem["loc"]) or "arguments"
        lines.append(f"- {where}: {problem['msg']}")
    return "\n".join(lines)


def _unknown(name: str, tools: Mapping[str, ToolSpec]) -> str:
    known = sorted(tools)
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    listing = f"The tools are: {', '.join(known)}." if known else "There are no tools."
    return f"There is no tool named {name!r}.{hint} {listing}"


def copied(value: Any) -> Any:
    """A copy of JSON data, so that nobody's change in place reaches anybody else."""
    if isinstance(value, Mapping):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [copied(item) for item in value]
    return value


def _as_json(args: Any) -> str:
    try:
        return _short(json.dumps(args, ensure_ascii=False))
    except (TypeError, ValueError):
        return _short(repr(args))


def _short(text: str, limit: int = 500) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"

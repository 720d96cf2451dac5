"""Plays a script: a file of replies, one for each model call, each a list of steps.

The file is JSON (`[reply, ...]` or `{"replies": [...]}`) or JSON lines, a reply a line; lines that begin with `#` are
comments. A reply is a text, one step, or a list of steps; a step is a text or an object with one of these keys:

    {"text": "Hello"}  {"text": ["Hel", "lo"]}             said whole, or in these fragments
    {"thinking": "Hm"}                                      the same; "signature" beside it signs the block
    {"tool_call": {"name": "read", "args": {"path": "x"}}}  "id" is made up when absent; "raw" (a text or fragments)
                                                            instead of "args" is sent as it is, valid or not
    {"usage": {"input": 10, "output": 5}}                   also cache_read, cache_write, cost
    {"delay": 0.1}                                          seconds
    {"hang": true}                                          says nothing more until it is cancelled
    {"error": {"kind": "overloaded", "message": "..."}}     ends the reply; also status, retryable, retry_after
    {"cut": true}                                           ends the reply as a broken connection does
    {"finish": "length"}                                    ends the reply with this stop reason

Without a last step the reply ends with `end_turn`, or `tool_use` if it called tools. Knows nothing of what it is asked:
the n-th call gets the n-th reply.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, get_args

from zot_core.models.protocol import Request
from zot_core.types.failure import ErrorKind, Failure, StopReason, ZotError
from zot_core.types.stream import (
    BlockMeta,
    Done,
    Failed,
    StreamPart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageUpdate,
)
from zot_core.types.usage import Usage

Step = Mapping[str, Any]
_PASSING = frozenset({"rate_limit", "overloaded", "network", "provider"})


class ScriptError(ZotError):
    """The script cannot be played: which file, which reply, what is wrong."""


class PlayerState(Protocol):
    """What is kept between the calls of one session."""

    path: str
    calls: int
    script: object | None


async def play(request: Request, state: PlayerState) -> AsyncIterator[StreamPart]:
    """The parts of the next reply. A script that is broken or at its end is a failed answer that says so."""
    state.calls += 1
    try:
        if state.script is None:
            state.script = load(state.path)
        replies = state.script
        assert isinstance(replies, list)
        if state.calls > len(replies):
            raise ScriptError(
                f"{state.path}: the script has {len(replies)} replies, and this is model call {state.calls}"
            )
        reply = replies[state.calls - 1]
    except ScriptError as error:
        yield Failed(Failure(kind="bad_request", message=str(error)))
        return
    calls = 0
    for number, step in enumerate(reply, 1):
        if "delay" in step:
            await asyncio.sleep(step["delay"])
        elif "hang" in step:
            await asyncio.get_running_loop().create_future()
        else:
            calls += "tool_call" in step
            for part in _PLAYERS[next(key for key in step if key in _PLAYERS)](step, f"{state.calls}_{number}"):
                yield part
                if isinstance(part, (Done, Failed)):
                    return
    yield Done("tool_use" if calls else "end_turn", request.model.id)


def load(path: str) -> list[list[Step]]:
    """The replies of a script file, checked. Raises ScriptError."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise ScriptError(f"the script cannot be read: {error}") from error
    return parse(text, path)


def parse(text: str, name: str = "script") -> list[list[Step]]:
    """The replies in the text of a script, checked. Raises ScriptError."""
    try:
        value = json.loads(text)
    except ValueError:
        value = _lines(text, name)
    if isinstance(value, dict) and isinstance(value.get("replies"), list):
        value = value["replies"]
    elif not isinstance(value, list):
        value = [value]
    return [_reply(reply, f"{name}: reply {number}") for number, reply in enumerate(value, 1)]


def _lines(text: str, name: str) -> list[Any]:
    replies = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                replies.append(json.loads(line))
            except ValueError as error:
                raise ScriptError(f"{name}:{number}: not JSON: {error}") from error
    return replies


def _reply(reply: Any, where: str) -> list[Step]:
    steps = reply.get("steps", reply) if isinstance(reply, dict) else reply
    steps = steps if isinstance(steps, list) else [steps]
    return [_step(step, f"{where}, step {number}") for number, step in enumerate(steps, 1)]


def _step(step: Any, where: str) -> Step:
    if isinstance(step, str):
        return {"text": step}
    known = {*_PLAYERS, "delay", "hang"}
    if not isinstance(step, dict) or len(known & step.keys()) != 1:
        raise ScriptError(f"{where}: expected a text or an object with one of {', '.join(sorted(known))}")
    key = next(iter(known & step.keys()))
    value = step[key]
    wrong = _wrong(key, value)
    if wrong:
        raise ScriptError(f"{where}: {key} must be {wrong}")
    return step


def _wrong(key: str, value: Any) -> str:
    """What `value` must be instead, or "" if it is right."""
    if key in {"text", "thinking"}:
        return "" if _is_text(value) else "a text or a list of texts"
    if key == "tool_call":
        fits = isinstance(value, dict) and isinstance(value.get("name"), str) and _is_text(value.get("raw", ""))
        return "" if fits else "an object with a name, and args or raw"
    if key == "error":
        fits = isinstance(value, dict) and value.get("kind", "provider") in get_args(ErrorKind)
        return "" if fits else f"an object with a kind out of {', '.join(get_args(ErrorKind))}"
    if key == "finish":
        return "" if value in (*get_args(StopReason), "stop", "tool_calls") else "a stop reason"
    if key == "usage":
        fits = isinstance(value, dict) and set(value) <= {"input", "output", "cache_read", "cache_write", "cost"}
        return "" if fits else "an object with input, output, cache_read, cache_write, cost"
    if key == "delay":
        return "" if isinstance(value, (int, float)) and value >= 0 else "a number of seconds"
    return ""


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(piece, str) for piece in value))


def _pieces(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _text(step: Step, key: str) -> Iterator[StreamPart]:
    for piece in _pieces(step["text"]):
        yield TextDelta(piece, key)


def _thinking(step: Step, key: str) -> Iterator[StreamPart]:
    for piece in _pieces(step["thinking"]):
        yield ThinkingDelta(piece, key)
    if step.get("signature"):
        yield BlockMeta(key, signature=str(step["signature"]))


def _tool_call(step: Step, key: str) -> Iterator[StreamPart]:
    call = step["tool_call"]
    yield ToolCallStart(key, str(call.get("id", f"call_{key}")), call["name"])
    raw = call["raw"] if "raw" in call else json.dumps(call.get("args", {}), ensure_ascii=False)
    for piece in _pieces(raw):
        yield ToolCallDelta(key, piece)
    if not call.get("unfinished"):
        yield ToolCallEnd(key)


def _usage(step: Step, key: str) -> Iterator[StreamPart]:
    yield UsageUpdate(Usage(**step["usage"]))


def _error(step: Step, key: str) -> Iterator[StreamPart]:
    error = step["error"]
    kind: ErrorKind = error.get("kind", "provider")
    yield Failed(
        Failure(
            kind=kind,
            message=str(error.get("message", f"scripted {kind}")),
            retryable=bool(error.get("retryable", kind in _PASSING)),
            retry_after=error.get("retry_after"),
            status=error.get("status"),
        )
    )


def _cut(step: Step, key: str) -> Iterator[StreamPart]:
    yield Failed(Failure(kind="network", message="the stream ended before the answer was complete", retryable=True))


def _finish(step: Step, key: str) -> Iterator[StreamPart]:
    words: Mapping[str, StopReason] = {"stop": "end_turn", "tool_calls": "tool_use"}
    yield Done(words.get(step["finish"], step["finish"]))


_PLAYERS: Mapping[str, Callable[[Step, str], Iterator[StreamPart]]] = {
    "text": _text,
    "thinking": _thinking,
    "tool_call": _tool_call,
    "usage": _usage,
    "error": _error,
    "cut": _cut,
    "finish": _finish,
}

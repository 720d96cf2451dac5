"""Messages to JSON and back, exactly, and JSON to one line of bytes that always can be written.

A message's `id` and `time` are its entry's and not repeated here. Fields at their defaults are left out. Knows no file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, cast

from zot_core.types.content import Image, Text, Thinking, ToolCall
from zot_core.types.failure import Failure
from zot_core.types.messages import AssistantMessage, CustomMessage, Message, ToolResultMessage, UserMessage
from zot_core.types.safe_text import object_text
from zot_core.types.usage import Usage

Data = dict[str, Any]

_DEEPEST = 200
"""Levels of nesting that a rewritten value keeps; what lies deeper is kept as text."""
_LONGEST_INT = 4000
"""Digits that Python still reads back; its limit is 4300."""


class CodecError(ValueError):
    """JSON that is no message."""


# --- to JSON ---------------------------------------------------------------------------------------------------------


def encode_message(message: Message) -> Data:
    """The message as JSON data, without its id and time."""
    try:
        encode = _ENCODE[type(message)]
    except KeyError:
        raise TypeError(f"a session keeps no {type(message).__name__}") from None
    data: Data = {"role": message.role}
    encode(message, data)
    return data


def _encode_user(message: UserMessage, data: Data) -> None:
    data["content"] = [_encode_block(block) for block in message.content]


def _encode_assistant(message: AssistantMessage, data: Data) -> None:
    data["content"] = [_encode_block(block) for block in message.content]
    data["stop"] = message.stop
    _put(data, provider=message.provider, model=message.model, api=message.api)
    if message.usage is not None:
        data["usage"] = encode_usage(message.usage)
    if message.failure is not None:
        data["failure"] = _encode_failure(message.failure)


def _encode_tool(message: ToolResultMessage, data: Data) -> None:
    data["call_id"] = message.call_id
    data["tool_name"] = message.tool_name
    data["content"] = [_encode_block(block) for block in message.content]
    if message.is_error:
        data["is_error"] = True
    if message.details is not None:
        data["details"] = message.details
    if message.usage is not None:
        data["usage"] = encode_usage(message.usage)
    if message.activated:
        data["activated"] = list(message.activated)


def _encode_custom(message: CustomMessage, data: Data) -> None:
    data["custom_type"] = message.custom_type
    data["content"] = [_encode_block(block) for block in message.content]
    if not message.display:
        data["display"] = False
    if message.details is not None:
        data["details"] = message.details
    if message.placement != "after_prompt":
        data["placement"] = message.placement


def _encode_block(block: Text | Thinking | Image | ToolCall) -> Data:
    match block:
        case Text():
            data: Data = {"type": "text", "text": block.text}
        case Thinking():
            data = {"type": "thinking", "text": block.text}
            if block.signature is not None:
                data["signature"] = block.signature
            if block.redacted:
                data["redacted"] = True
        case Image():
            return {"type": "image", "mime_type": block.mime_type, "data": block.data}
        case ToolCall():
            data = {"type": "tool_call", "id": block.id, "name": block.name, "args": block.args}
            _put(data, raw=block.raw)
    if block.meta is not None:
        data["meta"] = block.meta
    return data


def encode_usage(usage: Usage) -> Data:
    """The usage as JSON data; counts of zero are left out."""
    data: Data = {}
    _put(
        data,
        input=usage.input,
        output=usage.output,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
        cost=usage.cost,
    )
    return data


def _encode_failure(failure: Failure) -> Data:
    data: Data = {"kind": failure.kind, "message": failure.message}
    if failure.retryable:
        data["retryable"] = True
    if failure.retry_after is not None:
        data["retry_after"] = failure.retry_after
    if failure.status is not None:
        data["status"] = failure.status
    return data


def _put(data: Data, **fields: Any) -> None:
    for name, value in fields.items():
        if value:
            data[name] = value


_ENCODE: dict[type, Callable[[Any, Data], None]] = {
    UserMessage: _encode_user,
    AssistantMessage: _encode_assistant,
    ToolResultMessage: _encode_tool,
    CustomMessage: _encode_custom,
}


# --- from JSON -------------------------------------------------------------------------------------------------------


def decode_message(data: Any, *, id: str, time: float) -> Message:
    """The message that `encode_message` made `data` of. Raises CodecError for anything else."""
    try:
        return _DECODE[data["role"]](data, id, time)
    except CodecError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise CodecError(f"not a message: {type(error).__name__} {error}") from error


def _decode_user(data: Data, id: str, time: float) -> Message:
    return UserMessage(content=_blocks(data), id=id, time=time)


def _decode_assistant(data: Data, id: str, time: float) -> Message:
    failure = data.get("failure")
    return AssistantMessage(
        content=_blocks(data),
        stop=data["stop"],
        usage=decode_usage(data.get("usage")),
        provider=data.get("provider", ""),
        model=data.get("model", ""),
        api=data.get("api", ""),
        failure=None if failure is None else Failure(**failure),
        id=id,
        time=time,
    )


def _decode_tool(data: Data, id: str, time: float) -> Message:
    return ToolResultMessage(
        call_id=data["call_id"],
        tool_name=data["tool_name"],
        content=_blocks(data),
        is_error=data.get("is_error", False),
        details=data.get("details"),
        usage=decode_usage(data.get("usage")),
        activated=tuple(str(name) for name in data.get("activated", ())),
        id=id,
        time=time,
    )


def _decode_custom(data: Data, id: str, time: float) -> Message:
    return CustomMessage(
        custom_type=data["custom_type"],
        content=_blocks(data),
        display=data.get("display", True),
        details=data.get("details"),
        placement=data.get("placement", "after_prompt"),
        id=id,
        time=time,
    )


def _blocks(data: Data) -> tuple[Any, ...]:
    return tuple([_decode_block(block) for block in data["content"]])


def _decode_block(data: Data) -> Text | Thinking | Image | ToolCall:
    kind = data["type"]
    if kind == "text":
        return Text(_text(data["text"]), data.get("meta"))
    if kind == "thinking":
        return Thinking(_text(data["text"]), data.get("signature"), data.get("redacted", False), data.get("meta"))
    if kind == "tool_call":
        return ToolCall(data["id"], data["name"], data["args"], data.get("raw", ""), data.get("meta"))
    if kind == "image":
        return Image(data["mime_type"], data["data"])
    raise CodecError(f"unknown kind of content {kind!r}")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise CodecError("text that is no text")
    return value


def decode_usage(data: Any) -> Usage | None:
    """The usage that `encode_usage` made `data` of; None for None."""
    return None if data is None else Usage(**data)


_DECODE: dict[str, Callable[[Data, str, float], Message]] = {
    "user": _decode_user,
    "assistant": _decode_assistant,
    "tool": _decode_tool,
    "custom": _decode_custom,
}


# --- lines -----------------------------------------------------------------------------------------------------------


def dump_line(data: Mapping[str, Any]) -> bytes:
    """One line of UTF-8 with its newline, for any `data`.

    Text that is no valid Unicode (lone surrogates) is escaped, so that it reads back the same; values that JSON does
    not have come out as the nearest that it has. Never raises for what a tool or a plugin put into a record.
    """
    try:
        text = _ENCODER.encode(data)
    except (Exception, SystemExit):  # a plugin's object may raise anything while it is looked at
        data = cast("dict[str, Any]", _plain(data, _DEEPEST))
        text = _ENCODER.encode(data)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return _ASCII.encode(data).encode() + b"\n"


def _nearest(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return object_text(value)


def _plain(value: Any, depth: int, above: frozenset[int] = frozenset()) -> Any:
    """A copy that JSON can hold: no NaN, no odd keys, no cycle, no bottomless nesting. `above` are what holds it."""
    if isinstance(value, (Mapping, list, tuple, set, frozenset)):
        if depth == 0 or id(value) in above:
            return "…"
        above |= {id(value)}
        if isinstance(value, Mapping):
            return {object_text(key): _plain(item, depth - 1, above) for key, item in value.items()}
        return [_plain(item, depth - 1, above) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**_LONGEST_INT:
        return hex(value)
    if value is None or isinstance(value, (str, int)):
        return value
    return object_text(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_nearest)
_ASCII = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False, default=_nearest)

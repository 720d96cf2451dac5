"""What real Chat Completions servers refuse with 400, as one function over a request's body.

The rules are the union of OpenAI's and of the strict compatible servers': a body that passes here passes there.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Any

_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_DATA_URL = re.compile(r"^data:(image/(?:png|jpeg|gif|webp));base64,(.*)$", re.DOTALL)
_MAGIC = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}
_TOP = {
    "model",
    "messages",
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "temperature",
    "top_p",
    "seed",
    "stop",
    "max_tokens",
    "max_completion_tokens",
    "reasoning_effort",
    "prompt_cache_key",
    "store",
}
_MESSAGE_KEYS = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {
        "role",
        "content",
        "name",
        "tool_calls",
        "refusal",
        "reasoning_content",
        "reasoning",
        "reasoning_text",
    },
    "tool": {"role", "content", "tool_call_id", "name"},
}


_LOADS = re.compile(r"(?:^|/)kimi-k3(?![0-9])")
"""Models that take tools in a system message of their own, anywhere in the conversation."""


class Refused(Exception):
    """The body is not acceptable; `param` says where."""

    def __init__(self, message: str, param: str = "") -> None:
        super().__init__(message)
        self.param = param


def check(body: Any) -> None:
    """Raises Refused if a strict server would answer 400."""
    if not isinstance(body, dict):
        raise Refused("We could not parse the JSON body of your request.")
    if unknown := sorted(body.keys() - _TOP):
        raise Refused(f"Unrecognized request argument supplied: {', '.join(unknown)}", unknown[0])
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise Refused("you must provide a model parameter", "model")
    if "max_tokens" in body and "max_completion_tokens" in body:
        raise Refused(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.", "max_tokens"
        )
    if "stream_options" in body and not body.get("stream"):
        raise Refused("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options")
    effort = body.get("reasoning_effort")
    if effort is not None and effort not in {"none", "minimal", "low", "medium", "high", "xhigh", "max"}:
        raise Refused(f"Invalid value: {effort!r}.", "reasoning_effort")
    names = _check_tools(body["tools"]) if "tools" in body else []
    _check_messages(body.get("messages"), names if _LOADS.search(body["model"]) else None)


def _check_tools(tools: Any) -> list[str]:
    """Checks definitions; answers their names."""
    if not isinstance(tools, list) or not tools:
        raise Refused("Invalid 'tools': empty array. Expected an array with minimum length 1.", "tools")
    if len(tools) > 128:
        raise Refused(f"Invalid 'tools': array too long. Expected at most 128, got {len(tools)}.", "tools")
    names = []
    for number, tool in enumerate(tools):
        where = f"tools[{number}]"
        function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
        if not isinstance(function, dict):
            raise Refused(f"Missing required parameter: '{where}.function'.", where)
        _check_name(function.get("name"), f"{where}.function.name")
        names.append(function["name"])
        if not isinstance(function.get("description", ""), str):
            raise Refused("description must be a string", where)
        _check_schema(function.get("parameters"), f"{where}.function.parameters", top=True)
    if len(set(names)) != len(names):
        raise Refused("Tool names must be unique.", "tools")
    return names


def _check_schema(schema: Any, where: str, top: bool = False) -> None:
    if not isinstance(schema, dict):
        raise Refused(f"Invalid schema for function at '{where}': not an object.", where)
    if top and schema.get("type") != "object":
        raise Refused("Invalid schema for function: schema must be a JSON Schema of 'type: \"object\"'.", where)
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        raise Refused(f"Invalid schema: '{where}.properties' is not an object.", where)
    for name, inner in properties.items():
        if isinstance(inner, bool):
            continue
        _check_schema(inner, f"{where}.properties.{name}")
    required = schema.get("required", [])
    if not isinstance(required, list) or not set(required) <= properties.keys():
        raise Refused(f"Invalid schema: '{where}.required' names what is no property.", where)
    if schema.get("type") == "array" and "items" not in schema:
        raise Refused("Invalid schema for function: array schema missing items.", where)


def _check_messages(messages: Any, declared: list[str] | None) -> None:
    """`declared` are the names of the request's own tools where messages may bring more, else None."""
    if not isinstance(messages, list) or not messages or not all(isinstance(row, dict) for row in messages):
        raise Refused("Invalid 'messages': expected an array of objects with minimum length 1.", "messages")
    open_calls: dict[str, str] = {}
    for number, message in enumerate(messages):
        where = f"messages[{number}]"
        role = message.get("role")
        if declared is not None and role == "system" and "tools" in message:
            _check_declaration(message, declared, bool(open_calls), where)
            continue
        _check_keys(message, role, where)
        if role == "tool":
            _check_result(message, open_calls, where)
            continue
        if open_calls:
            text = "An assistant message with 'tool_calls' must be followed by tool messages responding to each"
            raise Refused(f"{text} 'tool_call_id'. Missing: {', '.join(open_calls)}", where)
        if role in {"system", "developer"}:
            if number:
                raise Refused("System message must be at the beginning.", where)
            _check_text(message.get("content"), where)
        elif role == "user":
            _check_user(message.get("content"), where)
        else:
            open_calls = _check_assistant(message, where)
    if open_calls:
        raise Refused(f"tool_call_ids did not have response messages: {', '.join(open_calls)}", "messages")
    if messages[-1]["role"] not in {"user", "tool"} and "tools" not in messages[-1]:
        raise Refused("The last message must be the user's or a tool's.", "messages")


def _check_keys(message: Mapping[str, Any], role: Any, where: str) -> None:
    if role not in _MESSAGE_KEYS:
        raise Refused(f"Invalid value: {role!r}. Supported values are: {', '.join(_MESSAGE_KEYS)}.", f"{where}.role")
    if unknown := sorted(message.keys() - _MESSAGE_KEYS[role]):
        raise Refused(f"Additional properties are not allowed ({unknown[0]!r} was unexpected)", where)


def _check_declaration(message: Mapping[str, Any], declared: list[str], is_open: bool, where: str) -> None:
    """A message that brings tools says nothing, comes between no call and its result, and repeats no name."""
    if message.keys() != {"role", "tools"}:
        raise Refused(f"'{where}': a message that declares tools must not have content", where)
    if is_open:
        raise Refused("An assistant message with 'tool_calls' must be followed by tool messages", where)
    names = _check_tools(message["tools"])
    if again := sorted(set(names) & set(declared)):
        raise Refused(f"tool {again[0]} is declared a second time", where)
    declared.extend(names)


def _check_result(message: Mapping[str, Any], open_calls: dict[str, str], where: str) -> None:
    if message.get("tool_call_id") not in open_calls:
        text = "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
        raise Refused(f"Invalid parameter: {text}", where)
    del open_calls[message["tool_call_id"]]
    _check_text(message.get("content"), where)


def _check_assistant(message: Mapping[str, Any], where: str) -> dict[str, str]:
    calls = message.get("tool_calls")
    content = message.get("content")
    if content is not None:
        _check_text(content, where)
    elif not calls:
        raise Refused("content: an assistant message must have content or tool_calls", where)
    if calls is None:
        return {}
    if not isinstance(calls, list) or not calls:
        raise Refused("Invalid 'tool_calls': empty array.", where)
    found: dict[str, str] = {}
    for number, call in enumerate(calls):
        at = f"{where}.tool_calls[{number}]"
        if not isinstance(call, dict) or call.get("type") != "function" or not isinstance(call.get("function"), dict):
            raise Refused(f"Missing required parameter: '{at}.function'.", at)
        call_id = call.get("id")
        if not isinstance(call_id, str) or not 0 < len(call_id) <= 40:
            raise Refused(f"Invalid '{at}.id': string of 1 to 40 characters expected.", at)
        if call_id in found:
            raise Refused(f"Duplicate tool call id {call_id!r}.", at)
        _check_name(call["function"].get("name"), f"{at}.function.name")
        _check_arguments(call["function"].get("arguments"), at)
        found[call_id] = call["function"]["name"]
    return found


def _check_arguments(arguments: Any, where: str) -> None:
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else None
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Refused(f"Invalid '{where}.function.arguments': must be the text of a JSON object.", where)


def _check_name(name: Any, where: str) -> None:
    if not isinstance(name, str) or not _NAME.match(name):
        raise Refused(f"Invalid '{where}': string does not match pattern. Expected '{_NAME.pattern}'.", where)


def _check_text(content: Any, where: str) -> None:
    texts = content
    if isinstance(content, list):
        if any(not isinstance(part, dict) or part.get("type") != "text" for part in content):
            raise Refused(f"'{where}.content': only text is allowed here.", where)
        texts = "".join(str(part.get("text", "")) for part in content)
    if not isinstance(texts, str) or not texts.strip():
        raise Refused(f"'{where}.content': text must be a string that is not blank.", where)


def _check_user(content: Any, where: str) -> None:
    if isinstance(content, str):
        _check_text(content, where)
        return
    if not isinstance(content, list) or not content:
        raise Refused(f"Invalid '{where}.content': string or non-empty array expected.", where)
    for number, part in enumerate(content):
        at = f"{where}.content[{number}]"
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text":
            _check_text(part.get("text"), at)
        elif kind == "image_url":
            _check_image(part.get("image_url"), at)
        else:
            raise Refused(f"Invalid value: {kind!r}.", at)


def _check_image(image: Any, where: str) -> None:
    url = image.get("url") if isinstance(image, dict) else None
    found = _DATA_URL.match(url) if isinstance(url, str) else None
    if found is None:
        raise Refused("Invalid image: a data URL of png, jpeg, gif or webp is expected.", where)
    try:
        data = base64.b64decode(found[2], validate=True)
    except (binascii.Error, ValueError):
        raise Refused("Invalid base64 image data.", where) from None
    if not data.startswith(_MAGIC[found[1]]):
        raise Refused(f"The image data is not {found[1]}.", where)

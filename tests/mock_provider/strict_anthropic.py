"""What the real Messages API refuses with 400, as one function over a request's body.

Stateless: signatures are made from what they sign (`sign`), and the ids of calls from the thinking before them
(`call_id`), so that altered, moved and forgotten thinking is found in whatever process the conversation goes on.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from mock_provider.strict_chat import Refused

Row = Mapping[str, Any]

_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_ID = re.compile(r"^[a-zA-Z0-9_-]+$")
_OURS = re.compile(r"^toolu_\d+_([0-9a-f]{8})_([0-9a-f]{16})$")
_MAGIC = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}
_TOP = {
    "model",
    "messages",
    "max_tokens",
    "stream",
    "system",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "service_tier",
    "metadata",
}
_BLOCKS = {
    "text": {"type", "text", "cache_control"},
    "image": {"type", "source", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "tool_reference": {"type", "tool_name"},
}
_LOADS = re.compile(r"claude-(?:sonnet|opus|fable|mythos)-(?:4-[5-9]|[5-9])(?!\d)")
"""Models that take tools which are loaded later; to the others their fields are unknown."""
_THOUGHT = ("thinking", "redacted_thinking")


def sign(model: str, text: str) -> str:
    """The signature of a thinking block of `model`."""
    return base64.b64encode(f"sig {model} {_digest(text, 32)}".encode()).decode()


def redact(model: str, text: str) -> str:
    """The data of a redacted block of `model`."""
    return base64.b64encode(f"red {model} {_digest(text, 32)}".encode()).decode()


def call_id(number: int, model: str, thinking: Sequence[Row]) -> str:
    """The id of the `number`-th call in an answer of `model` that holds these thinking blocks."""
    return f"toolu_{number}_{_digest(model, 8)}_{_digest(_plain(thinking), 16)}"


def check(body: Any) -> None:
    """Raises Refused if the real server would answer 400."""
    if not isinstance(body, dict):
        raise Refused("The request body is not valid JSON")
    if unknown := sorted(body.keys() - _TOP):
        raise Refused(f"{unknown[0]}: Extra inputs are not permitted", unknown[0])
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise Refused("model: Field required", "model")
    limit = body.get("max_tokens")
    if not isinstance(limit, int) or limit < 1:
        raise Refused("max_tokens: Field required, greater than or equal to 1", "max_tokens")
    if body.get("service_tier", "auto") not in {"auto", "standard_only"}:
        raise Refused("service_tier: Input should be 'auto' or 'standard_only'", "service_tier")
    mode = _check_thinking(body, limit)
    _check_system(body.get("system"))
    loads = bool(_LOADS.search(body["model"]))
    later = _check_tools(body.get("tools"), loads)
    _check_messages(body.get("messages"), body["model"], mode)
    _check_references(body["messages"], later, loads)
    marks = _marks(body)
    if len(marks) > 4:
        raise Refused(f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.")
    for mark in marks:
        if not isinstance(mark, dict) or mark.get("type") != "ephemeral" or mark.get("ttl", "5m") not in {"5m", "1h"}:
            raise Refused("cache_control: Input should be {'type': 'ephemeral'}")


def _check_thinking(body: Row, limit: int) -> str:
    effort = (body.get("output_config") or {}).get("effort", "high")
    if effort not in {"low", "medium", "high", "xhigh", "max"}:
        raise Refused(f"output_config.effort: unexpected {effort!r}")
    thinking = body.get("thinking")
    if thinking is None:
        return ""
    mode = thinking.get("type") if isinstance(thinking, dict) else None
    allowed = {
        "enabled": {"type", "budget_tokens", "display"},
        "adaptive": {"type", "display", "block_binding"},
        "disabled": {"type"},
        "between_tools": {"type"},
    }
    if mode not in allowed or thinking.keys() - allowed[mode]:
        raise Refused("thinking: Input tag does not match any of the expected tags, or has extra inputs")
    if thinking.get("display", "summarized") not in {"summarized", "omitted"}:
        raise Refused("thinking.display: unexpected value")
    if mode == "enabled":
        budget = thinking.get("budget_tokens")
        if not isinstance(budget, int) or budget < 1024:
            raise Refused("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
        if budget >= limit:
            raise Refused("`max_tokens` must be greater than `thinking.budget_tokens`.")
    if mode in {"enabled", "adaptive"} and body.get("temperature", 1) != 1:
        raise Refused("`temperature` may only be set to 1 when thinking is enabled.")
    if mode in {"disabled", "between_tools"} and effort in {"xhigh", "max"}:
        raise Refused("thinking cannot be turned off at this effort")
    return str(mode)


def _check_system(system: Any) -> None:
    if system is None:
        return
    blocks = [{"type": "text", "text": system}] if isinstance(system, str) else system
    if not isinstance(blocks, list) or not blocks:
        raise Refused("system: Input should be a valid list")
    for number, block in enumerate(blocks):
        _check_block(block, {"text"}, f"system.{number}")


def _check_tools(tools: Any, loads: bool) -> set[str]:
    """Checks the definitions; answers the names of those that are loaded later."""
    if tools is None:
        return set()
    if not isinstance(tools, list):
        raise Refused("tools: Input should be a valid list")
    names = []
    for number, tool in enumerate(tools):
        where = f"tools.{number}.custom"
        known = {"name", "description", "input_schema", "cache_control", "type"}
        if not isinstance(tool, dict) or tool.keys() - (known | {"defer_loading"} if loads else known):
            raise Refused(f"{where}: Extra inputs are not permitted", where)
        if not isinstance(tool.get("defer_loading", False), bool):
            raise Refused(f"{where}.defer_loading: Input should be a valid boolean", where)
        _check_name(tool.get("name"), where)
        names.append(tool["name"])
        schema = tool.get("input_schema")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            raise Refused(f"{where}.input_schema.type: Field required, 'object'", where)
        if any(key in schema for key in ("oneOf", "allOf", "anyOf")):
            raise Refused(f"{where}.input_schema: does not support oneOf, allOf, or anyOf at the top level", where)
        if not isinstance(tool.get("description", ""), str):
            raise Refused(f"{where}.description: Input should be a valid string", where)
    if len(set(names)) != len(names):
        raise Refused("tools: Tool names must be unique.")
    return _loaded_later(tools)


def _loaded_later(tools: Sequence[Row]) -> set[str]:
    later = [tool for tool in tools if tool.get("defer_loading")]
    if marked := [tool["name"] for tool in later if "cache_control" in tool]:
        raise Refused(f'Tool "{marked[0]}" cannot have both defer_loading=true and cache_control set.')
    if tools and len(later) == len(tools):
        raise Refused("At least one tool must have defer_loading=false.")
    return {tool["name"] for tool in later}


def _check_references(rows: Sequence[Row], later: set[str], loads: bool) -> None:
    """References stand alone in the result of a call that did not fail, and name a tool that waits for it."""
    for number, row in enumerate(rows):
        for at, block in enumerate(_blocks(row["content"])):
            inner = _blocks(block.get("content", []), blank=True) if block["type"] == "tool_result" else []
            references = [one for one in inner if one["type"] == "tool_reference"]
            where = f"messages.{number}.content.{at}.tool_result"
            if references and not loads:
                raise Refused(f"{where}.content.0: Input tag 'tool_reference' does not match any of the expected tags")
            if references and (len(references) != len(inner) or block.get("is_error")):
                raise Refused(f"{where}: tool_reference blocks cannot be mixed with other content or with an error")
            for reference in references:
                if reference.get("tool_name") not in later:
                    raise Refused(f"Tool reference '{reference.get('tool_name')}' not found in available tools")


def _check_messages(rows: Any, model: str, mode: str) -> None:
    if not isinstance(rows, list) or not rows:
        raise Refused("messages: at least one message is required", "messages")
    expected = "user"
    calls: list[str] = []
    ids: set[str] = set()
    for number, row in enumerate(rows):
        where = f"messages.{number}"
        if not isinstance(row, dict) or row.keys() != {"role", "content"}:
            raise Refused(f"{where}: Extra inputs are not permitted, or a field is missing", where)
        if row["role"] != expected:
            raise Refused(f'messages: roles must alternate between "user" and "assistant", {where} does not', where)
        if row["role"] == "user":
            _check_user(row["content"], calls, where)
            calls, expected = [], "assistant"
        else:
            calls, expected = _check_assistant(row["content"], model, number == len(rows) - 1, where), "user"
            if len(set(calls)) != len(calls) or ids & set(calls):
                raise Refused("messages: `tool_use` ids must be unique", where)
            ids.update(calls)
    if expected == "user":
        raise Refused("This model does not support assistant message prefill. The last one must be the user's.")
    if mode in {"enabled", "adaptive"}:
        _check_turn(rows, model, mode)


def _check_turn(rows: Sequence[Row], model: str, mode: str) -> None:
    """The thinking of the turn that goes on: what came before its calls has to come back as it was."""
    turn: list[tuple[int, list[Row]]] = []
    for number in range(len(rows) - 1, 0, -2):
        content = rows[number]["content"]
        if isinstance(content, str) or not any(block["type"] == "tool_result" for block in content):
            break
        turn.append((number - 1, _blocks(rows[number - 1]["content"])))
    for number, blocks in turn:
        thinking = [block for block in blocks if block["type"] in _THOUGHT]
        for block in blocks:
            ours = _OURS.match(block["id"]) if block["type"] == "tool_use" else None
            if ours and ours[1] == _digest(model, 8) and ours[2] != _digest(_plain(thinking), 16):
                text = "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."
                raise Refused(f"messages.{number}: {text}")
    if turn and mode == "enabled" and turn[0][1][0]["type"] not in _THOUGHT:
        found = turn[0][1][0]["type"]
        text = (
            f"Expected `thinking` or `redacted_thinking`, but found `{found}`. A final `assistant` message must start"
        )
        raise Refused(f"messages.{turn[0][0]}.content.0.type: {text} with a thinking block.")


def _check_user(content: Any, calls: Sequence[str], where: str) -> None:
    blocks = _blocks(content)
    if not blocks:
        raise Refused(f"{where}: all messages must have non-empty content", where)
    answered: list[str] = []
    for number, block in enumerate(blocks):
        at = f"{where}.content.{number}"
        _check_block(block, {"text", "image", "tool_result"}, at)
        if block["type"] == "tool_result":
            if number != len(answered):
                raise Refused(f"{at}: `tool_result` blocks must come first in the content", at)
            _check_result(block, at)
            answered.append(block["tool_use_id"])
    if len(set(answered)) != len(answered):
        raise Refused(f"{where}: each tool_use must have a single result", where)
    if stray := sorted(set(answered) - set(calls)):
        text = f"unexpected `tool_use_id` found in `tool_result` blocks: {stray[0]}. Each must have a `tool_use` block"
        raise Refused(f"{where}: {text} in the previous message.", where)
    if missing := [one for one in calls if one not in answered]:
        text = "`tool_use` ids were found without `tool_result` blocks immediately after"
        raise Refused(f"{where}: {text}: {', '.join(missing)}", where)


def _check_result(block: Row, where: str) -> None:
    if not isinstance(block.get("tool_use_id"), str):
        raise Refused(f"{where}.tool_use_id: Field required", where)
    if not isinstance(block.get("is_error", False), bool):
        raise Refused(f"{where}.is_error: Input should be a valid boolean", where)
    for number, inner in enumerate(_blocks(block.get("content", []), blank=True)):
        _check_block(inner, {"text", "image", "tool_reference"}, f"{where}.content.{number}")
        if block.get("is_error") and inner["type"] != "text":
            raise Refused(f"{where}: all content must be type `text` if `is_error` is true", where)


def _check_assistant(content: Any, model: str, last: bool, where: str) -> list[str]:
    blocks = _blocks(content)
    if not blocks:
        raise Refused(f"{where}: all messages must have non-empty content", where)
    calls: list[str] = []
    for number, block in enumerate(blocks):
        at = f"{where}.content.{number}"
        _check_block(block, {"text", "tool_use", *_THOUGHT}, at)
        if block["type"] == "tool_use":
            if not isinstance(block.get("id"), str) or not _ID.match(block["id"]):
                raise Refused(f"{at}.tool_use.id: String should match pattern '{_ID.pattern}'", at)
            _check_name(block.get("name"), f"{at}.tool_use")
            if not isinstance(block.get("input"), dict):
                raise Refused(f"{at}.tool_use.input: Input should be a valid dictionary", at)
            calls.append(block["id"])
        elif block["type"] in _THOUGHT:
            _check_signature(block, model, at)
    if blocks[-1]["type"] in _THOUGHT:
        raise Refused(f"{where}: The final block in an assistant message cannot be `{blocks[-1]['type']}`.", where)
    if last and blocks[-1]["type"] == "text" and blocks[-1]["text"] != blocks[-1]["text"].rstrip():
        raise Refused("messages: final assistant content cannot end with trailing whitespace", where)
    return calls


def _check_signature(block: Row, model: str, where: str) -> None:
    if block["type"] == "redacted_thinking":
        known = _decoded(block.get("data")).startswith(f"red {model} ")
        if not known:
            raise Refused(f"{where}: Invalid `data` in `redacted_thinking` block", where)
    elif not isinstance(block.get("thinking"), str) or block.get("signature") != sign(model, block["thinking"]):
        raise Refused(f"{where}: Invalid `signature` in `thinking` block", where)


def _check_block(block: Any, allowed: set[str], where: str) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in allowed:
        raise Refused(f"{where}: Input tag {kind!r} does not match any of the expected tags", where)
    if unknown := sorted(block.keys() - _BLOCKS[kind]):
        raise Refused(f"{where}.{kind}.{unknown[0]}: Extra inputs are not permitted", where)
    if kind == "text":
        text = block.get("text")
        if not isinstance(text, str) or not text:
            raise Refused(f"{where}: text content blocks must be non-empty", where)
        if not text.strip():
            raise Refused(f"{where}: text content blocks must contain non-whitespace text", where)
    if kind == "image":
        _check_image(block.get("source"), f"{where}.image.source")


def _check_image(source: Any, where: str) -> None:
    if not isinstance(source, dict) or source.keys() != {"type", "media_type", "data"} or source["type"] != "base64":
        raise Refused(f"{where}: type, media_type and data are required", where)
    if source["media_type"] not in _MAGIC:
        raise Refused(f"{where}.base64.media_type: Input should be {', '.join(_MAGIC)}", where)
    try:
        data = base64.b64decode(source["data"], validate=True)
    except (binascii.Error, ValueError, TypeError):
        raise Refused(f"{where}.base64.data: invalid base64 data", where) from None
    if not data.startswith(_MAGIC[source["media_type"]]):
        raise Refused(f"{where}.base64: The image was specified using another media type than it is", where)


def _check_name(name: Any, where: str) -> None:
    if not isinstance(name, str) or not _NAME.match(name):
        raise Refused(f"{where}.name: String should match pattern '{_NAME.pattern}'", where)


def _marks(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [mark for inner in value for mark in _marks(inner)]
    if not isinstance(value, dict):
        return []
    own = [value["cache_control"]] if "cache_control" in value and "type" in value else []
    own += [value["cache_control"]] if "cache_control" in value and "input_schema" in value else []
    return own + [
        mark for key, inner in value.items() if key not in {"input", "input_schema"} for mark in _marks(inner)
    ]


def _blocks(content: Any, blank: bool = False) -> list[Any]:
    if isinstance(content, str):
        return [] if blank and not content else [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def _plain(thinking: Sequence[Row]) -> str:
    return json.dumps(list(thinking), sort_keys=True)


def _digest(text: str, size: int) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:size]


def _decoded(data: Any) -> str:
    try:
        return base64.b64decode(data, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError, TypeError):
        return ""

"""What the real Responses API refuses with 400, as one function over a request's body, and the seals it knows again.

Encrypted reasoning is sealed here to the item and the model that it came from, so that a replay that differs by a
letter, or that goes to another model, is refused. Ids of what a model said name the reasoning that they need.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from mock_provider.strict_chat import Refused, _check_image, _check_schema

_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_ID = re.compile(r"^(?:msg|fc|rs)_[a-zA-Z0-9_-]{1,60}$")
_TOP = {
    "model",
    "input",
    "instructions",
    "stream",
    "store",
    "include",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_output_tokens",
    "reasoning",
    "prompt_cache_key",
    "service_tier",
    "temperature",
    "text",
}
_KEYS = {
    "message": {"type", "role", "content", "id", "status", "phase"},
    "reasoning": {"type", "id", "summary", "encrypted_content", "content"},
    "function_call": {"type", "id", "call_id", "name", "arguments", "status"},
    "function_call_output": {"type", "id", "call_id", "output", "status"},
    "tool_search_call": {"type", "id", "call_id", "execution", "status", "arguments"},
    "tool_search_output": {"type", "id", "call_id", "execution", "status", "tools"},
}
_LOADS = re.compile(r"^gpt-(?:5\.(?:[4-9]|\d\d)|[6-9]|\d\d)(?!.*-(?:nano|pro)\b)")
"""Models that know tool search."""
_OF = "_of_"


def sealed(item_id: str, summary: Sequence[str], model: str) -> str:
    """Encrypted content as this server gives it out."""
    secret = json.dumps([item_id, list(summary), model]).encode()
    return f"gAAAA.{base64.urlsafe_b64encode(secret).decode()}.{sha256(secret).hexdigest()[:16]}"


def check(body: Any) -> None:
    """Raises Refused if the real server would answer 400."""
    if not isinstance(body, dict):
        raise Refused("We could not parse the JSON body of your request.")
    if unknown := sorted(body.keys() - _TOP):
        raise Refused(f"Unknown parameter: '{unknown[0]}'.", unknown[0])
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise Refused("you must provide a model parameter", "model")
    if "instructions" in body and (not isinstance(body["instructions"], str) or not body["instructions"].strip()):
        raise Refused("Invalid type for 'instructions'.", "instructions")
    if body.get("store") is not False:
        raise Refused("This server keeps nothing: store must be false.", "store")
    if not isinstance(body.get("max_output_tokens", 16), int) or body.get("max_output_tokens", 16) < 16:
        raise Refused("Invalid 'max_output_tokens': integer below minimum value.", "max_output_tokens")
    if len(body.get("prompt_cache_key", "")) > 64:
        raise Refused("Invalid 'prompt_cache_key': string too long.", "prompt_cache_key")
    if body.get("service_tier", "auto") not in {"auto", "default", "flex", "priority", "fast"}:
        raise Refused("Invalid value for 'service_tier'.", "service_tier")
    _check_reasoning(body)
    names = _check_tools(body["tools"]) if "tools" in body else []
    _check_input(body.get("input"), body["model"], names)


def _check_reasoning(body: Mapping[str, Any]) -> None:
    for value in body.get("include", []):
        if value != "reasoning.encrypted_content":
            raise Refused(f"Invalid value: {value!r}.", "include")
        if body["model"].startswith("gpt-4"):
            raise Refused("Encrypted content is not supported with this model.", "include")
    reasoning = body.get("reasoning", {})
    if not isinstance(reasoning, dict) or reasoning.keys() - {"effort", "summary"}:
        raise Refused("Unknown parameter in 'reasoning'.", "reasoning")
    if reasoning.get("effort", "low") not in {"none", "minimal", "low", "medium", "high", "xhigh", "max"}:
        raise Refused(f"Invalid value: {reasoning['effort']!r}.", "reasoning.effort")
    if reasoning.get("summary", "auto") not in {"auto", "concise", "detailed"}:
        raise Refused(f"Invalid value: {reasoning['summary']!r}.", "reasoning.summary")


def _check_tools(tools: Any, later: bool = False) -> list[str]:
    """Checks definitions, with `later` those of a search's output; answers their names."""
    if not isinstance(tools, list) or not tools or len(tools) > 128:
        raise Refused("Invalid 'tools': expected 1 to 128 tools.", "tools")
    names = []
    for number, tool in enumerate(tools):
        where = f"tools[{number}]"
        if not isinstance(tool, dict) or tool.get("type") != "function":
            raise Refused(f"Invalid value for '{where}.type'.", where)
        known = {"type", "name", "description", "parameters", "strict"}
        if tool.keys() - (known | {"defer_loading"} if later else known):
            raise Refused(f"Unknown parameter in '{where}'.", where)
        if later and tool.get("defer_loading") is not True:
            raise Refused(f"'{where}.defer_loading' must be true for a tool that a search loads.", where)
        _check_name(tool.get("name"), where)
        names.append(tool["name"])
        _check_schema(tool.get("parameters"), f"{where}.parameters", top=True)
        if tool.get("strict") is not False and tool["parameters"].get("additionalProperties") is not False:
            raise Refused("Invalid schema: 'additionalProperties' is required to be supplied and to be false.", where)
    if len(set(names)) != len(names):
        raise Refused("Tool names must be unique.", "tools")
    return names


class _Walk:
    """What was seen on the way through the input."""

    def __init__(self, model: str, names: list[str]) -> None:
        self.model = model
        self.names = names
        self.search = ""
        """A search whose output comes next."""
        self.open: set[str] = set()
        self.ids: set[str] = set()
        self.calls: set[str] = set()
        self.waiting = ""
        """A reasoning item that nothing has followed yet."""


def _check_input(items: Any, model: str, names: list[str]) -> None:
    if not isinstance(items, list) or not items:
        raise Refused("Invalid 'input': expected a non-empty array.", "input")
    walk = _Walk(model, names)
    checks = {
        "message": _check_message,
        "reasoning": _check_thought,
        "function_call": _check_call,
        "function_call_output": _check_output,
    }
    if _LOADS.search(model):
        checks |= {"tool_search_call": _check_search, "tool_search_output": _check_found}
    for number, item in enumerate(items):
        where = f"input[{number}]"
        kind = item.get("type") if isinstance(item, dict) else None
        if kind not in checks:
            raise Refused(f"Invalid value: {kind!r}.", where)
        if unknown := sorted(item.keys() - _KEYS[kind]):
            raise Refused(f"Unknown parameter: '{where}.{unknown[0]}'.", where)
        if walk.search and kind != "tool_search_output":
            raise Refused(f"No tool output found for tool search call {walk.search}.", where)
        _check_id(item, kind, walk, where)
        checks[kind](item, walk, where)
    if walk.waiting:
        raise Refused(f"Item '{walk.waiting}' of type 'reasoning' was provided without its required following item.")
    if walk.open:
        raise Refused(f"No tool output found for function call {sorted(walk.open)[0]}.", "input")
    last = items[-1]
    if walk.search:
        raise Refused(f"No tool output found for tool search call {walk.search}.", "input")
    if last["type"] not in {"function_call_output", "tool_search_output"} and last.get("role") not in {
        "user",
        "developer",
    }:
        raise Refused("The last item must be the user's or a tool's.", "input")


def _check_id(item: Mapping[str, Any], kind: str, walk: _Walk, where: str) -> None:
    if "id" not in item:
        return
    item_id = item["id"]
    prefix = {"message": "msg_", "reasoning": "rs_", "function_call": "fc_"}.get(kind, "fc_")
    if not isinstance(item_id, str) or not item_id.startswith(prefix) or not _ID.match(item_id):
        raise Refused(f"Invalid '{where}.id': {item_id!r}. Expected an ID that begins with '{prefix}'.", where)
    if item_id in walk.ids:
        raise Refused(f"Duplicate item found with id {item_id}.", where)
    needed = item_id.partition(_OF)[2]
    if needed and needed not in walk.ids:
        raise Refused(
            f"Item '{item_id}' of type '{kind}' was provided without its required 'reasoning' item: '{needed}'."
        )
    walk.ids.add(item_id)


def _check_message(item: Mapping[str, Any], walk: _Walk, where: str) -> None:
    role = item.get("role")
    if role not in {"user", "assistant", "system", "developer"}:
        raise Refused(f"Invalid value: {role!r}.", where)
    own = role == "assistant"
    if not own and walk.waiting:
        raise Refused(f"Item '{walk.waiting}' of type 'reasoning' was provided without its required following item.")
    if walk.open:
        raise Refused(f"No tool output found for function call {sorted(walk.open)[0]}.", where)
    if "phase" in item and (not own or item["phase"] not in {"commentary", "final_answer"}):
        raise Refused(f"Invalid value: '{where}.phase'.", where)
    walk.waiting = "" if own else walk.waiting
    content = item.get("content")
    parts = [{"type": "output_text" if own else "input_text", "text": content}] if isinstance(content, str) else content
    if not isinstance(parts, list) or not parts:
        raise Refused(f"Invalid '{where}.content'.", where)
    _check_parts(parts, {"output_text", "refusal"} if own else {"input_text", "input_image"}, where)


def _check_parts(parts: list[Any], allowed: set[str], where: str) -> None:
    for number, part in enumerate(parts):
        at = f"{where}.content[{number}]"
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in allowed:
            raise Refused(f"Invalid value: {kind!r}. Supported values are: {sorted(allowed)}.", at)
        if kind == "input_image":
            _check_image({"url": part.get("image_url")}, at)
        else:
            text = part.get("refusal" if kind == "refusal" else "text")
            if not isinstance(text, str) or not text.strip():
                raise Refused(f"'{at}': text must be a string that is not blank.", at)


def _check_thought(item: Mapping[str, Any], walk: _Walk, where: str) -> None:
    if walk.open:
        raise Refused(f"No tool output found for function call {sorted(walk.open)[0]}.", where)
    summary = item.get("summary")
    if "id" not in item or not isinstance(summary, list):
        raise Refused(f"Missing required parameter: '{where}.summary'.", where)
    for part in summary:
        if not isinstance(part, dict) or part.get("type") != "summary_text" or not isinstance(part.get("text"), str):
            raise Refused(f"Invalid value: '{where}.summary'.", where)
    secret = item.get("encrypted_content")
    if not secret:
        raise Refused(f"Item with id '{item['id']}' not found. Items are not persisted when `store` is set to false.")
    try:
        _, middle, _ = secret.split(".")
        item_id, told, model = json.loads(base64.urlsafe_b64decode(middle))
    except (AttributeError, ValueError, binascii.Error):
        raise Refused("The encrypted content could not be decrypted or parsed.", where) from None
    if secret != sealed(item_id, told, model):
        raise Refused("The encrypted content could not be verified.", where)
    if item_id != item["id"] or told != [part["text"] for part in summary] or model != walk.model:
        raise Refused("The encrypted content could not be verified: it belongs to another item or model.", where)
    walk.waiting = item["id"]


def _check_call(item: Mapping[str, Any], walk: _Walk, where: str) -> None:
    walk.waiting = ""
    call_id = item.get("call_id")
    if not isinstance(call_id, str) or not 0 < len(call_id) <= 64:
        raise Refused(f"Invalid '{where}.call_id': string of 1 to 64 characters expected.", where)
    if call_id in walk.calls:
        raise Refused(f"Duplicate call_id {call_id!r}.", where)
    _check_name(item.get("name"), where)
    try:
        arguments = json.loads(item["arguments"])
    except (KeyError, TypeError, ValueError):
        arguments = None
    if not isinstance(arguments, dict):
        raise Refused(f"Invalid '{where}.arguments': must be the text of a JSON object.", where)
    walk.calls.add(call_id)
    walk.open.add(call_id)


def _check_search(item: Mapping[str, Any], walk: _Walk, where: str) -> None:
    if walk.open or walk.waiting:
        raise Refused("No tool output found for what stands before the tool search call.", where)
    call_id, arguments = item.get("call_id"), item.get("arguments")
    if not isinstance(call_id, str) or not 0 < len(call_id) <= 64 or call_id in walk.calls:
        raise Refused(f"Invalid '{where}.call_id'.", where)
    if item.get("execution") != "client" or item.get("status") != "completed" or not isinstance(arguments, dict):
        raise Refused(f"Invalid '{where}': execution, status and arguments are required.", where)
    walk.calls.add(call_id)
    walk.search = call_id


def _check_found(item: Mapping[str, Any], walk: _Walk, where: str) -> None:
    if not walk.search or item.get("call_id") != walk.search:
        raise Refused(f"No tool search call found for output with call_id {item.get('call_id')}.", where)
    if item.get("execution") != "client" or item.get("status") != "completed":
        raise Refused(f"Invalid '{where}': execution and status are required.", where)
    names = _check_tools(item.get("tools"), later=True)
    if again := sorted(set(names) & set(walk.names)):
        raise Refused(f"Tool {again[0]} is defined a second time.", where)
    walk.names.extend(names)
    walk.search = ""


def _check_output(item: Mapping[str, Any], walk: _Walk, where: str) -> None:
    call_id = item.get("call_id")
    if call_id not in walk.open:
        raise Refused(f"No tool call found for function call output with call_id {call_id}.", where)
    walk.open.discard(call_id)
    output = item.get("output")
    parts = [{"type": "input_text", "text": output}] if isinstance(output, str) else output
    if not isinstance(parts, list) or not parts:
        raise Refused(f"Invalid '{where}.output'.", where)
    _check_parts(parts, {"input_text", "input_image"}, where)


def _check_name(name: Any, where: str) -> None:
    if not isinstance(name, str) or not _NAME.match(name):
        raise Refused(f"Invalid '{where}.name': string does not match pattern. Expected '{_NAME.pattern}'.", where)

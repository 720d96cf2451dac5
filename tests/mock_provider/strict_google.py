"""What the real `streamGenerateContent` refuses with 400, as one function over a request, and the seals it knows again.

A thought signature is sealed here to the part and the model that it came with, so that a replay that differs by a
letter, stands at another part, or goes to another model, is refused.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import unquote

from mock_provider.strict_chat import Refused

_NAME = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$")
_PATH = re.compile(r"^/v1(?:beta)?/(?:models|tunedModels)/([^/:]+):streamGenerateContent\?(?:.*&)?alt=sse(?:&|$)")
_MAGIC = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff", "image/webp": b"RIFF"}
_TOP = {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings", "cachedContent"}
_DATA = ("text", "inlineData", "functionCall", "functionResponse")
_LEVELS = {"minimal", "low", "medium", "high", "xhigh"}
_SCHEMA = {
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "items",
    "minimum",
    "maximum",
}
UNSIGNED = "skip_thought_signature_validator"


def signed(part: Mapping[str, Any], model: str) -> dict[str, Any]:
    """The part with a signature, as this server gives it out."""
    bare = {key: value for key, value in part.items() if key != "thoughtSignature"}
    seal = sha256(json.dumps([bare, model], sort_keys=True, ensure_ascii=False).encode()).digest()
    return {**bare, "thoughtSignature": base64.b64encode(seal).decode()}


def needs_signatures(model: str) -> bool:
    """Whether a model refuses calls without a signature: those from Gemini 3 on do."""
    return bool(re.match(r"gemini-[3-9]", model))


def check(body: Any, path: str = "/v1beta/models/m:streamGenerateContent?alt=sse") -> None:
    """Raises Refused if the real server would answer 400."""
    found = _PATH.match(path)
    if found is None:
        raise Refused(f"not a path of this server: {path}")
    model = unquote(found[1])
    if not isinstance(body, dict):
        raise Refused("Invalid JSON payload received.")
    _known(body, _TOP, "")
    system = body.get("systemInstruction")
    if system is not None:
        _known(system, {"parts", "role"}, "system_instruction")
        if not system.get("parts") or any(not part.get("text", "").strip() for part in system["parts"]):
            raise Refused("system_instruction.parts: text must not be empty.")
    _check_config(body.get("generationConfig", {}), model)
    _check_tools(body.get("tools", []))
    _check_contents(body.get("contents"), model)


def _known(value: Any, names: set[str], where: str) -> None:
    if not isinstance(value, dict):
        raise Refused(f"Invalid value at '{where}': an object is expected.")
    for name in value:
        if name not in names:
            raise Refused(f"Invalid JSON payload received. Unknown name \"{name}\" at '{where}': Cannot find field.")


def _check_config(config: Any, model: str) -> None:
    _known(config, {"maxOutputTokens", "temperature", "topP", "topK", "thinkingConfig"}, "generation_config")
    if config.get("maxOutputTokens", 1) < 1:
        raise Refused("max_output_tokens must be positive.")
    thinking = config.get("thinkingConfig", {})
    _known(thinking, {"thinkingBudget", "thinkingLevel", "includeThoughts"}, "generation_config.thinking_config")
    if "thinkingBudget" in thinking and "thinkingLevel" in thinking:
        raise Refused("You can only set one of thinking budget and thinking level.")
    if "thinkingLevel" in thinking:
        if thinking["thinkingLevel"].lower() not in _LEVELS:
            raise Refused(f"Invalid value at 'thinking_level': {thinking['thinkingLevel']!r}")
        if model.startswith("gemini-2"):
            raise Refused("Thinking level is not supported for this model.")
    if "thinkingBudget" in thinking:
        budget = thinking["thinkingBudget"]
        if model.startswith("gemini-4") or type(budget) is not int or not -1 <= budget <= 32768:
            raise Refused("Thinking budget is not supported for this model, or out of its range.")


def _check_tools(tools: Any) -> None:
    names = []
    for tool in tools:
        _known(tool, {"functionDeclarations"}, "tools[0]")
        if not tool["functionDeclarations"]:
            raise Refused("tools[0]: no function declarations.")
        for number, declared in enumerate(tool["functionDeclarations"]):
            where = f"tools[0].function_declarations[{number}]"
            _known(declared, {"name", "description", "parameters"}, where)
            _check_name(declared.get("name"), where)
            names.append(declared["name"])
            if "parameters" in declared:
                if declared["parameters"].get("type", "").lower() != "object":
                    raise Refused(f"{where}.parameters: only an object is allowed.")
                if not declared["parameters"].get("properties"):
                    raise Refused(f"{where}.parameters.properties: should be non-empty for OBJECT type")
                _check_schema(declared["parameters"], f"{where}.parameters")
    if len(set(names)) != len(names):
        raise Refused("Duplicate function declaration found.")


def _check_schema(schema: Any, where: str) -> None:
    _known(schema, _SCHEMA, where)
    if "anyOf" not in schema:
        kind = schema.get("type")
        if not isinstance(kind, str) or kind.lower() not in {
            "string",
            "number",
            "integer",
            "boolean",
            "array",
            "object",
        }:
            raise Refused(f"Invalid value at '{where}.type': {kind!r}")
        if kind == "array" and "items" not in schema:
            raise Refused(f"{where}.items: missing field.")
        if "enum" in schema and (kind != "string" or not all(isinstance(v, str) and v for v in schema["enum"])):
            raise Refused(f"{where}.enum: only allowed for STRING type, cannot be empty")
        if kind == "string" and schema.get("format", "enum") not in {"enum", "date-time"}:
            raise Refused(f"{where}: only 'enum' and 'date-time' are supported for STRING type")
    for name in schema.get("required", []):
        if name not in schema.get("properties", {}):
            raise Refused(f"{where}.required: property is not defined: {name}")
    for name, inner in schema.get("properties", {}).items():
        _check_schema(inner, f"{where}.properties[{name}]")
    for inner in [*schema.get("anyOf", []), *([schema["items"]] if "items" in schema else [])]:
        _check_schema(inner, where)


def _check_contents(contents: Any, model: str) -> None:
    if not isinstance(contents, list) or not contents:
        raise Refused("GenerateContentRequest.contents: contents is not specified")
    for number, content in enumerate(contents):
        _known(content, {"role", "parts"}, f"contents[{number}]")
        if content.get("role") not in {"user", "model"}:
            raise Refused("Please use a valid role: user, model.")
        if not isinstance(content.get("parts"), list) or not content["parts"]:
            raise Refused(f"GenerateContentRequest.contents[{number}].parts: contents.parts must not be empty.")
        for place, part in enumerate(content["parts"]):
            _check_part(part, content["role"], model, f"contents[{number}].parts[{place}]")
    if contents[0]["role"] != "user":
        raise Refused("Please ensure that the conversation begins with a user turn.")
    if contents[-1]["role"] != "user":
        raise Refused("Please ensure that the request ends with a user turn: prefill is not supported.")
    for before, content in zip([None, *contents], contents, strict=False):
        _check_pairs(before, content)
    if _calls(contents[-1]):  # pragma: no cover - a model's content is never the last
        raise Refused("function calls without responses")
    _check_signatures(contents, model)


def _calls(content: Mapping[str, Any] | None) -> list[Any]:
    return [part["functionCall"] for part in (content or {}).get("parts", []) if "functionCall" in part]


def _responses(content: Mapping[str, Any]) -> list[Any]:
    return [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]


def _check_pairs(before: Mapping[str, Any] | None, content: Mapping[str, Any]) -> None:
    calls, responses = _calls(before), _responses(content)
    if _calls(content) and (before is None or before["role"] != "user"):
        raise Refused("Please ensure that function call turn comes immediately after a user turn or a response turn.")
    if responses and not calls:
        raise Refused("Please ensure that function response turn comes immediately after a function call turn.")
    if len(calls) != len(responses):
        raise Refused("Please ensure that the number of function response parts is equal to the number of calls.")
    for call, response in zip(calls, responses, strict=True):
        if call["name"] != response["name"] or call.get("id") != response.get("id"):
            raise Refused("Please ensure that function responses match their calls in name, id and order.")


def _check_part(part: Any, role: str, model: str, where: str) -> None:
    _known(part, {*_DATA, "thought", "thoughtSignature"}, where)
    data = [name for name in _DATA if name in part]
    if len(data) != 1:
        raise Refused(f"{where}.data: required oneof field 'data' must have one initialized field")
    signature = part.get("thoughtSignature")
    if signature is not None and signature != UNSIGNED and signature != signed(part, model)["thoughtSignature"]:
        raise Refused(f"{where}: Invalid thought signature.")
    if data[0] == "text" and not part["text"].strip() and signature is None:
        raise Refused(f"{where}: Unable to submit request because it must have a text parameter.")
    if data[0] == "functionCall":
        _known(part["functionCall"], {"id", "name", "args"}, where)
        _check_name(part["functionCall"].get("name"), where)
        if role != "model" or not isinstance(part["functionCall"].get("args", {}), dict):
            raise Refused(f"{where}: misplaced or malformed function call.")
    if data[0] == "functionResponse":
        response = part["functionResponse"]
        _known(response, {"id", "name", "response", "parts"}, where)
        _check_name(response.get("name"), where)
        if role != "user" or not isinstance(response.get("response"), dict):
            raise Refused(f"{where}: misplaced or malformed function response.")
        if "parts" in response and not needs_signatures(model):
            raise Refused(f"{where}: Multimodal function responses are not supported for this model.")
        for inner in response.get("parts", []):
            _known(inner, {"inlineData"}, where)
            _check_blob(inner["inlineData"], where)
    if data[0] == "inlineData":
        _check_blob(part["inlineData"], where)


def _check_blob(blob: Any, where: str) -> None:
    _known(blob, {"mimeType", "data", "displayName"}, where)
    magic = _MAGIC.get(blob.get("mimeType"))
    if magic is None:
        raise Refused(f"{where}: Unsupported MIME type: {blob.get('mimeType')}")
    try:
        data = base64.b64decode(blob["data"], validate=True)
    except (binascii.Error, ValueError, KeyError, TypeError):
        raise Refused(f"{where}: Base64 decoding failed") from None
    if not data.startswith(magic):
        raise Refused(f"{where}: Unable to process input image.")


def _check_signatures(contents: list[Any], model: str) -> None:
    """From the last thing that a person said, each step's first call bears a signature."""
    if not needs_signatures(model):
        return
    for number in range(len(contents) - 1, -1, -1):
        content = contents[number]
        if content["role"] == "user" and not _responses(content):
            return
        first = next((part for part in content["parts"] if "functionCall" in part), None)
        if first is not None and "thoughtSignature" not in first:
            name = first["functionCall"]["name"]
            raise Refused(f"Function call `default_api:{name}` in the {number}. content block is missing a signature.")


def _check_name(name: Any, where: str) -> None:
    if not isinstance(name, str) or not _NAME.match(name):
        raise Refused(f"Invalid function name at '{where}': must start with a letter or an underscore.")

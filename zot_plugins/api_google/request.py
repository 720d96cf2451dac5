"""A Request as the body of Gemini's `streamGenerateContent`. Pure: the same request is the same body.

What the model signed goes back to it in the very part that it came in. Expects projected messages: calls paired with
results, nothing empty.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from zot_core.models.levels import clamp_level, level_word
from zot_core.models.projection import made_by
from zot_core.models.protocol import HttpRequest, Request
from zot_core.types.content import AssistantContent, Image, Text, Thinking, ToolCall, UserContent
from zot_core.types.messages import AssistantMessage, Message, ToolResultMessage
from zot_core.types.specs import ModelSpec, ToolSpec
from zot_plugins.api_google.schema import sanitize

Body = dict[str, Any]

UNSIGNED = "skip_thought_signature_validator"
"""What Google's documentation has for calls that another model made, in the place of a signature."""
MAX_NAME = 64
PICTURES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
SEE_BELOW = "(a picture, see below)"
_BAD_IN_NAME = re.compile(r"[^a-zA-Z0-9_.:-]")
_BUDGET = re.compile(r"-1|\d+")


def build(request: Request) -> HttpRequest:
    """Path, headers and payload of the call."""
    model, compat = request.model, request.model.compat
    payload: Body = {"contents": _contents(request)}
    if request.system:
        payload["systemInstruction"] = {"parts": [{"text": request.system}]}
    if request.tools:
        payload["tools"] = [{"functionDeclarations": [_tool(spec) for spec in request.tools]}]
    config: Body = {}
    if request.max_output is not None:
        config["maxOutputTokens"] = request.max_output
    if thinking := _thinking(request):
        config["thinkingConfig"] = thinking
    if config:
        payload["generationConfig"] = config
    if isinstance(compat.get("safetySettings"), list):
        payload["safetySettings"] = compat["safetySettings"]
    extra = compat.get("extraBody")
    if isinstance(extra, Mapping):
        payload.update(extra)
    auth = {"authorization": "Bearer {key}"} if compat.get("bearerAuth") else {"x-goog-api-key": "{key}"}
    return HttpRequest(path=_path(model), payload=payload, auth=auth)


def _path(model: ModelSpec) -> str:
    name = quote(model.id.removeprefix("models/"), safe="/.-_@")
    given = model.compat.get("path")
    if isinstance(given, str) and given:
        return given.replace("{model}", name)
    folder = "" if "/" in name else "models/"  # a tuned model brings its own
    return f"v1beta/{folder}{name}:streamGenerateContent?alt=sse"


def _thinking(request: Request) -> Body:
    """A budget or a level, as the catalog's word for the level says; `off` is said only where it has a word."""
    model, compat = request.model, request.model.compat
    if not model.reasoning or not compat.get("supportsThinking", True):
        return {}
    level = clamp_level(model, request.thinking)
    word = level_word(model, level)
    if word == "off":
        return {}
    asked: Body = {"thinkingBudget": int(word)} if _BUDGET.fullmatch(word) else {"thinkingLevel": word}
    if level != "off" and compat.get("includeThoughts", True):
        asked["includeThoughts"] = True
    return asked


def _contents(request: Request) -> list[Body]:
    model, messages = request.model, request.messages
    done, rows = request.grown.resume(messages) if request.grown is not None else (0, [])
    calls = _calls_before(messages, done)
    responses: list[Body] = []
    pictures: list[Body] = []

    def settle() -> None:
        """All responses to the calls of one answer stand in one content, right after it."""
        if responses:
            rows.append({"role": "user", "parts": [*responses]})
            responses.clear()
        if pictures:
            rows.append({"role": "user", "parts": [{"text": "From the tool results above:"}, *pictures]})
            pictures.clear()

    for message in messages[done:]:
        if isinstance(message, ToolResultMessage):
            responses.append(_response(message, calls.get(message.call_id), model, pictures))
            continue
        settle()
        if isinstance(message, AssistantMessage):
            calls = {call.id: call for call in message.tool_calls}
            rows.append({"role": "model", "parts": _model_parts(message, model)})
        else:
            rows.append({"role": "user", "parts": [_user_part(block) for block in message.content]})
    settle()
    if request.grown is not None:
        request.grown.keep(messages, rows)
    return rows


def _calls_before(messages: Sequence[Message], at: int) -> dict[str, ToolCall]:
    for message in reversed(messages[:at]):
        if isinstance(message, AssistantMessage):
            return {call.id: call for call in message.tool_calls}
    return {}


def _user_part(block: UserContent) -> Body:
    if isinstance(block, Image):
        return _picture(block) or {"text": f"[{block.mime_type}, {block.size} bytes: not a picture that Gemini takes]"}
    return {"text": block.text}


def _picture(block: Image) -> Body | None:
    if block.mime_type not in PICTURES:
        return None
    return {"inlineData": {"mimeType": block.mime_type, "data": block.data}}


def _response(message: ToolResultMessage, call: ToolCall | None, model: ModelSpec, pictures: list[Body]) -> Body:
    said = [block.text for block in message.content if isinstance(block, Text)]
    shown: list[Body] = []
    for block in message.content:
        if isinstance(block, Image):
            part = _user_part(block)
            if "text" in part:
                said.append(part["text"])
            else:
                shown.append(part)
    within = bool(model.compat.get("supportsMultimodalFunctionResponse"))
    text = "\n".join(said) or ("" if within else SEE_BELOW)
    response: Body = {
        "name": safe_name(call.name if call is not None else message.tool_name),
        "response": {"error" if message.is_error else "output": text},
    }
    wire_id = _wire_id(call, message.call_id, model)
    if wire_id:
        response = {"id": wire_id, **response}
    if within and shown:
        response["parts"] = shown
    else:
        pictures.extend(shown)
    return {"functionResponse": response}


def _wire_id(call: ToolCall | None, call_id: str, model: ModelSpec) -> str:
    """The id of a call on the wire: the one that the model gave, or, only for a server that wants one, our own."""
    given = (call.meta or {}).get("id") if call is not None else None
    if isinstance(given, str):
        return given
    return call_id if model.compat.get("requiresCallIds") else ""


def _model_parts(message: AssistantMessage, model: ModelSpec) -> list[Body]:
    own = made_by(message, model)
    parts: list[Body] = []
    called = False
    for block in message.content:
        if isinstance(block, ToolCall):
            part = _call(block, own, model)
            if not called and "thoughtSignature" not in part and model.compat.get("requiresThoughtSignature"):
                part["thoughtSignature"] = UNSIGNED  # only the first of a step is looked at
            called = True
            parts.append(part)
        elif own or isinstance(block, Text):
            parts.extend(_said(block, own))
    return parts


def _said(block: AssistantContent, own: bool) -> list[Body]:
    meta = (block.meta or {}) if own else {}
    if isinstance(block, Text):
        signature = meta.get("thoughtSignature")
        return [{"text": block.text, "thoughtSignature": signature} if signature else {"text": block.text}]
    if not isinstance(block, Thinking) or not (block.text or block.signature):
        return []
    part: Body = {"text": block.text, "thought": True}
    if meta.get("part") == "text":
        part = {"text": meta.get("text", "")}  # a signature that came in a part of its own
    if block.signature:
        part["thoughtSignature"] = block.signature
    return [part]


def _call(call: ToolCall, own: bool, model: ModelSpec) -> Body:
    # Arguments that were no JSON object are not sent again
    asked: Body = {"name": safe_name(call.name), "args": dict(call.args) if call.args is not None else {}}
    if wire_id := _wire_id(call, call.id, model):
        asked = {"id": wire_id, **asked}
    part: Body = {"functionCall": asked}
    signature = (call.meta or {}).get("thoughtSignature") if own else None
    if signature:
        part["thoughtSignature"] = signature
    return part


def _tool(spec: ToolSpec) -> Body:
    declared: Body = {"name": spec.name, "description": spec.description}
    if parameters := sanitize(spec.parameters):
        declared["parameters"] = parameters
    return declared


def safe_name(name: str) -> str:
    """A tool's name that Gemini takes, for names that a model made up."""
    clean = _BAD_IN_NAME.sub("_", name)[:MAX_NAME]
    if not clean or not (clean[0].isalpha() or clean[0] == "_"):
        clean = f"_{clean}"[:MAX_NAME]
    return clean if len(clean) > 1 or clean != "_" else "unknown"

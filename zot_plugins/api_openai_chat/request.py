"""A Request as the body of Chat Completions. Pure: the same request is the same body, because servers cache by it.

Expects projected messages: calls paired with results, nothing empty.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2s
from typing import Any
from urllib.parse import quote

from zot_core.models.levels import clamp_level, level_word
from zot_core.models.loading import Loaded, can_load, placed
from zot_core.models.projection import made_by
from zot_core.models.protocol import HttpRequest, Request
from zot_core.types.content import Image, Text, Thinking, ToolCall, UserContent, text_of
from zot_core.types.messages import AssistantMessage, Message, ToolResultMessage
from zot_core.types.specs import ModelSpec, ToolSpec

Body = dict[str, Any]

MAX_ID = 40
"""OpenAI refuses longer call ids."""
MAX_NAME = 64
SEE_BELOW = "(a picture, see the next message)"
_LOADING = re.compile(r"^kimi-k3(?![0-9])")
"""Models of the catalog, under their vendor's own id, that take tools in the middle of a conversation: routers, whose
ids have a path before it, check messages themselves."""
_BAD_IN_NAME = re.compile(r"[^a-zA-Z0-9_-]")


def build(request: Request) -> HttpRequest:
    """Path, headers and payload of the call."""
    compat = request.model.compat
    tools = placed(request.tools, request.messages, _can_load(request.model), request.grown)
    payload: Body = {"model": request.model.id, "messages": _messages(request, tools.loaded), "stream": True}
    if compat.get("supportsUsageInStreaming", True):
        payload["stream_options"] = {"include_usage": True}
    if request.max_output is not None:
        payload[compat.get("maxTokensField", "max_tokens")] = request.max_output
    if request.tools:
        payload["tools"] = [_tool(spec) for spec in tools.listed]
    payload.update(_thinking(request))
    if compat.get("supportsPromptCacheKey") and request.session_id:
        payload["prompt_cache_key"] = request.session_id
    if compat.get("supportsStore"):
        payload["store"] = False
    extra = compat.get("extraBody")
    if isinstance(extra, Mapping):
        payload.update(extra)
    return HttpRequest(path=_path(request.model), payload=payload, auth=_auth(compat))


def _can_load(model: ModelSpec) -> bool:
    mode = model.compat.get("deferredToolsMode")
    return mode == "kimi" if mode is not None else can_load(model, "", _LOADING)


def _path(model: ModelSpec) -> str:
    given = model.compat.get("path")
    if isinstance(given, str) and given:
        return given.replace("{model}", quote(model.id, safe=""))
    return "chat/completions" if model.compat.get("versionlessPath") else "v1/chat/completions"


def _auth(compat: Mapping[str, Any]) -> dict[str, str]:
    header = compat.get("keyHeader")
    return {header: "{key}"} if isinstance(header, str) and header else {"authorization": "Bearer {key}"}


def _thinking(request: Request) -> Body:
    """How the level is asked for: an effort, a switch, or both, as the server's flags say."""
    model, compat = request.model, request.model.compat
    asked: Body = {}
    if model.reasoning and compat.get("thinkingToggle"):
        off = clamp_level(model, request.thinking) == "off"
        asked["thinking"] = {"type": "disabled" if off else "enabled"}
    if effort := _effort(request):
        asked.update(
            {"reasoning": {"effort": effort}} if compat.get("reasoningObject") else {"reasoning_effort": effort}
        )
    return asked


def _effort(request: Request) -> str:
    """The word for `reasoning_effort`, or "" to say nothing: `off` is said only where the model has a word for it."""
    model = request.model
    if not model.reasoning or not model.compat.get("supportsReasoningEffort", True):
        return ""
    only = model.compat.get("reasoningEffortWithTools")
    if request.tools and isinstance(only, str):
        return only
    level = clamp_level(model, request.thinking)
    word = level_word(model, level)
    return "" if word == "off" else word


def _messages(request: Request, loaded: Loaded) -> list[Body]:
    rows = _conversation(request, loaded)
    if request.system:
        developer = request.model.reasoning and request.model.compat.get("supportsDeveloperRole")
        rows.insert(0, {"role": "developer" if developer else "system", "content": request.system})
    return rows


def _conversation(request: Request, loaded: Loaded) -> list[Body]:
    model, messages = request.model, request.messages
    done, rows = request.grown.resume(messages, loaded) if request.grown is not None else (0, [])
    pictures: list[Body] = []  # of tool results: those may hold text alone, and nothing may come between them
    brought: list[ToolSpec] = []  # by tool results, and for the same reason behind them
    after_tool = done > 0 and isinstance(messages[done - 1], ToolResultMessage)
    for message in messages[done:]:
        if (pictures or brought) and not isinstance(message, ToolResultMessage):
            rows.extend(_behind_results(brought, pictures))
            pictures, brought = [], []
        if isinstance(message, ToolResultMessage):
            rows.append(_result(message, model))
            pictures.extend(_image(block) for block in message.content if isinstance(block, Image))
            brought.extend(loaded.get(message.call_id, ()))
        elif isinstance(message, AssistantMessage):
            rows.append(_assistant(message, model))
        else:
            if after_tool and model.compat.get("requiresAssistantAfterToolResult"):
                rows.append({"role": "assistant", "content": "I have processed the tool results."})
            rows.append({"role": "user", "content": _user_content(message)})
        after_tool = isinstance(message, ToolResultMessage)
    if pictures or brought:
        rows.extend(_behind_results(brought, pictures))
    elif request.grown is not None:
        request.grown.keep(messages, rows, loaded)
    return rows


def _behind_results(brought: Sequence[ToolSpec], pictures: list[Body]) -> list[Body]:
    """What results brought that they cannot hold. Tools come in a system message with `tools` and no `content`, as K3
    takes them: https://docs.morphllm.com/sdk/components/dynamic-tool-loading and the same form in MoonshotAI/kimi-code
    pull request 1369 (`messages[].tools`), read in 2026-11."""
    rows: list[Body] = []
    if brought:
        rows.append({"role": "system", "tools": [_tool(spec) for spec in brought]})
    if pictures:
        rows.append(_pictures(pictures))
    return rows


def _user_content(message: Message) -> str | list[Body]:
    content: Sequence[Any] = message.content
    if all(isinstance(block, Text) for block in content):
        return text_of(tuple(content))
    return [_part(block) for block in content]


def _part(block: UserContent) -> Body:
    return _image(block) if isinstance(block, Image) else {"type": "text", "text": block.text}


def _image(block: Image) -> Body:
    return {"type": "image_url", "image_url": {"url": f"data:{block.mime_type};base64,{block.data}"}}


def _pictures(pictures: list[Body]) -> Body:
    count = "The picture" if len(pictures) == 1 else f"The {len(pictures)} pictures"
    return {"role": "user", "content": [{"type": "text", "text": f"{count} from the tool results above:"}, *pictures]}


def _result(message: ToolResultMessage, model: ModelSpec) -> Body:
    text = text_of(message.content) or SEE_BELOW
    row: Body = {"role": "tool", "tool_call_id": _id(message.call_id, model), "content": text}
    if model.compat.get("requiresToolResultName"):
        row["name"] = safe_name(message.tool_name)
    return row


def _assistant(message: AssistantMessage, model: ModelSpec) -> Body:
    row: Body = {"role": "assistant", "content": message.text or None}
    if calls := message.tool_calls:
        row["tool_calls"] = [_call(call, model) for call in calls]
    if made_by(message, model) and model.compat.get("replaysReasoning", True):
        for block in message.content:
            if isinstance(block, Thinking) and block.text and block.meta and isinstance(block.meta.get("field"), str):
                row[block.meta["field"]] = row.get(block.meta["field"], "") + block.text
    return row


def _call(call: ToolCall, model: ModelSpec) -> Body:
    # Arguments that were no JSON object are not sent again: servers refuse them, and with them the whole conversation
    arguments = json.dumps(call.args, ensure_ascii=False) if call.args is not None else "{}"
    return {
        "id": _id(call.id, model),
        "type": "function",
        "function": {"name": safe_name(call.name), "arguments": arguments},
    }


def _tool(spec: ToolSpec) -> Body:
    function = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    return {"type": "function", "function": function}


def _id(call_id: str, model: ModelSpec) -> str:
    length = model.compat.get("callIdLength")
    if not isinstance(length, int) or length <= 0:
        return safe_id(call_id)
    if len(call_id) == length and call_id.isascii() and call_id.isalnum():
        return call_id
    return blake2s(call_id.encode("utf-8", "replace")).hexdigest()[:length]


def safe_id(call_id: str) -> str:
    """A call id that servers take: the id itself, or for one that is too long (another format's) a short one made
    from it, the same each time."""
    if 0 < len(call_id) <= MAX_ID:
        return call_id
    return f"call_{blake2s(call_id.encode('utf-8', 'replace'), digest_size=12).hexdigest()}"


def safe_name(name: str) -> str:
    """A tool's name that servers take, for names that a model made up."""
    return _BAD_IN_NAME.sub("_", name)[:MAX_NAME] or "unknown"

"""A Request as the body of the Responses API. Pure: the same request is the same body, because servers cache by it.

Nothing is kept on the server (`store` false), so every request carries the whole conversation, and the model's own
reasoning goes back encrypted, as it came. Expects projected messages: calls paired with results, nothing empty.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2s
from typing import Any

from zot_core.models.levels import clamp_level, level_word
from zot_core.models.loading import Loaded, can_load, placed
from zot_core.models.projection import made_by
from zot_core.models.protocol import HttpRequest, Request
from zot_core.types.content import AssistantContent, Image, Thinking, ToolCall, text_of
from zot_core.types.messages import AssistantMessage, Message, ToolResultMessage
from zot_core.types.specs import ModelSpec, ToolSpec

Body = dict[str, Any]

MAX_ID = 64
"""Longer ids are refused."""
MAX_NAME = 64
LEAST_OUTPUT = 16
"""A smaller `max_output_tokens` is refused."""
SEE_BELOW = "(a picture, see the next message)"
_LOADING = re.compile(r"^gpt-(?:5\.(?:[4-9]|\d\d)|[6-9]|\d\d)(?!.*-(?:nano|pro)\b)")
"""Models of the catalog that know `tool_search`: gpt-5.4 and later; nano and pro ones are left out, as in pi."""
_BAD_IN_NAME = re.compile(r"[^a-zA-Z0-9_-]")


def build(request: Request) -> HttpRequest:
    """Path, headers and payload of the call."""
    model, compat = request.model, request.model.compat
    tools = placed(request.tools, request.messages, can_load(model, "supportsToolSearch", _LOADING), request.grown)
    payload: Body = {"model": model.id, "input": _input(request, tools.loaded), "stream": True, "store": False}
    if request.system:
        payload["instructions"] = request.system
    if request.max_output is not None:
        payload["max_output_tokens"] = max(LEAST_OUTPUT, request.max_output)
    if request.tools:
        payload["tools"] = [_tool(spec) for spec in tools.listed]
    if model.reasoning:
        payload["include"] = ["reasoning.encrypted_content"]  # refused by models that do not reason
        if reasoning := _reasoning(request):
            payload["reasoning"] = reasoning
    if compat.get("supportsPromptCacheKey") and request.session_id:
        payload["prompt_cache_key"] = request.session_id
    if isinstance(compat.get("serviceTier"), str) and compat["serviceTier"]:
        payload["service_tier"] = compat["serviceTier"]
    extra = compat.get("extraBody")
    if isinstance(extra, Mapping):
        payload.update(extra)
    path = "responses" if compat.get("versionlessPath") else "v1/responses"
    header = compat.get("keyHeader")
    auth = {header: "{key}"} if isinstance(header, str) and header else {"authorization": "Bearer {key}"}
    return HttpRequest(path=path, payload=payload, auth=auth)


def _reasoning(request: Request) -> Body:
    """Effort and summary; `off` is said only where the model has a word for it."""
    compat = request.model.compat
    level = clamp_level(request.model, request.thinking)
    word = level_word(request.model, level)
    wanted: Body = {}
    if compat.get("supportsReasoningEffort", True) and word != "off":
        wanted["effort"] = word
    summary = compat.get("reasoningSummary", "auto")
    if level != "off" and isinstance(summary, str) and summary:
        wanted["summary"] = summary
    return wanted


def _input(request: Request, loaded: Loaded) -> list[Body]:
    model, messages = request.model, request.messages
    done, rows = request.grown.resume(messages, loaded) if request.grown is not None else (0, [])
    pictures: list[Body] = []  # of tool results, for servers that take only text there
    found: list[Body] = []  # the searches that results stand for, behind all results of their batch
    for message in messages[done:]:
        if (found or pictures) and not isinstance(message, ToolResultMessage):
            rows.extend([*found, *([_pictures(pictures)] if pictures else [])])
            found, pictures = [], []
        if isinstance(message, ToolResultMessage):
            rows.append(_output(message, model, pictures))
            if specs := loaded.get(message.call_id):
                found.extend(_search(message.call_id, specs))
        elif isinstance(message, AssistantMessage):
            rows.extend(_assistant(message, model))
        else:
            rows.append({"type": "message", "role": "user", "content": _content(message)})
    if found or pictures:
        rows.extend([*found, *([_pictures(pictures)] if pictures else [])])
    elif request.grown is not None:
        request.grown.keep(messages, rows, loaded)
    return rows


def _search(call_id: str, specs: Sequence[ToolSpec]) -> list[Body]:
    """Tools that a result brought, as a finished search of the client's: a call and its output, each by one id. The
    form of the vendor's guide (https://developers.openai.com/api/docs/guides/tools-tool-search, 2026-11) and, for
    searches that no model asked for in this way, of earendil-works/pi, openai-responses-shared.ts."""
    names = [spec.name for spec in specs]
    search_id = f"load_{blake2s(f'{call_id}:{names}'.encode('utf-8', 'replace'), digest_size=12).hexdigest()}"
    both: Body = {"call_id": search_id, "execution": "client", "status": "completed"}
    return [
        {"type": "tool_search_call", **both, "arguments": {"query": " ".join(names), "limit": len(names)}},
        {"type": "tool_search_output", **both, "tools": [{**_tool(spec), "defer_loading": True} for spec in specs]},
    ]


def _content(message: Message) -> list[Body]:
    content: Sequence[Any] = message.content
    return [_image(block) if isinstance(block, Image) else _text(block.text) for block in content]


def _text(text: str) -> Body:
    return {"type": "input_text", "text": text}


def _image(block: Image) -> Body:
    return {
        "type": "input_image",
        "detail": "auto",
        "image_url": f"data:{block.mime_type};base64,{block.data}",
    }


def _pictures(pictures: list[Body]) -> Body:
    count = "The picture" if len(pictures) == 1 else f"The {len(pictures)} pictures"
    said = [_text(f"{count} from the tool results above:"), *pictures]
    return {"type": "message", "role": "user", "content": said}


def _output(message: ToolResultMessage, model: ModelSpec, pictures: list[Body]) -> Body:
    row: Body = {"type": "function_call_output", "call_id": safe_id(message.call_id)}
    images = [block for block in message.content if isinstance(block, Image)]
    if images and model.compat.get("supportsToolResultImages", True):
        return {**row, "output": _content(message)}
    pictures.extend(_image(block) for block in images)
    return {**row, "output": text_of(message.content) or SEE_BELOW}


def _assistant(message: AssistantMessage, model: ModelSpec) -> list[Body]:
    """The items of one answer. Own reasoning must be followed by what it led to, and an item may bear its id only if
    the reasoning that it came from stands before it: both are refused otherwise."""
    own = made_by(message, model)
    blocks = list(message.content)
    while blocks and isinstance(blocks[-1], Thinking):
        blocks.pop()
    rows: list[Body] = []
    sent: set[str] = set()
    for block in blocks:
        if not isinstance(block, Thinking):
            rows.append(_item(block, own, sent))
        elif own and (item := _thought(block, model)) is not None:
            rows.append(item)
            sent.add(item["id"])
    return rows


def _thought(block: Thinking, model: ModelSpec) -> Body | None:
    meta = block.meta or {}
    if not isinstance(meta.get("id"), str):
        return None
    item: Body = {"type": "reasoning", "id": meta["id"], "summary": meta.get("summary", [])}
    if block.signature:
        return {**item, "encrypted_content": block.signature}
    if model.compat.get("replaysPlainReasoning") and meta.get("content"):
        return {**item, "content": meta["content"]}
    return None  # the server kept nothing to look it up by its id


def _item(block: AssistantContent, own: bool, sent: set[str]) -> Body:
    meta: Mapping[str, Any] = (block.meta or {}) if own else {}
    item_id = meta.get("id")
    led_by = meta.get("reasoning")
    named: Body = {"id": item_id} if isinstance(item_id, str) and (not led_by or led_by in sent) else {}
    if isinstance(block, ToolCall):
        row: Body = {"type": "function_call", **named, "call_id": safe_id(block.id), "name": safe_name(block.name)}
        return {**row, "arguments": _arguments(block)}
    said: Body = {"type": "output_text", "text": block.text}
    row = {"type": "message", **named, "role": "assistant"}
    if named:
        row["status"] = "completed"
        said["annotations"] = []
    if isinstance(meta.get("phase"), str):
        row["phase"] = meta["phase"]
    return {**row, "content": [said]}


def _arguments(call: ToolCall) -> str:
    """The arguments as the model wrote them, which is what it has in its cache, unless somebody changed them since.

    Arguments that were no JSON object are not sent again: servers refuse them, and with them the whole conversation.
    """
    if call.args is None:
        return "{}"
    try:
        if call.raw and json.loads(call.raw) == call.args:
            return call.raw
    except (ValueError, RecursionError):
        pass  # then what was made of it is sent
    return json.dumps(call.args, ensure_ascii=False)


def _tool(spec: ToolSpec) -> Body:
    # Strict schemas know no optional property, and tools of plugins have them
    return {
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
        "strict": False,
    }


def safe_id(call_id: str) -> str:
    """A call id that servers take: the id itself, or for one that is too long (another format's) a short one made
    from it, the same each time."""
    if 0 < len(call_id) <= MAX_ID:
        return call_id
    return f"call_{blake2s(call_id.encode('utf-8', 'replace'), digest_size=12).hexdigest()}"


def safe_name(name: str) -> str:
    """A tool's name that servers take, for names that a model made up."""
    return _BAD_IN_NAME.sub("_", name)[:MAX_NAME] or "unknown"

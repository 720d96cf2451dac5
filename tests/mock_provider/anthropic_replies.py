"""Replies of the strict server in the form of the Messages API, signed so that it knows its own thinking again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mock_provider.server import Reply
from mock_provider.strict_anthropic import call_id, redact, sign

MODEL = "claude-opus-5-5"


def event(kind: str, **data: Any) -> str:
    """One server-sent event."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data}, ensure_ascii=False)}\n\n"


def think(text: str) -> dict[str, str]:
    """A thinking block to be signed."""
    return {"think": text}


def hide(text: str) -> dict[str, str]:
    """A redacted block."""
    return {"hide": text}


def call(name: str, **args: Any) -> dict[str, Any]:
    """A call."""
    return {"call": name, "args": args}


def said(*blocks: Any, model: str = MODEL, stop: str = "", usage: Mapping[str, Any] | None = None) -> list[str]:
    """The events of an answer: each block a text, or of `think`, `hide` and `call`; deltas in small pieces."""
    thinking = [sealed for block in blocks if (sealed := _sealed(block, model)) is not None]
    numbers = iter(range(len(blocks)))
    counts = {"input_tokens": 20, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "output_tokens": 1}
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": None}
    events = [event("message_start", message={**start, "usage": {**counts, **(usage or {})}}), event("ping")]
    for index, block in enumerate(blocks):
        opened, deltas = _streamed(block, model, lambda: call_id(next(numbers), model, thinking))
        events.append(event("content_block_start", index=index, content_block=opened))
        events.extend(event("content_block_delta", index=index, delta=delta) for delta in deltas)
        events.append(event("content_block_stop", index=index))
    calls = any(isinstance(block, dict) and "call" in block for block in blocks)
    reason = stop or ("tool_use" if calls else "end_turn")
    events.append(
        event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 9})
    )
    return [*events, event("message_stop")]


def answer(*blocks: Any, model: str = MODEL, stop: str = "", usage: Any = None, **options: Any) -> Reply:
    """A reply of those blocks."""
    return Reply(body=said(*blocks, model=model, stop=stop, usage=usage), done=False, **options)


def refusal(status: int, kind: str, message: str, **options: Any) -> Reply:
    """An error in Anthropic's form."""
    body = json.dumps({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"})
    return Reply(body=[body.encode()], status=status, content_type="application/json", done=False, **options)


def _sealed(block: Any, model: str) -> dict[str, str] | None:
    if isinstance(block, dict) and "think" in block:
        return {"type": "thinking", "thinking": block["think"], "signature": sign(model, block["think"])}
    if isinstance(block, dict) and "hide" in block:
        return {"type": "redacted_thinking", "data": redact(model, block["hide"])}
    return None


def _streamed(block: Any, model: str, new_id: Any) -> tuple[dict[str, Any], Sequence[dict[str, Any]]]:
    if isinstance(block, str):
        return {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in _halves(block)]
    if "call" in block:
        raw = json.dumps(block["args"], ensure_ascii=False) if block["args"] else ""
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *_halves(raw))]
        return {"type": "tool_use", "id": new_id(), "name": block["call"], "input": {}}, deltas
    sealed = _sealed(block, model)
    assert sealed is not None
    if sealed["type"] == "redacted_thinking":
        return sealed, []
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _halves(sealed["thinking"])]
    deltas += [{"type": "signature_delta", "signature": piece} for piece in _halves(sealed["signature"])]
    return {"type": "thinking", "thinking": "", "signature": ""}, deltas


def _halves(text: str) -> list[str]:
    half = len(text) // 2
    return [piece for piece in (text[:half], text[half:]) if piece]

"""Replies of a Gemini server: chunks with parts, as the public reference describes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mock_provider.server import Reply
from mock_provider.strict_google import signed

Chunk = dict[str, Any]
USAGE = {
    "promptTokenCount": 100,
    "cachedContentTokenCount": 60,
    "candidatesTokenCount": 12,
    "thoughtsTokenCount": 8,
    "totalTokenCount": 120,
}


def text(said: str, sign: str = "", thought: bool = False) -> Chunk:
    """A part of text; `sign` is the model that signs it."""
    part: Chunk = {"text": said, "thought": True} if thought else {"text": said}
    return signed(part, sign) if sign else part


def call(name: str, args: Mapping[str, Any], call_id: str = "", sign: str = "") -> Chunk:
    """A part that calls a function."""
    asked: Chunk = {"id": call_id} if call_id else {}
    part = {"functionCall": {**asked, "name": name, "args": dict(args)}}
    return signed(part, sign) if sign else part


def chunk(*parts: Chunk, finish: str = "", usage: Any = None, model: str = "mock", **more: Any) -> Chunk:
    """One chunk of a stream."""
    candidate: Chunk = {"content": {"parts": list(parts), "role": "model"}, "index": 0, **more}
    if finish:
        candidate["finishReason"] = finish
    whole: Chunk = {"candidates": [candidate], "modelVersion": model, "responseId": "r1"}
    return {**whole, "usageMetadata": usage} if usage else whole


def encoded(chunks: Any) -> list[bytes]:
    """Chunks as the server writes them: with CRLF."""
    return [f"data: {json.dumps(one, ensure_ascii=False)}\r\n\r\n".encode() for one in chunks]


def answer(*parts: Chunk, finish: str = "STOP", model: str = "mock", **options: Any) -> Reply:
    """A whole reply, a chunk for each part; the last one says how it ends."""
    chunks = [chunk(part, model=model) for part in parts[:-1]]
    chunks.append(chunk(*parts[-1:], finish=finish, usage=USAGE, model=model))
    return Reply(body=encoded(chunks), done=False, **options)

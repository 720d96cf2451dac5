"""Replies of a Responses server: items in the order of its events, as the public reference describes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mock_provider.server import Reply
from mock_provider.strict_responses import sealed

Event = dict[str, Any]


def message(*pieces: str, item_id: str = "msg_1", phase: str = "", refusal: bool = False) -> dict[str, Any]:
    """An item that says `pieces`, a delta each."""
    kind = "refusal" if refusal else "output_text"
    part: Event = {"type": kind, "refusal" if refusal else "text": "".join(pieces)}
    if not refusal:
        part["annotations"] = []
    item: Event = {"id": item_id, "type": "message", "status": "completed", "role": "assistant", "content": [part]}
    if phase:
        item["phase"] = phase
    return {"item": item, "pieces": pieces}


def thought(*summary: str, item_id: str = "rs_1", model: str = "mock", secret: bool = True) -> dict[str, Any]:
    """A reasoning item with that summary, a part each."""
    rows = [{"type": "summary_text", "text": text} for text in summary]
    item: Event = {"id": item_id, "type": "reasoning", "summary": rows}
    if secret:
        item["encrypted_content"] = sealed(item_id, summary, model)
    return {"item": item, "pieces": summary}


def call(call_id: str, name: str, args: Mapping[str, Any] | str, item_id: str = "", of: str = "") -> dict[str, Any]:
    """A call of a tool; `of` is the reasoning that it needs."""
    raw = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
    item_id = f"{item_id or f'fc_{call_id}'}{f'_of_{of}' if of else ''}"
    item: Event = {
        "id": item_id,
        "type": "function_call",
        "status": "completed",
        "call_id": call_id,
        "name": name,
        "arguments": raw,
    }
    half = len(raw) // 2
    return {"item": item, "pieces": (raw[:half], raw[half:])}


def events_of(index: int, made: Mapping[str, Any]) -> list[Event]:
    """All events of one item."""
    item, pieces = made["item"], made["pieces"]
    at: Event = {"output_index": index, "item_id": item["id"]}
    kind = item["type"]
    empty: Event = {"message": {"content": []}, "reasoning": {"summary": []}, "function_call": {"arguments": ""}}[kind]
    begun = {key: value for key, value in item.items() if key != "encrypted_content"} | empty
    begun |= {"status": "in_progress"} if "status" in item else {}
    rows: list[Event] = [{"type": "response.output_item.added", "output_index": index, "item": begun}]
    if kind == "message":
        part = item["content"][0]
        word = "refusal" if part["type"] == "refusal" else "output_text"
        at = {**at, "content_index": 0}
        rows.append({"type": "response.content_part.added", **at, "part": {**part, **{"text": ""}}})
        rows.extend({"type": f"response.{word}.delta", **at, "delta": piece} for piece in pieces)
        rows.append({"type": f"response.{word}.done", **at, "text": "".join(pieces)})
        rows.append({"type": "response.content_part.done", **at, "part": part})
    elif kind == "reasoning":
        for number, piece in enumerate(pieces):
            here = {**at, "summary_index": number}
            part = {"type": "summary_text", "text": piece}
            rows.append({"type": "response.reasoning_summary_part.added", **here, "part": {**part, "text": ""}})
            half = len(piece) // 2
            for text in (piece[:half], piece[half:]):
                rows.append({"type": "response.reasoning_summary_text.delta", **here, "delta": text})
            rows.append({"type": "response.reasoning_summary_text.done", **here, "text": piece})
            rows.append({"type": "response.reasoning_summary_part.done", **here, "part": part})
    else:
        rows.extend({"type": "response.function_call_arguments.delta", **at, "delta": piece} for piece in pieces)
        rows.append({"type": "response.function_call_arguments.done", **at, "arguments": item["arguments"]})
    rows.append({"type": "response.output_item.done", "output_index": index, "item": item})
    return rows


def ending(status: str = "completed", output: Any = (), model: str = "mock", **more: Any) -> Event:
    """The last event of a response."""
    response: Event = {
        "id": "resp_1",
        "object": "response",
        "status": status,
        "model": model,
        "output": list(output),
        "error": None,
        "incomplete_details": None,
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 60},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 8},
            "total_tokens": 120,
        },
        **more,
    }
    return {"type": f"response.{status}", "response": response}


def beginning(model: str = "mock") -> list[Event]:
    """The first events of a response."""
    response = {"id": "resp_1", "object": "response", "status": "in_progress", "model": model, "error": None}
    return [{"type": "response.created", "response": response}, {"type": "response.in_progress", "response": response}]


def encoded(events: Any) -> list[bytes]:
    """Events as the server writes them, numbered and with their names."""
    rows = []
    for number, event in enumerate(events):
        data = json.dumps({**event, "sequence_number": number}, ensure_ascii=False)
        rows.append(f"event: {event.get('type', '')}\ndata: {data}\n\n".encode())
    return rows


def answer(*made: Mapping[str, Any], model: str = "mock", end: Event | None = None, **options: Any) -> Reply:
    """A whole reply of items."""
    events: list[Event] = beginning(model)
    for index, one in enumerate(made):
        events.extend(events_of(index, one))
    events.append(end or ending(output=[one["item"] for one in made], model=model))
    return Reply(body=encoded(events), done=False, **options)

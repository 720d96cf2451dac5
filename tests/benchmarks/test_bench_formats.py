"""Each wire format's parser against `json.loads` of the same bytes, and memory over a stream of a million deltas."""

from __future__ import annotations

import asyncio
import gc
import json
import time
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from itertools import chain, islice, repeat
from typing import Any

import pytest
from support.format_talk import FORMATS, Deaf, Key

from zot_core.agent.builder import MessageBuilder
from zot_core.models.protocol import Request, ServerEvent
from zot_core.models.runner import Runner, RunnerConfig
from zot_core.types.content import Text
from zot_core.types.messages import AssistantMessage, UserMessage
from zot_core.types.specs import ModelSpec, ProviderSpec, resolve
from zot_core.types.stream import Done

DELTAS = 20_000
PIECE = 64 << 10
"""Bytes of a read, as the network gives them when the reader is the slower one."""


def chat(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    head = {"id": "chatcmpl-CqV0bQG2xN4mZ5wY7t9hR1kSa3Dfe", "object": "chat.completion.chunk", "created": 1796000000}
    more = {"service_tier": "default", "system_fingerprint": "fp_9b78b61c52", "obfuscation": "Xz3kP9w"}
    return {**head, "model": "gpt-6.2-sol", **more, "choices": [choice], "usage": None}


def response(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "sequence_number": 1234, "output_index": 0, **fields}


def gemini(part: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    counts = {"promptTokenCount": 1520, "candidatesTokenCount": 240, "totalTokenCount": 1760}
    counts["promptTokensDetails"] = [{"modality": "TEXT", "tokenCount": 1520}]  # type: ignore[assignment]
    row = {"content": {"parts": [part], "role": "model"}, "index": 0, **more}
    return {"candidates": [row], "usageMetadata": counts, "modelVersion": "gemini-4-neon", "responseId": "aBcDeF0123"}


def block(delta: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def begun(item: Mapping[str, Any]) -> list[dict[str, Any]]:
    start = {"type": "message_start", "message": {"id": "msg_1", "model": "m", "usage": {"input_tokens": 9}}}
    return [start, {"type": "content_block_start", "index": 0, "content_block": item}]


ENDED = [
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
]
COMPLETED = {"type": "response.completed", "response": {"status": "completed", "model": "m", "output": []}}
CALL = {"id": "fc_0a1b2c3d4e5f", "type": "function_call", "call_id": "call_1", "name": "write", "arguments": ""}
TOOL = {"type": "tool_use", "id": "toolu_1", "name": "write", "input": {}}
OPEN, WORD, SHUT = '{"content": "', "word ", '"}'
STREAMS: Mapping[str, tuple[str, list[Any], Any, list[Any]]] = {
    "chat, text": ("openai-completions", [chat({"role": "assistant", "content": ""})], chat({"content": WORD}), []),
    "chat, thinking": ("openai-completions", [], chat({"reasoning_content": WORD}), []),
    "chat, arguments": (
        "openai-completions",
        [
            chat({"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "write", "arguments": ""}}]}),
            chat({"tool_calls": [{"index": 0, "function": {"arguments": OPEN}}]}),
        ],
        chat({"tool_calls": [{"index": 0, "function": {"arguments": WORD}}]}),
        [chat({"tool_calls": [{"index": 0, "function": {"arguments": SHUT}}]})],
    ),
    "responses, text": (
        "openai-responses",
        [],
        response("output_text.delta", content_index=0, item_id="msg_0a1b2c3d4e5f", delta=WORD, logprobs=[]),
        [COMPLETED],
    ),
    "responses, thinking": (
        "openai-responses",
        [],
        response("reasoning_summary_text.delta", summary_index=0, item_id="rs_0a1b2c3d4e5f", delta=WORD),
        [COMPLETED],
    ),
    "responses, arguments": (
        "openai-responses",
        [
            response("output_item.added", item=CALL),
            response("function_call_arguments.delta", item_id=CALL["id"], delta=OPEN),
        ],
        response("function_call_arguments.delta", item_id=CALL["id"], delta=WORD),
        [response("function_call_arguments.delta", item_id=CALL["id"], delta=SHUT), COMPLETED],
    ),
    "messages, text": (
        "anthropic-messages",
        begun({"type": "text", "text": ""}),
        block({"type": "text_delta", "text": WORD}),
        ENDED,
    ),
    "messages, thinking": (
        "anthropic-messages",
        begun({"type": "thinking", "thinking": ""}),
        block({"type": "thinking_delta", "thinking": WORD}),
        [block({"type": "signature_delta", "signature": "c2lnbmVk"}), *ENDED],
    ),
    "messages, arguments": (
        "anthropic-messages",
        [*begun(TOOL), block({"type": "input_json_delta", "partial_json": OPEN})],
        block({"type": "input_json_delta", "partial_json": WORD}),
        [block({"type": "input_json_delta", "partial_json": SHUT}), *ENDED],
    ),
    "gemini, text": ("google-generative-ai", [], gemini({"text": WORD}), [gemini({"text": ""}, finishReason="STOP")]),
    "gemini, thinking": (
        "google-generative-ai",
        [],
        gemini({"text": WORD, "thought": True}),
        [gemini({"text": "."}, finishReason="STOP")],
    ),
}
"""By format and kind of block: the format, the events before the deltas, the delta, and the events after."""


def events_of(name: str, deltas: int) -> Iterator[dict[str, Any]]:
    api, first, delta, last = STREAMS[name]
    end = [chat({}, "stop")] if api == "openai-completions" else []
    return chain(first, repeat(delta, deltas), last, end)


def encoded(event: Mapping[str, Any], api: str) -> bytes:
    name = f"event: {event['type']}\n" if api in ("anthropic-messages", "openai-responses") else ""
    return f"{name}data: {json.dumps(event, separators=(',', ':'))}\n\n".encode()


def request_of(name: str) -> Request:
    model = ModelSpec(id="m", provider="p", api=STREAMS[name][0], reasoning=True)
    return Request(model=model, messages=(UserMessage(content=(Text("Hi"),)),))


@pytest.mark.time_limit(120)
@pytest.mark.parametrize("name", STREAMS)
def test_a_parser_costs_little_more_than_json(compare: Any, name: str) -> None:
    api, request = STREAMS[name][0], request_of(name)
    rows = [
        ServerEvent(str(event.get("type", "")), json.dumps(event, separators=(",", ":")))
        for event in events_of(name, DELTAS)
    ]
    parser_of = resolve(FORMATS[api].parser)

    def floor() -> float:
        loads, start = json.loads, time.perf_counter()
        for row in rows:
            loads(row.data)
        return (time.perf_counter() - start) / DELTAS * 1e6

    def subject() -> float:
        parser, parts = parser_of(request), 0
        feed, start = parser.feed, time.perf_counter()
        for row in rows:
            for _ in feed(row):
                parts += 1
        parser.finish()
        spent = time.perf_counter() - start
        assert parts >= DELTAS
        return spent / DELTAS * 1e6

    compare(f"a delta of {name}", subject, floor, rounds=15, unit="us", ratio=1.5)


# --- memory -------------------------------------------------------------------------------------------------------


class Answer:
    """A response whose body is made as it is read."""

    status, idle = 200, 120.0
    headers: Mapping[str, str] = {"content-type": "text/event-stream"}

    def __init__(self, name: str, deltas: int) -> None:
        self._name, self._deltas = name, deltas

    async def chunks(self) -> AsyncIterator[bytes]:
        api, first, delta, _ = STREAMS[self._name]
        one = encoded(delta, api)
        many = PIECE // len(one)
        yield b"".join(encoded(event, api) for event in first)
        for _ in range(self._deltas // many):
            yield one * many
        yield one * (self._deltas % many)
        rest = list(islice(events_of(self._name, 0), len(first), None))
        yield b"".join(encoded(event, api) for event in rest)

    async def read(self, limit: int = 0) -> bytes:
        return b""

    async def drain(self, seconds: float) -> None: ...


class Source:
    """A client that has the one answer."""

    def __init__(self, name: str, deltas: int) -> None:
        self._answer = Answer(name, deltas)

    @asynccontextmanager
    async def stream(self, method: str, url: str, **sent: Any) -> AsyncIterator[Answer]:
        yield self._answer


async def received(name: str, deltas: int, measured: Callable[[], float]) -> tuple[AssistantMessage, float]:
    """The message of a stream, through the runner and the builder, and what `measured` says before it is made."""
    spec = ProviderSpec(id="p", api=STREAMS[name][0], base_url="http://127.0.0.1:1")
    source = Source(name, deltas)
    config = RunnerConfig(
        client=lambda: source,  # type: ignore[arg-type,return-value]
        provider=lambda _: spec,
        format=FORMATS.get,
        credential=lambda _: Key(),
    )
    builder = MessageBuilder()
    async with aclosing(Runner(config, Deaf()).stream(request_of(name))) as stream:
        async for part in stream:
            if isinstance(part, Done):
                break
            builder.feed(part)
    return builder.message(part.stop), measured()  # type: ignore[union-attr]


@pytest.mark.time_limit(300)
@pytest.mark.parametrize("name", [name for name in STREAMS if not name.endswith("thinking")])  # as text is
def test_a_million_deltas_take_no_memory_beside_their_text(compare: Any, name: str) -> None:
    """What the peak has beside the text, which the builder and the message hold once each."""

    def beside(deltas: int) -> float:
        gc.collect()
        tracemalloc.start()
        try:
            message, peak = asyncio.run(received(name, deltas, lambda: tracemalloc.get_traced_memory()[1]))
        finally:
            tracemalloc.stop()
        told = json.dumps([getattr(part, "text", "") or getattr(part, "raw", "") for part in message.content])
        assert told.count(WORD) == deltas
        return (peak - 2 * deltas * len(WORD)) / (1 << 20)

    beside(1000)  # what is imported and kept with the first
    few, many = beside(100_000), beside(1_000_000)
    compare.keep(
        f"memory beside the text, {name}: 1,000,000 deltas and 100,000", many, few, unit="MiB", at_most=few + 1
    )

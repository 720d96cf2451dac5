"""The events of a Messages stream as stream parts, forgiving what compatible servers leave out or invent.

One `MessagesParser` reads one response. Knows no network; never raises.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zot_core.models.failures import classify, error_word, is_error_body, network_failure
from zot_core.models.protocol import Request, ServerEvent
from zot_core.models.reading import EventParser, scan
from zot_core.types.failure import Failure
from zot_core.types.stream import (
    BlockMeta,
    Done,
    Failed,
    StreamPart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageUpdate,
)
from zot_plugins.api_anthropic.names import names_back
from zot_plugins.api_anthropic.usage import Counts

_CUT = frozenset({"max_tokens", "model_context_window_exceeded", "pause_turn"})
"""Stop reasons after which the answer is not whole, and no call in it is known to be."""


class MessagesParser(EventParser):
    """Reads one response: `feed` each event, `finish` when the body has ended."""

    __slots__ = ("_calls", "_counts", "_last", "_model", "_names", "_refusal", "_said", "_stop")

    def __init__(self, request: Request) -> None:
        super().__init__()
        self._names = names_back(request.tools)
        self._counts = Counts(request.model)
        self._calls: dict[int, str] = {}
        """Open and ended calls by index, with arguments that came whole at the start and hold if no others come."""
        self._last = 0
        self._said = False
        self._stop = ""
        self._refusal = ""
        self._model = ""

    def feed(self, event: ServerEvent) -> list[StreamPart]:
        """The parts that an event brings."""
        try:
            chunk, _ = scan(event.data, 0)
        except (StopIteration, ValueError, RecursionError):
            return self._odd(event)
        if self._ended or not isinstance(chunk, dict):
            return []
        kind = chunk.get("type")
        if kind == "content_block_delta":
            return self._delta(chunk)
        if kind == "error" or event.event == "error" or (kind is None and is_error_body(chunk)):
            return self._fail(classify(error_word(chunk)))
        return self._rest(kind, chunk)

    def finish(self) -> list[StreamPart]:
        """The last parts, when the body has ended with or without its last event."""
        return self._end(complete=False)

    def _rest(self, kind: Any, chunk: dict[str, Any]) -> list[StreamPart]:
        if kind == "content_block_start":
            return self._start(chunk)
        if kind == "message_delta":
            return self._message_delta(chunk)
        if kind == "message_start":
            return self._message_start(chunk.get("message"))
        if kind == "message_stop":
            return self._end(complete=True)
        return []  # pings, the ends of blocks, and what is not invented yet

    def _delta(self, chunk: dict[str, Any]) -> list[StreamPart]:
        delta = chunk.get("delta")
        if not isinstance(delta, dict):
            return []
        index, kind = chunk.get("index"), delta.get("type")
        if type(index) is not int:
            index = self._last
        if kind == "text_delta":
            text = delta.get("text")
            return [TextDelta(text, index)] if text and isinstance(text, str) else []
        if kind == "input_json_delta":
            return self._arguments(index, delta.get("partial_json"))
        if kind == "thinking_delta":
            text = delta.get("thinking")
            return [ThinkingDelta(text, index)] if text and isinstance(text, str) else []
        if kind == "signature_delta":
            signature = delta.get("signature")
            return [BlockMeta(index, signature)] if signature and isinstance(signature, str) else []
        return []

    def _start(self, chunk: dict[str, Any]) -> list[StreamPart]:
        block, index = chunk.get("content_block"), chunk.get("index")
        if type(index) is not int:
            index = self._last + 1
        self._last = index
        if not isinstance(block, dict):
            return []
        kind = block.get("type")
        if kind == "tool_use":
            return self._call(index, block)
        parts: list[StreamPart] = []
        if kind == "redacted_thinking":
            if data := _string(block, "data"):
                self._said = True
                parts = [ThinkingDelta("", index, redacted=True), BlockMeta(index, data)]
        elif kind == "thinking":
            self._said = True
            if text := _string(block, "thinking"):
                parts.append(ThinkingDelta(text, index))
            if signature := _string(block, "signature"):
                parts.append(BlockMeta(index, signature))
        elif kind == "text":
            self._said = True
            if text := _string(block, "text"):
                parts.append(TextDelta(text, index))
        return parts

    def _call(self, index: int, block: dict[str, Any]) -> list[StreamPart]:
        self._said = True
        given = block.get("input")
        self._calls[index] = json.dumps(given, ensure_ascii=False) if isinstance(given, dict) and given else ""
        name = _string(block, "name")
        return [ToolCallStart(index, _string(block, "id"), self._names.get(name, name))]

    def _arguments(self, index: int, text: Any) -> list[StreamPart]:
        if not text or not isinstance(text, str) or index not in self._calls:
            return []  # of a tool that the server runs itself
        self._calls[index] = ""
        return [ToolCallDelta(index, text)]

    def _message_start(self, message: Any) -> list[StreamPart]:
        if not isinstance(message, dict):
            return []
        self._model = self._model or _string(message, "model")
        return self._usage(message.get("usage"))

    def _message_delta(self, chunk: dict[str, Any]) -> list[StreamPart]:
        delta = chunk.get("delta")
        if isinstance(delta, dict):
            self._stop = _string(delta, "stop_reason") or self._stop
            details = delta.get("stop_details")
            if isinstance(details, dict):
                self._refusal = _string(details, "explanation") or _string(details, "category")
        return self._usage(chunk.get("usage"))

    def _usage(self, usage: Any) -> list[StreamPart]:
        return [UsageUpdate(self._counts.take(usage))] if isinstance(usage, Mapping) else []

    def _end(self, complete: bool) -> list[StreamPart]:
        if self._ended:
            return []
        if not self._stop and not complete:
            return self._fail(network_failure("the stream ended before the answer was complete"))
        self._ended = True
        if self._stop == "refusal":
            reason = f": {self._refusal}" if self._refusal else " to answer this"
            return [Failed(Failure(kind="refused", message=f"the model refused{reason}"))]
        if self._stop == "model_context_window_exceeded" and not self._said:
            word = "the model's window is full, it could not answer"
            return [Failed(Failure(kind="context_overflow", message=word))]
        parts: list[StreamPart] = []
        for index, whole in self._calls.items():
            if whole:
                parts.append(ToolCallDelta(index, whole))
            if self._stop not in _CUT:
                parts.append(ToolCallEnd(index))
        if self._stop in _CUT:
            return [*parts, Done("length", self._model)]
        return [*parts, Done("tool_use" if self._calls else "end_turn", self._model)]


def _string(row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""

"""The chunks of a Chat Completions stream as stream parts, forgiving what servers leave out, repeat or invent.

One `ChatParser` reads one response. Knows no network; never raises.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zot_core.models.failures import classify, error_word, is_error_body, network_failure
from zot_core.models.protocol import Request, ServerEvent
from zot_core.models.reading import EventParser, count, scan
from zot_core.types.failure import Failure, StopReason
from zot_core.types.stream import BlockMeta, Done, Failed, StreamPart, TextDelta, ThinkingDelta, UsageUpdate
from zot_core.types.usage import Usage
from zot_plugins.api_openai_chat.calls import Calls

REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")
"""Where servers put the model's thinking; the first that has text is read, because some send the same text in two."""
REASONING_KEY = "reasoning"
_STOPS: Mapping[str, StopReason] = {
    "stop": "end_turn",
    "end": "end_turn",
    "eos": "end_turn",
    "end_turn": "end_turn",
    "tool_calls": "tool_use",
    "tool_use": "tool_use",
    "function_call": "tool_use",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
}


class ChatParser(EventParser):
    """Reads one response: `feed` each event, `finish` when the body has ended."""

    __slots__ = ("_calls", "_finish", "_has_delta", "_lenient", "_model", "_reasoning_field", "_refusal")

    def __init__(self, request: Request) -> None:
        super().__init__()
        self._lenient = request.model.compat.get("supportsFinishReason") is False
        self._calls = Calls()
        self._finish = ""
        self._model = ""
        self._reasoning_field = ""
        self._refusal: list[str] = []
        self._has_delta = False

    def feed(self, event: ServerEvent) -> list[StreamPart]:
        """The parts that an event brings."""
        data = event.data
        if data == "[DONE]":
            return self._end(complete=self._answered())  # a server without finish reasons ends so too
        try:
            chunk, _ = scan(data, 0)
        except (StopIteration, ValueError, RecursionError):
            return self._odd(event)
        if not isinstance(chunk, dict) or self._ended:
            return []
        choices = chunk.get("choices")
        if chunk.get("error") or (not choices and (event.event == "error" or is_error_body(chunk))):
            return self._fail(classify(error_word(chunk)))
        parts: list[StreamPart] = []
        if choices and isinstance(choices, list) and isinstance(choices[0], dict):
            self._choice(choices[0], parts)
        usage = chunk.get("usage")
        if usage and isinstance(usage, dict):
            parts.append(UsageUpdate(_usage(usage)))
        if not self._model and isinstance(chunk.get("model"), str):
            self._model = chunk["model"]
        return parts

    def finish(self) -> list[StreamPart]:
        """The last parts, when the body has ended with or without its end marker."""
        return self._end(complete=self._lenient and self._answered())

    def _answered(self) -> bool:
        return self._has_delta or bool(self._calls)

    def _choice(self, choice: dict[str, Any], parts: list[StreamPart]) -> None:
        delta = choice.get("delta")
        if delta is None and not self._has_delta:
            delta = choice.get("message")  # a server that answers a stream with one whole message
        if delta and isinstance(delta, dict):
            self._has_delta = True
            content = delta.get("content")
            if content and isinstance(content, str):
                if len(delta) > 1:
                    self._thinking(delta, parts)
                parts.append(TextDelta(content))
            else:
                self._thinking(delta, parts)
                if content and isinstance(content, list):
                    parts.extend(_content_list(content))
            if len(delta) > 1 or content is None:
                self._rest(delta, parts)
        reason = choice.get("finish_reason")
        if reason and isinstance(reason, str) and not self._finish:
            self._finish = reason
        if (usage := choice.get("usage")) and isinstance(usage, dict):
            parts.append(UsageUpdate(_usage(usage)))
        if choice.get("error"):
            parts.extend(self._fail(classify(error_word(choice))))

    def _thinking(self, delta: dict[str, Any], parts: list[StreamPart]) -> None:
        for field in REASONING_FIELDS:
            text = delta.get(field)
            if text and isinstance(text, str):
                parts.append(ThinkingDelta(text, REASONING_KEY))
                if not self._reasoning_field:
                    # Some servers want it back where they put it, so the block remembers the field
                    self._reasoning_field = field
                    parts.append(BlockMeta(REASONING_KEY, meta={"field": field}))
                return

    def _rest(self, delta: dict[str, Any], parts: list[StreamPart]) -> None:
        calls = delta.get("tool_calls")
        if calls and isinstance(calls, list):
            for call in calls:
                if isinstance(call, dict):
                    parts.extend(self._calls.feed(call))
        old = delta.get("function_call")
        if old and isinstance(old, dict):
            parts.extend(self._calls.feed({"index": 0, "function": old}))
        refusal = delta.get("refusal")
        if refusal and isinstance(refusal, str):
            self._refusal.append(refusal)
            parts.append(TextDelta(refusal))

    def _end(self, complete: bool) -> list[StreamPart]:
        if self._ended:
            return []
        if not self._finish and not complete:
            return self._fail(network_failure("the stream ended before the answer was complete"))
        self._ended = True
        if self._refusal:
            return [Failed(Failure(kind="refused", message=f"the model refused: {''.join(self._refusal)}"))]
        if self._finish == "content_filter":
            return [Failed(Failure(kind="refused", message="the provider's content filter stopped the answer"))]
        if self._finish in {"error", "network_error"}:
            return [Failed(Failure(kind="provider", message="the server broke the answer off", retryable=True))]
        if self._finish in {"insufficient_system_resource", "overloaded"}:
            return [Failed(Failure(kind="overloaded", message="the server has no room for the answer", retryable=True))]
        stop = _STOPS.get(self._finish, "end_turn")
        if stop != "length":
            stop = "tool_use" if self._calls else "end_turn"
        return [*self._calls.finish(cut=stop == "length"), Done(stop, self._model)]


def _content_list(content: list[Any]) -> Iterator[StreamPart]:
    """Content as typed blocks, as Mistral's reasoning models send it."""
    for block in content:
        if isinstance(block, str):
            yield TextDelta(block)
        elif isinstance(block, dict) and block.get("type") == "thinking":
            inner = block.get("thinking")
            for piece in inner if isinstance(inner, list) else [{"text": inner}]:
                if isinstance(piece, dict) and isinstance(piece.get("text"), str) and piece["text"]:
                    yield ThinkingDelta(piece["text"], REASONING_KEY)
        elif isinstance(block, dict) and isinstance(block.get("text"), str) and block["text"]:
            yield TextDelta(block["text"])


def _usage(usage: dict[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details")
    if not isinstance(details, dict):
        details = {}
    read = count(details.get("cached_tokens")) or count(usage.get("prompt_cache_hit_tokens"))
    read = read or count(usage.get("cached_tokens"))
    write = count(details.get("cache_write_tokens")) or count(details.get("cache_creation_tokens"))
    cost = usage.get("cost")
    return Usage(
        input=max(0, count(usage.get("prompt_tokens")) - read - write),
        output=count(usage.get("completion_tokens")),
        cache_read=read,
        cache_write=write,
        cost=float(cost) if isinstance(cost, (int, float)) and not isinstance(cost, bool) and cost > 0 else 0.0,
    )

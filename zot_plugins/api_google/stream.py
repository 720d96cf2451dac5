"""The chunks of a Gemini stream as stream parts. One `GoogleParser` reads one response.

There is no end marker: an answer is complete if it had said why it ends when its body ended. Knows no network; never
raises.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zot_core.models.failures import classify, error_word, network_failure
from zot_core.models.protocol import Request, ServerEvent
from zot_core.models.reading import EventParser, count, scan
from zot_core.types.failure import Failure
from zot_core.types.stream import (
    BlockMeta,
    Done,
    StreamPart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageUpdate,
)
from zot_core.types.usage import Usage

Chunk = dict[str, Any]
_COMPLETE = frozenset({"STOP", "MAX_TOKENS"})
_REFUSED = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "MODEL_ARMOR",
    }
)
_BROKEN: Mapping[str, Failure] = {
    "MALFORMED_FUNCTION_CALL": Failure(
        kind="provider", message="the model wrote a tool call that the server could not read", retryable=True
    ),
    "MALFORMED_RESPONSE": Failure(
        kind="provider", message="the model wrote an answer that the server could not read", retryable=True
    ),
    "UNEXPECTED_TOOL_CALL": Failure(kind="provider", message="the model called a tool though it has none"),
    "TOO_MANY_TOOL_CALLS": Failure(kind="provider", message="the model called too many tools in a row"),
    "MISSING_THOUGHT_SIGNATURE": Failure(kind="bad_request", message="a call was sent without its thought signature"),
}


class GoogleParser(EventParser):
    """Reads one response: `feed` each event, `finish` when the body has ended."""

    __slots__ = ("_finish", "_has_calls", "_key", "_model", "_open", "_told", "_usage", "_why")

    def __init__(self, request: Request) -> None:
        super().__init__()
        self._key = 0
        self._open = ""
        """The kind of block that the next piece of text may continue."""
        self._finish = ""
        self._why = ""
        self._model = ""
        self._usage: Any = None
        self._told: Any = None
        """The usage that was told: it comes with every chunk, and only the last counts."""
        self._has_calls = False

    def feed(self, event: ServerEvent) -> list[StreamPart]:
        """The parts that an event brings."""
        try:
            chunk, _ = scan(event.data, 0)
        except (StopIteration, ValueError, RecursionError):
            return self._odd(event)
        if isinstance(chunk, list) and chunk:
            chunk = chunk[0]  # an error, as it comes without `alt=sse`
        if not isinstance(chunk, dict) or self._ended:
            return []
        if chunk.get("error"):
            return self._fail(classify(error_word(chunk)))
        parts: list[StreamPart] = []
        candidates = chunk.get("candidates")
        if candidates and isinstance(candidates, list) and isinstance(candidates[0], dict):
            self._candidate(candidates[0], parts)
        usage = chunk.get("usageMetadata")
        if usage and isinstance(usage, dict):
            self._usage = usage
        if self._finish:
            parts.extend(self._counted())
        if not self._model and isinstance(chunk.get("modelVersion"), str):
            self._model = chunk["modelVersion"]
        feedback = chunk.get("promptFeedback")
        if isinstance(feedback, dict) and feedback.get("blockReason") and not self._finish:
            parts.extend(self._fail(_blocked(feedback)))
        return parts

    def finish(self) -> list[StreamPart]:
        """The last parts, when the body has ended."""
        if self._ended:
            return []
        if not self._finish:
            return self._fail(network_failure("the stream ended before the answer was complete"))
        if self._finish in _COMPLETE:
            self._ended = True
            if self._finish == "MAX_TOKENS":
                return [Done("length", self._model)]
            return [Done("tool_use" if self._has_calls else "end_turn", self._model)]
        why = f": {self._why}" if self._why else ""
        if self._finish in _REFUSED:
            return self._fail(Failure(kind="refused", message=f"the provider stopped the answer: {self._finish}{why}"))
        if self._finish in _BROKEN:
            known = _BROKEN[self._finish]
            return self._fail(Failure(kind=known.kind, message=known.message + why, retryable=known.retryable))
        message = f"the server broke the answer off: {self._finish}{why}"
        return self._fail(Failure(kind="provider", message=message, retryable=True))

    def _candidate(self, candidate: Chunk, parts: list[StreamPart]) -> None:
        content = candidate.get("content")
        pieces = content.get("parts") if isinstance(content, dict) else None
        if pieces and isinstance(pieces, list):
            for piece in pieces:
                if isinstance(piece, dict):
                    self._piece(piece, parts)
        reason = candidate.get("finishReason")
        if reason and isinstance(reason, str) and reason != "FINISH_REASON_UNSPECIFIED":
            self._finish = reason
            self._why = _why(candidate)

    def _piece(self, piece: Chunk, parts: list[StreamPart]) -> None:
        signature = piece.get("thoughtSignature")
        signature = signature if isinstance(signature, str) else ""
        call, text = piece.get("functionCall"), piece.get("text")
        if isinstance(call, dict):
            self._call(call, signature, parts)
        elif isinstance(text, str):
            if signature:
                self._signed(text, piece.get("thought") is True, signature, parts)
            elif text:
                self._text(text, piece.get("thought") is True, parts)

    def _text(self, text: str, thought: bool, parts: list[StreamPart]) -> None:
        kind = "thought" if thought else "text"
        if self._open != kind:
            self._open = kind
            self._key += 1
        parts.append(ThinkingDelta(text, self._key) if thought else TextDelta(text, self._key))

    def _signed(self, text: str, thought: bool, signature: str, parts: list[StreamPart]) -> None:
        """A part with a signature is a block of its own: it must go back as it came, joined to no other."""
        self._open = ""
        self._key += 1
        if thought:
            if text:
                parts.append(ThinkingDelta(text, self._key))
            parts.append(BlockMeta(self._key, signature=signature, meta={"part": "thought"}))
        elif text.strip():
            parts.append(TextDelta(text, self._key))
            parts.append(BlockMeta(self._key, meta={"thoughtSignature": signature}))
        else:  # text that nobody sees, and that no message would keep
            parts.append(BlockMeta(self._key, signature=signature, meta={"part": "text", "text": text}))

    def _call(self, call: Chunk, signature: str, parts: list[StreamPart]) -> None:
        self._open = ""
        self._key += 1
        self._has_calls = True
        given = call["id"] if isinstance(call.get("id"), str) else ""
        name = call["name"] if isinstance(call.get("name"), str) else ""
        args = call.get("args")
        meta: dict[str, Any] = {"id": given} if given else {}
        if signature:
            meta["thoughtSignature"] = signature
        parts.append(ToolCallStart(self._key, given, name))
        parts.append(ToolCallDelta(self._key, json.dumps({} if args is None else args, ensure_ascii=False)))
        if meta:
            parts.append(BlockMeta(self._key, meta=meta))
        parts.append(ToolCallEnd(self._key))

    def _counted(self) -> list[StreamPart]:
        if self._usage == self._told:
            return []
        self._told = self._usage
        return [UsageUpdate(_usage(self._usage))]

    def _fail(self, failure: Failure) -> list[StreamPart]:
        return [*self._counted(), *super()._fail(failure)]


def _blocked(feedback: Chunk) -> Failure:
    reason, why = feedback["blockReason"], feedback.get("blockReasonMessage")
    rest = f" ({why})" if isinstance(why, str) and why else ""
    return Failure(kind="refused", message=f"the provider blocked the request: {reason}{rest}")


def _why(candidate: Chunk) -> str:
    """What the server says of its reason: a sentence, or the categories that it blocked by."""
    if isinstance(candidate.get("finishMessage"), str) and candidate["finishMessage"]:
        return str(candidate["finishMessage"])
    ratings = candidate.get("safetyRatings")
    rows = [row for row in ratings if isinstance(row, dict)] if isinstance(ratings, list) else []
    return ", ".join(str(row["category"]) for row in rows if row.get("blocked") and row.get("category"))


def _usage(usage: Chunk) -> Usage:
    """The prompt's count holds what came from the cache; thinking is counted beside the answer."""
    read = count(usage.get("cachedContentTokenCount"))
    prompt = count(usage.get("promptTokenCount")) + count(usage.get("toolUsePromptTokenCount"))
    return Usage(
        input=max(0, prompt - read),
        output=count(usage.get("candidatesTokenCount")) + count(usage.get("thoughtsTokenCount")),
        cache_read=read,
    )

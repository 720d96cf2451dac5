"""The builder: folds stream parts into one assistant message, the same for every provider.

Must not know a provider or a sink. What a delta costs here is paid thousands of times a run: a write into a buffer, for
a million small strings in a list weigh ten times their text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, Literal, TypeAlias

from zot_core.types.content import AssistantContent, Text, Thinking, ToolCall
from zot_core.types.failure import Failure, StopReason
from zot_core.types.messages import AssistantMessage, new_id
from zot_core.types.stream import (
    BlockMeta,
    Key,
    Retrying,
    Routed,
    StreamPart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageUpdate,
)
from zot_core.types.usage import Usage

Kind: TypeAlias = Literal["text", "thinking", "call"]


@dataclass(slots=True)
class _Open:
    """A block that grows: its text so far, and what its kind needs besides."""

    kind: Kind
    said: StringIO = field(default_factory=StringIO)
    signature: str = ""
    meta: dict[str, Any] | None = None
    redacted: bool = False
    id: str = ""
    name: str = ""
    ended: bool = False


class MessageBuilder:
    """Takes parts with `feed`, gives the message with `message`. Call ids come out unique and never empty.

    `taken` are the ids of earlier calls of the conversation; the builder adds the new ones. `provider`, `model` and
    `api` name the maker.
    """

    __slots__ = ("_blocks", "_by_key", "_handlers", "_last", "_maker", "_taken", "id", "usage")

    def __init__(self, *, provider: str = "", model: str = "", api: str = "", taken: set[str] | None = None) -> None:
        self.id = new_id()
        self.usage: Usage | None = None
        self._maker = (provider, model, api)
        self._taken: set[str] = set() if taken is None else taken
        self._blocks: list[_Open] = []
        self._by_key: dict[tuple[Kind, Key], _Open] = {}
        self._last: dict[Kind, _Open] = {}
        self._handlers: dict[type[Any], Callable[[Any], StreamPart]] = {
            TextDelta: self._text,
            ThinkingDelta: self._thinking,
            BlockMeta: self._meta,
            ToolCallStart: self._start,
            ToolCallDelta: self._arguments,
            ToolCallEnd: self._end,
            UsageUpdate: self._usage,
            Retrying: self._retrying,
            Routed: self._routed,
        }

    def feed(self, part: StreamPart) -> StreamPart:
        """Folds one part in and returns it, a tool call's start with the id that the call will have.

        Raises TypeError for what is no part, and for `Done` and `Failed`, which end a message instead of growing it.
        """
        handler = self._handlers.get(type(part))
        if handler is None:
            raise TypeError(f"{type(part).__name__} is no part that a message grows by")
        return handler(part)

    def message(self, stop: StopReason = "end_turn", failure: Failure | None = None) -> AssistantMessage:
        """The message. Cut short (`aborted`, `error`) it leaves out what is worthless in pieces: calls whose arguments
        had not ended, and a thinking block that nothing followed, because its signature may be incomplete."""
        cut = stop in ("aborted", "error")
        content = tuple(self._finished(cut))
        calls = any(isinstance(block, ToolCall) for block in content)
        if calls and stop == "end_turn":
            stop = "tool_use"
        elif not calls and stop == "tool_use":
            stop = "end_turn"
        provider, model, api = self._maker
        return AssistantMessage(
            content=content,
            stop=stop,
            usage=self.usage,
            provider=provider,
            model=model,
            api=api,
            failure=failure,
            id=self.id,
        )

    def partial(self) -> AssistantMessage:
        """The message so far, for whoever wants to look at it before its end."""
        return self.message()

    def _finished(self, cut: bool) -> list[AssistantContent]:
        content: list[AssistantContent] = []
        for number, block in enumerate(self._blocks, 1):
            text = block.said.getvalue()
            if block.kind == "text":
                if text:
                    content.append(Text(text, block.meta))
            elif block.kind == "call":
                if block.ended or not cut:
                    content.append(ToolCall(block.id, block.name, parse_arguments(text), text, block.meta))
            elif not (cut and number == len(self._blocks)) and (text or block.signature or block.meta):
                content.append(Thinking(text, block.signature or None, block.redacted, block.meta))
        return content

    def _block(self, kind: Kind, key: Key) -> _Open:
        block = self._last.get(kind) if key is None else self._by_key.get((kind, key))
        return self._open(kind, key) if block is None else block

    def _open(self, kind: Kind, key: Key) -> _Open:
        block = _Open(kind)
        self._blocks.append(block)
        self._last[kind] = block
        if key is not None:
            self._by_key[kind, key] = block
        return block

    def _text(self, part: TextDelta) -> StreamPart:
        self._block("text", part.key).said.write(part.text)
        return part

    def _thinking(self, part: ThinkingDelta) -> StreamPart:
        block = self._block("thinking", part.key)
        block.said.write(part.text)
        if part.redacted:
            block.redacted = True
        return part

    def _meta(self, part: BlockMeta) -> StreamPart:
        if part.key is None:
            block = self._blocks[-1] if self._blocks else None
        else:
            kinds: tuple[Kind, ...] = ("thinking", "text", "call")
            block = next((b for kind in kinds if (b := self._by_key.get((kind, part.key)))), None)
        if block is None:
            block = self._open("thinking", part.key)
        block.signature += part.signature
        if part.meta:
            block.meta = {**(block.meta or {}), **part.meta}
        return part

    def _start(self, part: ToolCallStart) -> StreamPart:
        block = self._open("call", part.key)
        block.name = part.name
        block.id = part.id
        if not part.id or part.id in self._taken:
            block.id = f"call_{new_id()}"
            part = ToolCallStart(part.key, block.id, part.name)
        self._taken.add(block.id)
        return part

    def _arguments(self, part: ToolCallDelta) -> StreamPart:
        self._call(part.key).said.write(part.args)
        return part

    def _end(self, part: ToolCallEnd) -> StreamPart:
        self._call(part.key).ended = True
        return part

    def _call(self, key: int | str) -> _Open:
        block = self._by_key.get(("call", key))
        if block is None:
            raise ValueError(f"a part of tool call {key!r} came before its start")
        return block

    def _usage(self, part: UsageUpdate) -> StreamPart:
        self.usage = part.usage
        return part

    def _routed(self, part: Routed) -> StreamPart:
        self._maker = (part.model.provider, part.model.id, part.model.api)
        return part

    def _retrying(self, part: Retrying) -> StreamPart:
        for block in self._blocks:
            self._taken.discard(block.id)
        self._blocks.clear()
        self._by_key.clear()
        self._last.clear()
        self.usage = None
        return part


def parse_arguments(raw: str) -> Mapping[str, Any] | None:
    """A call's arguments from its JSON text: no text at all is no arguments; None is what is no JSON object."""
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")

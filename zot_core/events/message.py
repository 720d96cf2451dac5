"""Events of messages: their start, their growth, and the two ways in which they end (as kept, as shown)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from zot_core.events.base import Block, Fact, Gate
from zot_core.types.content import Text
from zot_core.types.messages import AssistantMessage, Message
from zot_core.types.record import record
from zot_core.types.stream import StreamPart

__all__ = ["AssistantMessageEvent", "MessageEndEvent", "MessageStartEvent", "MessageUpdateEvent"]


@record(kw_only=True)
class MessageStartEvent(Fact):
    """Sent when a message begins: a user's, a custom or a tool result's whole, an assistant's still empty."""

    message: Message


@record(kw_only=True)
class MessageUpdateEvent(Fact):
    """Sent for each part of an assistant message, between its `message_start` and `message_end`.

    `part` is what came; `partial` builds the message so far when it is called, which costs, so call it only if you
    need it.
    """

    message_id: str
    part: StreamPart
    partial: Any = None


@record(kw_only=True)
class MessageEndEvent(Gate):
    """Sent when a message is complete, before it is stored. The replacement must have the same role and id."""

    message: Message
    rewritable = frozenset({"message"})

    def check(self, changed: Any) -> str | None:
        if getattr(changed.message, "role", None) != self.message.role:
            return f"message_end must keep the role {self.message.role!r}"
        if changed.message.id != self.message.id:
            return "message_end must keep the message's id"
        return Gate.check(self, changed)

    def withheld(self, notice: str) -> Any:
        message = self.message
        if isinstance(message, AssistantMessage):
            kept = tuple(block for block in message.content if not isinstance(block, Text))
            return self.replace(message=replace(message, content=(Text(notice), *kept)))
        return self.replace(message=replace(message, content=(Text(notice),)))


@record(kw_only=True)
class AssistantMessageEvent(Gate):
    """Sent after `message_end` of an assistant message that has text: `text` is only what people will see. Block
    withholds it. The transcript, models and plugins keep the message itself."""

    text: str
    message: AssistantMessage
    rewritable = frozenset({"text"})
    stops = frozenset({Block})

    def check(self, changed: Any) -> str | None:
        if not isinstance(changed.text, str):
            return "text must be a string"
        return Gate.check(self, changed)

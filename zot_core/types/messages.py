"""Messages: the lines of a conversation, as models and plugins see them and as sessions keep them.

A message's `id` is also the id of its session entry. Times are seconds since the epoch, UTC.
"""

from __future__ import annotations

import os
import time as _time
from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar, Literal, TypeAlias

from zot_core.types.content import AssistantContent, Text, ToolCall, UserContent
from zot_core.types.failure import Failure, StopReason
from zot_core.types.record import record
from zot_core.types.usage import Usage


def new_id() -> str:
    """A fresh id for a message, an entry or a run: 12 hex digits, random."""
    return os.urandom(6).hex()


@record(kw_only=True)
class SystemMessage:
    """The system prompt; seen only by `context_with_system` and providers, always first, never stored."""

    role: ClassVar[Literal["system"]] = "system"
    text: str


@record(kw_only=True)
class UserMessage:
    """What a person said, typed or sent on their behalf."""

    role: ClassVar[Literal["user"]] = "user"
    content: tuple[UserContent, ...]
    id: str = field(default_factory=new_id)
    time: float = field(default_factory=_time.time)


@record(kw_only=True)
class AssistantMessage:
    """What a model said.

    `provider`, `model` and `api` name the maker, so that signatures go back only to it. `stop` is why it ended;
    `failure` is set when `stop` is `error`, and what had come by then is kept in `content`.
    """

    role: ClassVar[Literal["assistant"]] = "assistant"
    content: tuple[AssistantContent, ...]
    stop: StopReason = "end_turn"
    usage: Usage | None = None
    provider: str = ""
    model: str = ""
    api: str = ""
    failure: Failure | None = None
    id: str = field(default_factory=new_id)
    time: float = field(default_factory=_time.time)

    @property
    def text(self) -> str:
        """The answer's text without thinking and calls, blocks joined by nothing: models split text freely."""
        return "".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls in the assistant's order."""
        return tuple(block for block in self.content if isinstance(block, ToolCall))


@record(kw_only=True)
class ToolResultMessage:
    """The answer to one tool call; every call id has exactly one. `details` is for screens and state, not for
    models; `activated` are the tools that models are offered from here on and were not before."""

    role: ClassVar[Literal["tool"]] = "tool"
    call_id: str
    tool_name: str
    content: tuple[UserContent, ...]
    is_error: bool = False
    details: Mapping[str, Any] | None = None
    usage: Usage | None = None
    activated: tuple[str, ...] = ()
    id: str = field(default_factory=new_id)
    time: float = field(default_factory=_time.time)


@record(kw_only=True)
class CustomMessage:
    """A plugin's message that models read as the user's; `display` false keeps it from the screen."""

    role: ClassVar[Literal["custom"]] = "custom"
    custom_type: str
    content: tuple[UserContent, ...]
    display: bool = True
    details: Mapping[str, Any] | None = None
    placement: Literal["after_prompt", "before_prompt"] = "after_prompt"
    id: str = field(default_factory=new_id)
    time: float = field(default_factory=_time.time)


Message: TypeAlias = UserMessage | AssistantMessage | ToolResultMessage | CustomMessage
AnyMessage: TypeAlias = SystemMessage | Message


@record(kw_only=True)
class DraftEntry:
    """An entry that a plugin proposes at a turn's boundary: `custom` (kept, never sent to a model) or
    `custom_message` (kept and sent)."""

    kind: Literal["custom", "custom_message"]
    custom_type: str
    data: Mapping[str, Any] | None = None
    content: tuple[UserContent, ...] = ()
    display: bool = True

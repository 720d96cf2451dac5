"""Events of a turn: one model call and the tool calls that it asked for."""

from __future__ import annotations

from typing import Any, Literal

from zot_core.events.base import Block, Gate
from zot_core.types.failure import Failure, StopReason
from zot_core.types.messages import (
    AnyMessage,
    AssistantMessage,
    DraftEntry,
    Message,
    SystemMessage,
    ToolResultMessage,
)
from zot_core.types.record import record

__all__ = ["ContextEvent", "ContextWithSystemEvent", "TurnEndEvent", "TurnStartEvent"]


@record(kw_only=True)
class TurnStartEvent(Gate):
    """Sent before each model call, after queued messages joined. `step` counts from 1 for each prompt. Block ends the
    run with stop `blocked`; its reason goes to the person."""

    step: int
    time: float = 0.0
    stops = frozenset({Block})


@record(kw_only=True)
class TurnEndEvent(Gate):
    """Sent after a turn's tool results were published, or after its message when it called no tool.

    Handlers may add `entries` to the session, and set `continue_run` for one more model call.
    """

    step: int
    stop: StopReason
    message: AssistantMessage | None = None
    tool_results: tuple[ToolResultMessage, ...] = ()
    failure: Failure | None = None
    entries: tuple[DraftEntry, ...] = ()
    continue_run: bool = False
    rewritable = frozenset({"entries", "continue_run"})


@record(kw_only=True)
class ContextEvent(Gate):
    """Sent before each model call, after `turn_start`: the messages that the model will see, without the system prompt.

    `source` is `projection` when a plugin composes a request of its own; such a pass must not advance any state.
    """

    messages: tuple[Message, ...]
    source: Literal["agent", "projection"] = "agent"
    rewritable = frozenset({"messages"})

    def check(self, changed: Any) -> str | None:
        if any(isinstance(message, SystemMessage) for message in changed.messages):
            return "context takes no system message; use context_with_system"
        return Gate.check(self, changed)

    def withheld(self, notice: str) -> Any:
        return self.replace(messages=())


@record(kw_only=True)
class ContextWithSystemEvent(Gate):
    """Sent after `context`, with the system prompt as the first message; the result is sent as it is. A system message
    anywhere but first is refused."""

    messages: tuple[AnyMessage, ...]
    source: Literal["agent", "projection"] = "agent"
    rewritable = frozenset({"messages"})

    def check(self, changed: Any) -> str | None:
        if any(isinstance(message, SystemMessage) for message in changed.messages[1:]):
            return "a system message must be the first"
        return Gate.check(self, changed)

    def withheld(self, notice: str) -> Any:
        return self.replace(messages=tuple(m for m in self.messages[:1] if isinstance(m, SystemMessage)))

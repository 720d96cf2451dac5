"""Events of tool calls, in the order in which one call meets them, and of the set of active tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from zot_core.events.base import Block, Fact, Gate, OnError
from zot_core.types.content import Text, UserContent
from zot_core.types.record import record
from zot_core.types.usage import Usage

__all__ = [
    "ShellSpawnEvent",
    "ToolActivatedEvent",
    "ToolBarrierExpiredEvent",
    "ToolCallEvent",
    "ToolConfirmationRequestedEvent",
    "ToolExecutionEndEvent",
    "ToolExecutionStartEvent",
    "ToolExecutionUpdateEvent",
    "ToolResultEvent",
]


@record(kw_only=True)
class ToolExecutionStartEvent(Fact):
    """Sent when a call's turn comes, in the assistant's order, before `tool_call`. A call that is refused gets one
    too."""

    call_id: str
    tool_name: str
    args: Mapping[str, Any]
    parent_call_id: str | None = None


@record(kw_only=True)
class ToolCallEvent(Gate):
    """Sent after `tool_execution_start` and before the tool runs, call by call in the assistant's order; the permission
    gate is asked last. A rewrite of `args` is validated again. A broken Python handler blocks the call."""

    call_id: str
    tool_name: str
    args: Mapping[str, Any]
    parent_call_id: str | None = None
    rewritable = frozenset({"args"})
    stops = frozenset({Block})
    on_error = OnError.BLOCK

    def check(self, changed: Any) -> str | None:
        if not isinstance(changed.args, Mapping):
            return "args must be an object"
        return Gate.check(self, changed)


@record(kw_only=True)
class ToolConfirmationRequestedEvent(Fact):
    """Sent only when a person is about to be asked whether a call may run, before the wait. `preview` is what they
    see."""

    call_id: str
    tool_name: str
    preview: str
    modes = "R I"


@record(kw_only=True)
class ToolExecutionUpdateEvent(Fact):
    """Sent while a tool runs and reports progress; updates of parallel calls interleave."""

    call_id: str
    tool_name: str
    args: Mapping[str, Any]
    content: tuple[UserContent, ...] = ()
    details: Mapping[str, Any] | None = None


@record(kw_only=True)
class ToolResultEvent(Gate):
    """Sent when a call has its result, refused calls included, in the order of completion, before
    `tool_execution_end`."""

    call_id: str
    tool_name: str
    args: Mapping[str, Any]
    content: tuple[UserContent, ...]
    details: Mapping[str, Any] | None = None
    is_error: bool = False
    usage: Usage | None = None
    parent_call_id: str | None = None
    rewritable = frozenset({"content", "details", "is_error", "usage"})

    def withheld(self, notice: str) -> Any:
        return self.replace(content=(Text(notice),), details=None, is_error=True)


@record(kw_only=True)
class ToolExecutionEndEvent(Fact):
    """Sent after `tool_result`, in the order of completion; result messages follow in the assistant's order."""

    call_id: str
    tool_name: str
    content: tuple[UserContent, ...] = ()
    details: Mapping[str, Any] | None = None
    is_error: bool = False
    parent_call_id: str | None = None


@record(kw_only=True)
class ToolActivatedEvent(Fact):
    """Sent when tools joined the active set; `tool_names` are only those that just did."""

    tool_names: tuple[str, ...]


@record(kw_only=True)
class ToolBarrierExpiredEvent(Fact):
    """Sent when a tool barrier reached its deadline and opened by itself."""

    id: str


@record(kw_only=True)
class ShellSpawnEvent(Gate):
    """Sent before a shell command of a tool or a person starts. A broken handler blocks it."""

    command: str
    cwd: str
    env: Mapping[str, str] = field(default_factory=dict)
    rewritable = frozenset({"command", "cwd", "env"})
    stops = frozenset({Block})
    on_error = OnError.BLOCK

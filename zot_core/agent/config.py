"""What a run is given: the conversation's state, and a snapshot of the configuration for each model call.

Plain callables stand for everything that the agent must not know: providers, settings, files, contexts of plugins.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from zot_core.agent.prompt import PromptState
from zot_core.events.agent import SystemPromptOptions
from zot_core.models.protocol import Request
from zot_core.types.content import ToolCall, UserContent
from zot_core.types.failure import Failure
from zot_core.types.messages import AssistantMessage, Message
from zot_core.types.record import record
from zot_core.types.specs import ModelSpec, ThinkingLevel, ToolSpec
from zot_core.types.stream import StreamPart

if TYPE_CHECKING:
    from zot_core.agent.cancel import Signal


Fitted: TypeAlias = tuple[UserContent, ...]


class Update(Protocol):
    """Reports a running call's progress; may be called from a tool's worker thread. Never raises, never waits."""

    def __call__(self, content: str | Sequence[UserContent] = "", details: Mapping[str, Any] | None = None) -> None: ...


@record(kw_only=True)
class TurnConfig:
    """One model call's configuration. A run asks for a new one before each call, so that a change holds from the next.

    `system` is the base system prompt, before `prepare_system_prompt`; `options` is what it was built from. `tools` are
    the active ones by name. `tool_context(call, update, signal)` makes a running tool's `ctx`; the call carries the
    arguments that really run. `barrier(spec)` returns when a call of that tool may run. `activate_tools(names)` is told
    what a result wants active and answers what became so; `find_tool(name)` makes a tool active that is called though
    it is not, and answers None where it may not. `on_overflow(failure)` makes room and answers whether it is worth
    trying once more. `fit(name, content)` answers what of a call's result is short enough for a model.
    """

    model: ModelSpec
    stream: Callable[[Request], AsyncIterator[StreamPart]]
    tool_context: Callable[[ToolCall, Update, Signal], Any]
    api: str = ""
    tools: Mapping[str, ToolSpec] = field(default_factory=dict)
    thinking: ThinkingLevel = "off"
    system: str | Callable[[], str | Awaitable[str]] = ""
    options: SystemPromptOptions | None = None
    session_id: str = ""
    cwd: str = ""
    max_steps: int = 50
    max_output: int | None = None
    barrier: Callable[[ToolSpec], Awaitable[None]] | None = None
    activate_tools: Callable[[tuple[str, ...]], Awaitable[Sequence[str] | None] | Sequence[str] | None] | None = None
    find_tool: Callable[[str], Awaitable[ToolSpec | None]] | None = None
    on_overflow: Callable[[Failure], Awaitable[bool]] | None = None
    fit: Callable[[str, tuple[UserContent, ...]], Fitted | Awaitable[Fitted]] | None = None


@dataclass(slots=True, kw_only=True)
class AgentState:
    """A conversation as the agent holds it. `messages` is the live transcript: the owner fills it from the session, a
    run appends to it, and between two runs the owner may change it. `open_calls` are the calls that run now, by id."""

    messages: list[Message] = field(default_factory=list)
    prompt: PromptState = field(default_factory=PromptState)
    open_calls: dict[str, Any] = field(default_factory=dict)
    call_ids: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for message in self.messages:
            if isinstance(message, AssistantMessage):
                self.call_ids.update(call.id for call in message.tool_calls)

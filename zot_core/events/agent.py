"""Events of a run: from the prompt's first step to the point where nothing goes on by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from zot_core.events.base import Fact, Gate
from zot_core.types.content import Image
from zot_core.types.failure import Failure, StopReason
from zot_core.types.messages import CustomMessage, DraftEntry, Message
from zot_core.types.record import record

__all__ = [
    "AgentBeforeSettleEvent",
    "AgentEndEvent",
    "AgentSettledEvent",
    "AgentStartEvent",
    "BeforeAgentStartEvent",
    "PrepareSystemPromptEvent",
    "SystemPromptOptions",
]


@record(kw_only=True)
class SystemPromptOptions:
    """What the base prompt was built from. Holds whole context files: treat it as private."""

    custom_prompt: str | None = None
    selected_tools: tuple[str, ...] = ()
    tool_snippets: Mapping[str, str] = field(default_factory=dict)
    prompt_guidelines: tuple[str, ...] = ()
    append_system_prompt: tuple[str, ...] = ()
    cwd: str = ""
    context_files: tuple[tuple[str, str], ...] = ()
    """(path, text) in the order of the prompt."""
    skills: tuple[str, ...] = ()


@record(kw_only=True)
class PrepareSystemPromptEvent(Gate):
    """Sent once per prompt epoch, after the base prompt is assembled and before the first model call; the result holds
    until the next epoch. An empty `system_prompt` sends none. `agent_run_id` names this pass over the handlers."""

    system_prompt: str
    session_id: str
    agent_run_id: str
    cwd: str
    provider: str
    model: str
    rewritable = frozenset({"system_prompt"})

    def check(self, changed: Any) -> str | None:
        if not isinstance(changed.system_prompt, str):
            return "system_prompt must be a string"
        return Gate.check(self, changed)

    def withheld(self, notice: str) -> Any:
        return self.replace(system_prompt=notice)


@record(kw_only=True)
class BeforeAgentStartEvent(Gate):
    """Sent once per run, after `input` and the prepared system prompt, before `agent_start`.

    Add to `messages` what shall be kept and sent with the prompt; `system_prompt` holds for this run alone. In a
    `preview` only handlers with `preview_safe=True` are asked, and no turn follows.
    """

    prompt: str
    system_prompt: str
    trigger: Literal["prompt", "delivery", "extension"] = "prompt"
    images: tuple[Image, ...] = ()
    messages: tuple[CustomMessage, ...] = ()
    options: SystemPromptOptions = field(default_factory=SystemPromptOptions)
    preview: bool = False
    rewritable = frozenset({"system_prompt", "messages"})


@record(kw_only=True)
class AgentStartEvent(Fact):
    """Sent when a run begins, after `before_agent_start` and before its first message."""

    run_id: str


@record(kw_only=True)
class AgentEndEvent(Fact):
    """Sent when a run's turns are over, after the last `turn_end`; `agent_before_settle` may still ask for more.

    `messages` are those of this run, `stop` is the last turn's.
    """

    run_id: str
    messages: tuple[Message, ...] = ()
    stop: StopReason = "end_turn"
    failure: Failure | None = None


@record(kw_only=True)
class AgentBeforeSettleEvent(Gate):
    """Sent after `agent_end` and before `agent_settled`: the last point at which a handler may add `entries` and set
    `continue_run` for one more model call. Guard the condition: an unconditional one loops until the step limit."""

    run_id: str
    stop: StopReason = "end_turn"
    entries: tuple[DraftEntry, ...] = ()
    continue_run: bool = False
    rewritable = frozenset({"entries", "continue_run"})


@record(kw_only=True)
class AgentSettledEvent(Fact):
    """Sent last: nothing more runs by itself. Runs that its handlers ask for start after all of them returned."""

    run_id: str
    stop: StopReason = "end_turn"

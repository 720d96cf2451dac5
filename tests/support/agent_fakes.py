"""Doubles for the agent's tests: a sink that records and can be told how to answer, and scripted streams."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zot_core.agent.cancel import Signal
from zot_core.agent.config import AgentState, TurnConfig
from zot_core.agent.loop import RunEnd, run
from zot_core.agent.queues import Queues
from zot_core.agent.sink import Outcome, Stored
from zot_core.events.base import Block, Event, Handled
from zot_core.models.protocol import Request
from zot_core.types.content import Text, ToolCall
from zot_core.types.messages import (
    AssistantMessage,
    CustomMessage,
    DraftEntry,
    Message,
    ToolResultMessage,
    UserMessage,
)
from zot_core.types.specs import ModelSpec, ToolSpec
from zot_core.types.stream import Done, StreamPart, TextDelta, ToolCallDelta, ToolCallEnd, ToolCallStart

MODEL = ModelSpec(id="m", provider="p", api="a")


class FakeSink:
    """Records everything. `on` maps a hook to a handler(event) whose answer is a changed event or a stop."""

    def __init__(self, on: Mapping[str, Callable[[Any], Any]] | None = None, quiet: Sequence[str] = ()) -> None:
        self.on = dict(on or {})
        self.quiet = frozenset(quiet)
        self.log: list[Event] = []
        self.stored: list[Stored] = []
        self.entries: list[DraftEntry] = []
        self.order: list[str] = []
        self.fail_store: Callable[[Stored], Exception | None] = lambda stored: None
        self.tick: Callable[[], None] = lambda: None

    def wants(self, hook: str) -> bool:
        return hook not in self.quiet

    def intercepts(self, hook: str) -> bool:
        return hook in self.on

    def hooks(self, *only: str) -> list[str]:
        return [event.hook for event in self.log if not only or event.hook in only]

    def events(self, hook: str) -> list[Any]:
        return [event for event in self.log if event.hook == hook]

    async def _answer(self, event: Any) -> Any:
        self.log.append(event)
        self.order.append(event.hook)
        self.tick()
        await asyncio.sleep(0)
        handler = self.on.get(event.hook)
        answer = handler(event) if handler else None
        return await answer if inspect.isawaitable(answer) else answer

    async def tell(self, event: Any) -> None:
        await self._answer(event)

    async def gate(self, event: Any) -> Outcome[Any]:
        answer = await self._answer(event)
        if isinstance(answer, Block | Handled):
            return Outcome(event, answer, "guard")
        return Outcome(event if answer is None else answer)

    async def store(self, stored: Stored) -> None:
        error = self.fail_store(stored)
        if error is not None:
            raise error
        self.stored.append(stored)
        self.order.append(f"store {stored.message.role}")
        self.tick()
        await asyncio.sleep(0)

    async def store_entry(self, entry: DraftEntry) -> Any:
        self.entries.append(entry)
        if entry.kind == "custom_message":
            return CustomMessage(custom_type=entry.custom_type, content=entry.content)
        return None


@dataclass
class Ctx:
    call: ToolCall
    update: Any
    signal: Signal

    @property
    def call_id(self) -> str:
        return self.call.id


@dataclass
class Bench:
    """One conversation with a scripted model: each item of `script` is the parts of one model call."""

    script: list[Any] = field(default_factory=list)
    tools: dict[str, ToolSpec] = field(default_factory=dict)
    sink: FakeSink = field(default_factory=FakeSink)
    queues: Queues = field(default_factory=Queues)
    signal: Signal = field(default_factory=Signal)
    state: AgentState = field(default_factory=AgentState)
    requests: list[Request] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    tick: Callable[[], None] = lambda: None

    async def stream(self, request: Request) -> AsyncIterator[StreamPart]:
        self.requests.append(request)
        parts = self.script.pop(0) if self.script else [TextDelta("done"), Done("end_turn")]
        if isinstance(parts, BaseException):
            raise parts
        for part in parts:
            self.tick()
            await asyncio.sleep(0)
            if isinstance(part, BaseException):
                raise part
            if callable(part):
                answer = part()
                if inspect.isawaitable(answer):
                    await answer
            else:
                yield part

    def config(self) -> TurnConfig:
        return TurnConfig(
            model=MODEL,
            stream=self.stream,
            tool_context=lambda call, update, signal: Ctx(call, update, signal),
            tools=self.tools,
            **self.options,
        )

    async def run(self, *prompts: Any, **more: Any) -> RunEnd:
        messages = [user(p) if isinstance(p, str) else p for p in prompts]
        self.queues.opening.extend(messages)
        return await run(
            state=self.state,
            config=self.config,
            sink=self.sink,
            queues=self.queues,
            signal=self.signal,
            **more,
        )

    def go(self, *prompts: Any, **more: Any) -> RunEnd:
        return asyncio.run(self.run(*(prompts or ("hi",)), **more))


def user(text: str) -> UserMessage:
    return UserMessage(content=(Text(text),))


def tool(name: str, execute: Any, **more: Any) -> ToolSpec:
    return ToolSpec(name=name, description=name, parameters={"type": "object"}, execute=execute, **more)


def tools(*specs: ToolSpec) -> dict[str, ToolSpec]:
    return {spec.name: spec for spec in specs}


def call(name: str, args: str = "{}", id: str = "", end: bool = True) -> list[StreamPart]:
    key = f"{name}-{id}-{args}"
    parts: list[StreamPart] = [ToolCallStart(key, id or f"id_{name}", name), ToolCallDelta(key, args)]
    return [*parts, ToolCallEnd(key)] if end else parts


def asks(*calls: list[StreamPart], stop: Any = "tool_use", text: str = "") -> list[StreamPart]:
    parts: list[StreamPart] = [TextDelta(text)] if text else []
    for one in calls:
        parts.extend(one)
    return [*parts, Done(stop)]


def says(text: str) -> list[StreamPart]:
    return [TextDelta(text), Done("end_turn")]


def assert_paired(messages: Sequence[Message]) -> None:
    """Each tool call has exactly one result right after its assistant message, in its order, and no result is alone."""
    at = 0
    seen: set[str] = set()
    while at < len(messages):
        message = messages[at]
        at += 1
        assert not isinstance(message, ToolResultMessage), "a result without its call"
        if isinstance(message, AssistantMessage):
            for wanted in message.tool_calls:
                assert wanted.id and wanted.id not in seen
                seen.add(wanted.id)
                assert at < len(messages), "a call without a result"
                result = messages[at]
                assert isinstance(result, ToolResultMessage)
                assert result.call_id == wanted.id
                at += 1


def roles(messages: Sequence[Message]) -> list[str]:
    return [message.role for message in messages]

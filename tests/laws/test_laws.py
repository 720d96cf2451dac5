"""The laws of the pipeline as a table: tiny plugins in, the outcome and what was told out.

A row is a plugin list, an event, and what must become of it. Plugins are registered in the order of the row, so that
their position is their place; `seen` collects what handlers were told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from zot_core.events import (
    AgentStartEvent,
    AssistantMessageEvent,
    BeforeAgentStartEvent,
    Block,
    InputEvent,
    MessageEndEvent,
    ToolCallEvent,
    ToolResultEvent,
    TurnStartEvent,
    UserBashEvent,
)
from zot_core.events.base import Handled
from zot_core.events.input import BashResult
from zot_core.hooks.markers import hookimpl
from zot_core.plugins.host import PluginHost
from zot_core.types.content import Text
from zot_core.types.messages import AssistantMessage, UserMessage

seen: list[Any] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    seen.clear()


def plugin(hook: str, function: Callable[..., Any], **options: Any) -> Any:
    """A plugin with one implementation."""
    return type("Tiny", (), {hook: staticmethod(hookimpl(hook, **options)(function))})()


def says(label: str, answer: Callable[[Any], Any] = lambda event: None) -> Callable[..., Any]:
    def handler(event):
        seen.append(label)
        return answer(event)

    return handler


def says_async(label: str, answer: Callable[[Any], Any] = lambda event: None) -> Callable[..., Any]:
    async def handler(event):
        await asyncio.sleep(0)
        seen.append(label)
        return answer(event)

    return handler


def fails(label: str, error: BaseException | None = None) -> Callable[..., Any]:
    def handler(event):
        seen.append(label)
        raise error or ValueError("boom")

    return handler


def add(word: str) -> Callable[[Any], Any]:
    return lambda event: event.replace(text=event.text + word)


def call(**args: Any) -> ToolCallEvent:
    return ToolCallEvent(call_id="1", tool_name="bash", args=args)


def result() -> ToolResultEvent:
    return ToolResultEvent(call_id="1", tool_name="read", args={}, content=(Text("secret"),))


TEXT = InputEvent(text="a")
START = AgentStartEvent(run_id="r")
MESSAGE = AssistantMessage(content=(Text("secret"),))
SHOWN = AssistantMessageEvent(text="secret", message=MESSAGE)
STORED = MessageEndEvent(message=MESSAGE)


@dataclass
class Law:
    name: str
    event: Any
    plugins: list[Any]
    told: list[str]
    """Labels in the order of calling."""
    event_after: Any = None
    """The event at the end of the chain, if it was changed."""
    stop: Any = None
    by: str = ""
    broken: list[str] = field(default_factory=list)
    """Plugins with a diagnostic of level error."""


LAWS = [
    Law("no plugin: the event itself", TEXT, [], []),
    Law(
        "implementations are called in their places, sync or async",
        TEXT,
        [plugin("input", says("a")), plugin("input", says_async("b")), plugin("input", says("c"))],
        ["a", "b", "c"],
    ),
    Law(
        "tryfirst before all plain ones, trylast after",
        TEXT,
        [
            plugin("input", says("last"), trylast=True),
            plugin("input", says("plain")),
            plugin("input", says("first"), tryfirst=True),
        ],
        ["first", "plain", "last"],
    ),
    Law(
        "each sees what the one before made of it",
        TEXT,
        [
            plugin("input", says("a", add("b"))),
            plugin("input", says_async("b", add("c"))),
            plugin("input", says("c", lambda e: seen.append(e.text))),
        ],
        ["a", "b", "c", "abc"],
        event_after=InputEvent(text="abc"),
    ),
    Law(
        "answering the event itself changes nothing",
        TEXT,
        [plugin("input", says("a", lambda e: e))],
        ["a"],
    ),
    Law(
        "the first Block ends the chain and keeps what was changed before",
        TEXT,
        [
            plugin("input", says("a", add("b"))),
            plugin("input", says("b", lambda e: Block("no"))),
            plugin("input", says("c")),
        ],
        ["a", "b"],
        event_after=InputEvent(text="ab"),
        stop=Block("no"),
        by="p1",
    ),
    Law("input takes Handled", TEXT, [plugin("input", says("a", lambda e: Handled()))], ["a"], stop=Handled(), by="p0"),
    Law(
        "observers are told the event as sent, before the chain, and decide nothing",
        TEXT,
        [
            plugin("input", says("chain", add("b"))),
            plugin("input", says("observer", lambda e: seen.append(e.text) or Block("ignored")), observe=True),
        ],
        ["observer", "a", "chain"],
        event_after=InputEvent(text="ab"),
    ),
    Law(
        "an observer that breaks never blocks, not even where the event would",
        call(),
        [plugin("tool_call", fails("observer"), observe=True), plugin("tool_call", says("chain"))],
        ["observer", "chain"],
        broken=["p0"],
    ),
    Law(
        "a broken handler of an event that goes on says nothing",
        TEXT,
        [plugin("input", fails("a")), plugin("input", says("b", add("b")))],
        ["a", "b"],
        event_after=InputEvent(text="ab"),
        broken=["p0"],
    ),
    Law(
        "a broken guard blocks the call and says why",
        call(),
        [plugin("tool_call", fails("a")), plugin("tool_call", says("b"))],
        ["a"],
        stop=Block("plugin p0 failed: ValueError: boom"),
        by="p0",
        broken=["p0"],
    ),
    Law(
        "SystemExit of a handler is an error like any",
        TEXT,
        [plugin("input", fails("a", SystemExit(3))), plugin("input", says("b"))],
        ["a", "b"],
        broken=["p0"],
    ),
    Law(
        "a handler that lets its own cancelled task escape is broken, not cancelled",
        TEXT,
        [plugin("input", fails("a", asyncio.CancelledError())), plugin("input", says("b"))],
        ["a", "b"],
        broken=["p0"],
    ),
    Law(
        'on_error="block" is stricter than its event',
        TurnStartEvent(step=1),
        [plugin("turn_start", fails("a"), on_error="block"), plugin("turn_start", says("b"))],
        ["a"],
        stop=Block("plugin p0 failed: ValueError: boom"),
        by="p0",
        broken=["p0"],
    ),
    Law(
        "a strict redactor that breaks on a Gate without stops leaks nothing to those after it",
        result(),
        [
            plugin("tool_result", fails("a"), on_error="block"),
            plugin("tool_result", says("b", lambda e: seen.append(e.content))),
        ],
        ["a", "b", (Text("withheld: plugin p0 failed"),)],
        event_after=result().replace(content=(Text("withheld: plugin p0 failed"),), is_error=True),
        broken=["p0"],
    ),
    Law(
        "a wrong type is an error of its plugin",
        TEXT,
        [plugin("input", says("a", lambda e: {"text": "b"})), plugin("input", says("b", add("b")))],
        ["a", "b"],
        event_after=InputEvent(text="ab"),
        broken=["p0"],
    ),
    Law(
        "another event than the one sent is an error",
        TEXT,
        [plugin("input", says("a", lambda e: TurnStartEvent(step=1)))],
        ["a"],
        broken=["p0"],
    ),
    Law(
        "a field that may not be changed is an error, and blocks where errors block",
        call(),
        [plugin("tool_call", says("a", lambda e: e.replace(tool_name="other")))],
        ["a"],
        stop=Block("plugin p0 failed: field 'tool_name' of tool_call cannot be changed"),
        by="p0",
        broken=["p0"],
    ),
    Law(
        "a stop that the event does not take is an error",
        result(),
        [plugin("tool_result", says("a", lambda e: Block("no")))],
        ["a"],
        broken=["p0"],
    ),
    Law(
        "Handled is only for input",
        SHOWN,
        [plugin("assistant_message", says("a", lambda e: Handled()))],
        ["a"],
        broken=["p0"],
    ),
    Law(
        "an event's own rules hold: message_end keeps the role",
        STORED,
        [plugin("message_end", says("a", lambda e: e.replace(message=UserMessage(content=()))))],
        ["a"],
        broken=["p0"],
    ),
    Law(
        "a field that starts empty is added to by one after another",
        BeforeAgentStartEvent(prompt="p", system_prompt="s"),
        [
            plugin("before_agent_start", says("a", lambda e: e.replace(system_prompt=e.system_prompt + "1"))),
            plugin("before_agent_start", says("b", lambda e: e.replace(system_prompt=e.system_prompt + "2"))),
        ],
        ["a", "b"],
        event_after=BeforeAgentStartEvent(prompt="p", system_prompt="s12"),
    ),
    Law(
        "a Fact is told to all, whoever breaks",
        START,
        [plugin("agent_start", says("a")), plugin("agent_start", fails("b")), plugin("agent_start", says_async("c"))],
        ["a", "b", "c"],
        broken=["p1"],
    ),
    Law(
        "a Question is answered by the first who knows",
        UserBashEvent(command="ls", cwd="/"),
        [
            plugin("user_bash", says("a")),
            plugin("user_bash", says_async("b", lambda e: BashResult(output="x"))),
            plugin("user_bash", says("c", lambda e: BashResult(output="y"))),
        ],
        ["a", "b"],
        event_after=BashResult(output="x"),
        by="p1",
    ),
    Law(
        "a Question that fails closed is blocked by a broken handler",
        UserBashEvent(command="ls", cwd="/"),
        [plugin("user_bash", fails("a")), plugin("user_bash", says("b", lambda e: BashResult(output="y")))],
        ["a"],
        stop=Block("plugin p0 failed: ValueError: boom"),
        by="p0",
        broken=["p0"],
    ),
    Law(
        "and by an answer of another type",
        UserBashEvent(command="ls", cwd="/"),
        [plugin("user_bash", says("a", lambda e: "output"))],
        ["a"],
        stop=Block(
            "plugin p0 failed: user_bash takes nothing or ShellOperations or BashResult or Block(...) "
            "as an answer, not str"
        ),
        by="p0",
        broken=["p0"],
    ),
    Law(
        "args are a copy for every handler: an in-place change reaches nobody",
        call(command="ls", env={"a": 1}),
        [
            plugin("tool_call", says("a", lambda e: e.args["env"].clear())),
            plugin("tool_call", says("b", lambda e: seen.append(dict(e.args)))),
        ],
        ["a", "b", {"command": "ls", "env": {"a": 1}}],
    ),
    Law(
        "an in-place change that is answered is a rewrite",
        call(command="ls"),
        [plugin("tool_call", says("a", lambda e: e.args.update(command="pwd") or e))],
        ["a"],
        event_after=call(command="pwd"),
    ),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_law(law: Law) -> None:
    host = PluginHost()
    for place, tiny in enumerate(law.plugins):
        host.register(tiny, f"p{place}", position=place)
    sent = repr(law.event)
    kind = type(law.event).__mro__[1].__name__
    if kind == "Fact":
        assert asyncio.run(host.pipeline.tell(law.event)) is None
    elif kind == "Question":
        answer = asyncio.run(host.pipeline.ask(law.event))
        assert (answer.value, answer.stop, answer.plugin) == (law.event_after, law.stop, law.by)
    else:
        outcome = asyncio.run(host.pipeline.gate(law.event))
        expected = law.event if law.event_after is None else law.event_after
        assert (outcome.event, outcome.stop, outcome.plugin) == (expected, law.stop, law.by)
    assert seen == law.told
    assert repr(law.event) == sent, "the event that was sent is never touched"
    assert [row.plugin for row in host.diagnostics.rows if row.level == "error"] == law.broken

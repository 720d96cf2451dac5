"""What a model said goes back to it to the letter, and to no other: through an App, a resumed session, other models.

The strict server signs its thinking and knows it again, so that whatever is altered, moved or lost is a 400 there.
"""

from __future__ import annotations

import asyncio
import base64
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mock_provider import strict_anthropic, strict_chat
from mock_provider.anthropic_replies import answer, call, hide, think
from mock_provider.server import MockServer, Reply, calls, chunk, text
from mock_provider.strict_anthropic import redact, sign

from zot_core import hookimpl
from zot_core.models.growing import Grown
from zot_core.models.projection import project
from zot_core.models.protocol import Request
from zot_core.types.content import Image, Text, Thinking, ToolCall
from zot_core.types.messages import AssistantMessage, CustomMessage, Message, ToolResultMessage, UserMessage
from zot_core.types.specs import ModelSpec, ToolSpec
from zot_plugins.api_anthropic.request import build as build_messages
from zot_plugins.api_openai_chat.request import build as build_chat

Open = Callable[..., Any]
OPUS, HAIKU = "claude-opus-5-5", "claude-haiku-4-5"
READ = call("read", path="a.txt")


def endpoints(home: Path, server: MockServer) -> None:
    """Anthropic's catalog and a chat model, both at the mock."""
    chatty = {"id": "chatty", "reasoning": True, "input": ["text", "image"]}
    providers = {
        "anthropic": {"baseUrl": server.url, "apiKey": "x"},
        "acme": {"api": "openai-completions", "baseUrl": server.url, "models": [chatty]},
    }
    (home / "models.json").write_text(json.dumps({"providers": providers}), encoding="utf-8")


def reasoned(*wanted: Any) -> Reply:
    """A chat model that thinks aloud before it calls."""
    reply = calls(*wanted, say="Let me see.")
    return Reply(body=[chunk({"reasoning_content": "hm"}), *reply.body])


@pytest.fixture
def opened(world: Any, runtime: Open) -> Callable[..., Any]:
    """`opened(server, provider=...)` is an App whose models are the mock's, and whose project has a file."""
    (world.project / "a.txt").write_text("data", encoding="utf-8")

    def open_at(server: MockServer, **options: Any) -> Any:
        endpoints(world.home, server)
        chosen = {"provider": "anthropic", "reasoning": "high", "no_session": False, **options}
        return runtime(**chosen)

    return open_at


async def ask(app: Any, prompt: str, stop: str = "end_turn") -> None:
    end = await app.prompt(prompt)
    assert end.stop == stop, (end, app.front.notes)


def said_rows(body: Any) -> list[Any]:
    return [row["content"] for row in body["messages"] if row["role"] == "assistant"]


def test_thinking_survives_tools_a_restart_and_another_model_in_between(opened: Open) -> None:
    """SP-09."""
    blocks = (think("Erst schauen 👀\n"), READ, hide("opaque"), think(""), READ)
    replies = [
        *[answer(*blocks), answer(think("so"), "It says data.")],
        *[answer("Yes.")],
        *[answer(think("mine"), READ, model=HAIKU), answer("From Haiku.", model=HAIKU)],
        *[answer(think("again"), READ), answer("Back.")],
    ]

    async def story(server: MockServer) -> None:
        async with opened(server) as app:
            await ask(app, "What is in it?")
            session = str(app.runtime.session.path)
        async with opened(server, session=session, provider="") as app:
            assert app.runtime.choice.model.id == OPUS
            await ask(app, "Sure?")
            assert await app.runtime.choice.set_model(f"anthropic/{HAIKU}")
            await ask(app, "And you?")
            assert await app.runtime.choice.set_model(f"anthropic/{OPUS}")
            await ask(app, "Once more?")

    with MockServer(replies, key="x") as server:
        asyncio.run(story(server))
    assert not server.refusals
    bodies = server.bodies
    first = [
        {"type": "thinking", "thinking": "Erst schauen 👀\n", "signature": sign(OPUS, "Erst schauen 👀\n")},
        {"type": "tool_use", "name": "read", "input": {"path": "a.txt"}},
        {"type": "redacted_thinking", "data": redact(OPUS, "opaque")},
        {"type": "thinking", "thinking": "", "signature": sign(OPUS, "")},
        {"type": "tool_use", "name": "read", "input": {"path": "a.txt"}},
    ]
    for body in (bodies[1], bodies[2], bodies[-1]):
        replayed = [{key: value for key, value in block.items() if key != "id"} for block in said_rows(body)[0]]
        assert replayed == first
        assert body["thinking"]["type"] == "adaptive"
    # The other model never sees it, and goes on with thinking of its own
    haiku = [body for body in bodies if body["model"] == HAIKU]
    assert sign(OPUS, "so") not in json.dumps(haiku)
    assert sign(HAIKU, "mine") in json.dumps(haiku[1])
    assert sign(HAIKU, "mine") not in json.dumps(bodies[-1])
    assert haiku[1]["thinking"]["type"] == "enabled"


def test_a_switch_of_model_within_a_turn_is_taken(opened: Open) -> None:
    """SP-09: a budget asks for thinking at the head of the turn, which the other model's answer has not."""
    replies = [answer(think("hm"), READ), answer("Done.", model=HAIKU)]

    class Switch:
        app: Any = None

        @hookimpl
        async def tool_execution_end(self) -> None:
            assert await self.app.runtime.choice.set_model(f"anthropic/{HAIKU}")

    switch = Switch()

    async def story(server: MockServer) -> None:
        async with opened(server, plugins=[switch]) as app:
            switch.app = app
            await ask(app, "Look.")

    with MockServer(replies) as server:
        asyncio.run(story(server))
    assert not server.refusals
    assert [body["model"] for body in server.bodies] == [OPUS, HAIKU]
    assert "thinking" not in server.bodies[1]


@pytest.mark.parametrize("first", ["acme/chatty", f"anthropic/{OPUS}"])
def test_a_conversation_goes_on_with_the_other_format_and_back(opened: Open, first: str) -> None:
    odd = "call|" + "x" * 70  # an id that only some formats take
    chat = [reasoned((odd, "read", {"path": "a.txt"}), ("2", "no.such tool", {})), text("Chat is done.")]
    messages = [answer(think("hm"), "I look.", READ, READ), answer(think("ok"), "Messages is done.")]
    order = [chat, messages] if first.startswith("acme") else [messages, chat]
    again = [text("Chat again.")] if first.startswith("acme") else [answer("Messages again.")]
    second = f"anthropic/{OPUS}" if first.startswith("acme") else "acme/chatty"

    async def story(server: MockServer) -> None:
        provider, _, model = first.partition("/")
        async with opened(server, provider=provider, model=model) as app:
            await ask(app, "One?")
            assert await app.runtime.choice.set_model(second)
            await ask(app, "Two?")
            assert await app.runtime.choice.set_model(first)
            await ask(app, "Three?")

    with MockServer([*order[0], *order[1], *again]) as server:
        asyncio.run(story(server))
    assert not server.refusals
    assert len(server.bodies) == 5
    last = json.dumps(server.bodies[-1])
    assert ("reasoning_content" in last) == first.startswith("acme")
    assert (sign(OPUS, "hm") in last) == first.startswith("anthropic")


def test_arguments_cut_by_the_limit_run_nothing_and_go_back_as_they_may(opened: Open, world: Any) -> None:
    """SP-11."""
    cut = answer("Writing.", call("write", path="new.txt", content="half"), stop="max_tokens")

    async def story(server: MockServer) -> None:
        async with opened(server) as app:
            await ask(app, "Write.")

    with MockServer([cut, answer("I was cut.")]) as server:
        asyncio.run(story(server))
    assert not server.refusals
    assert not (world.project / "new.txt").exists()
    (result,) = server.bodies[1]["messages"][-1]["content"]
    assert result["is_error"] is True
    assert "cut" in json.dumps(result["content"])


# --- any transcript, by any maker -----------------------------------------------------------------------------------

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n0000").decode()
MAKERS = [
    ModelSpec(id="a", provider="x", api="anthropic-messages", reasoning=True, inputs=("text", "image")),
    ModelSpec(
        id="b", provider="x", api="anthropic-messages", reasoning=True, max_output=64_000,
        compat={"thinking": "adaptive", "bindsThinking": True},
    ),
    ModelSpec(id="c", provider="y", api="openai-completions", reasoning=True, inputs=("text", "image")),
]  # fmt: skip
TOOL = ToolSpec(name="files.read", description="Reads", parameters={"type": "object"}, execute="x:y")


def anything(dice: random.Random) -> list[Message]:
    """A transcript as sessions hold them: all makers, cut answers, calls without results and results without calls."""
    messages: list[Message] = []
    for number in range(dice.randrange(1, 9)):
        messages.extend(dice.choice([_person, _person, _model, _model, _model])(dice, number))
    return messages


def _person(dice: random.Random, number: int) -> list[Message]:
    content = tuple(
        dice.sample([Text("hi"), Text("  \n"), Image("image/png", PNG), Text("ä 👋")], dice.randrange(1, 4))
    )
    custom = CustomMessage(custom_type="t", content=content)
    return [custom if dice.random() < 0.2 else UserMessage(content=content)]


def _model(dice: random.Random, number: int) -> list[Message]:
    maker = dice.choice(MAKERS)
    blocks: list[Any] = []
    ids: list[str] = []
    for index in range(dice.randrange(0, 5)):
        kind = dice.choice(["text", "blank", "thinking", "redacted", "unsigned", "call", "call"])
        if kind == "call":
            ids.append(dice.choice(["toolu_{}", "call|{}", "ä{}", "{}" + "x" * 80]).format(f"{number}-{index}"))
            name = dice.choice(["read", "files.read", "", "bad name"])
            blocks.append(ToolCall(ids[-1], name, dice.choice([{}, {"path": "x"}, None]), '{"pa'))
        else:
            blocks.append(_block(kind, maker))
    stop = dice.choice(["end_turn", "tool_use", "length", "aborted", "error"])
    made = AssistantMessage(content=tuple(blocks), stop=stop, provider=maker.provider, model=maker.id, api=maker.api)
    content = [(Text("ok"),), (), (Image("image/png", PNG), Text("see"))]
    results: list[Message] = [
        ToolResultMessage(call_id=one, tool_name="read", content=dice.choice(content), is_error=dice.random() < 0.4)
        for one in dice.sample(ids, dice.randrange(len(ids) + 1))
    ]
    if dice.random() < 0.1:
        results.append(ToolResultMessage(call_id="nobody", tool_name="read", content=(Text("stray"),)))
    return [made, *results]


def _block(kind: str, maker: ModelSpec) -> Any:
    if kind == "thinking":
        return Thinking("so", sign(maker.id, "so"), meta={"field": "reasoning_content"})
    if kind == "redacted":
        return Thinking("", redact(maker.id, "x"), redacted=True)
    if kind == "unsigned":
        return Thinking("so", meta={"field": "reasoning_content"})
    return Text("\n " if kind == "blank" else "said")


@pytest.mark.parametrize("seed", range(300))
def test_any_transcript_can_be_continued_with_any_model(seed: int) -> None:
    dice = random.Random(seed)
    messages = anything(dice)
    within = isinstance(messages[-1], ToolResultMessage) and dice.random() < 0.5  # a turn that is not over yet
    if not within:
        messages.append(UserMessage(content=(Text("go on"),)))
    for model in MAKERS:
        level = dice.choice(["off", "low", "high"])
        sent = project(messages, model)
        request = Request(model=model, messages=sent, tools=[TOOL] if model.provider == "x" else [], thinking=level)
        if model.api == "anthropic-messages":
            body = build_messages(request).payload
            strict_anthropic.check(body)
            grown = Grown()
            part = project(messages[: dice.randrange(len(messages))], model)
            build_messages(Request(model=model, messages=part, grown=grown))
            assert (
                strict_anthropic.check(build_messages(Request(model=model, messages=sent, grown=grown)).payload) is None
            )
        elif not within:
            strict_chat.check(build_chat(request).payload)

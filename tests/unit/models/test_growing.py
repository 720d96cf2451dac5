"""What is made of a conversation once is what would be made of it anew, whatever was changed in between."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from zot_core.models.growing import Encoder, Grown, encode
from zot_core.models.projection import project
from zot_core.models.protocol import Request
from zot_core.types.content import Image, Text, ToolCall
from zot_core.types.messages import AssistantMessage, Message, ToolResultMessage, UserMessage
from zot_core.types.specs import ModelSpec
from zot_plugins.api_openai_chat.request import build

MODEL = ModelSpec(
    id="m", provider="p", api="a", inputs=("text", "image"), compat={"requiresAssistantAfterToolResult": True}
)
PNG = Image("image/png", "aaaa")


def piece(dice: random.Random, number: int) -> Message:
    kind = dice.randrange(5)
    if kind == 0:
        return UserMessage(content=(Text(f"said {number}"),))
    if kind == 1:
        return AssistantMessage(content=(Text("é 🙂"),), provider="p", model="m", api="a")
    if kind == 2:
        call, other = (ToolCall(f"{name}{number}", "read", {"n": number}) for name in "ab")
        return AssistantMessage(content=(call, other), provider="p", model="m", api="a")
    content = (Text("ok"), PNG) if kind == 3 else (Text("ok"),)
    return ToolResultMessage(
        call_id=f"{dice.choice('ab')}{number - dice.randrange(1, 3)}", tool_name="read", content=content
    )


@pytest.mark.parametrize("seed", range(40))
def test_a_growing_changing_conversation_is_encoded_as_if_anew(seed: int) -> None:
    dice = random.Random(seed)
    projected, rows, encoder = Grown(), Grown(), Encoder()
    messages: list[Message] = []
    for number in range(40):
        messages = [*messages, piece(dice, number)]
        if dice.random() < 0.1:
            del messages[dice.randrange(len(messages))]
        if dice.random() < 0.1:
            messages[dice.randrange(len(messages))] = UserMessage(content=(Text("changed"),))
        system = dice.choice(["s", "s", "other", None])
        sent = project(messages, MODEL, projected)
        assert sent == project(messages, MODEL)
        plain = build(Request(model=MODEL, messages=sent, system=system)).payload
        grown = build(Request(model=MODEL, messages=sent, system=system, grown=rows)).payload
        assert grown == plain
        assert json.loads(encoder.encode(grown)) == plain


@pytest.mark.parametrize(
    "payload",
    [{}, {"a": 1}, {"rows": [1, 2]}, {"a": [], "b": [{"x": "ü"}], "c": None}, [1, 2], "text", {"a": (1, 2)}],
)
def test_any_payload_is_the_json_it_should_be(payload: Any) -> None:
    encoder = Encoder()
    for _ in range(2):
        assert json.loads(encoder.encode(payload)) == json.loads(encode(payload)) == json.loads(json.dumps(payload))


@pytest.mark.parametrize("payload", [{"a": {1, 2}}, {"rows": [float("nan")]}, float("inf")])
def test_what_is_no_json_is_refused(payload: Any) -> None:
    for function in (Encoder().encode, encode):
        with pytest.raises((TypeError, ValueError)):
            function(payload)


def test_nothing_is_made_twice() -> None:
    grown = Grown()
    messages = [object() for _ in range(5)]
    grown.keep(messages[:3], ["a", "b"])
    assert grown.resume(messages) == (3, ["a", "b"])
    assert grown.resume(messages[:2]) == (0, [])
    assert grown.resume([object(), *messages[1:]]) == (0, [])
    _, made = grown.resume(messages)
    made.append("c")
    assert grown.resume(messages) == (3, ["a", "b"])

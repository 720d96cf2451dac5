"""Whatever the transcript, what goes to a model pairs calls with results and holds nothing foreign or empty."""

from __future__ import annotations

import base64
import random
from typing import Any

import pytest
from mock_provider.strict_chat import check

from zot_core.models.projection import NO_OUTPUT, NO_RESULT, project
from zot_core.models.protocol import Request
from zot_core.types.content import Image, Text, Thinking, ToolCall
from zot_core.types.messages import AssistantMessage, CustomMessage, Message, ToolResultMessage, UserMessage
from zot_core.types.specs import ModelSpec
from zot_plugins.api_openai_chat.request import build

MODEL = ModelSpec(id="m", provider="p", api="a", inputs=("text", "image"))
PNG = Image("image/png", base64.b64encode(b"\x89PNG\r\n\x1a\n0000").decode())


def user(text: str = "hi") -> UserMessage:
    return UserMessage(content=(Text(text),))


def said(*blocks: Any, model: str = "m", stop: Any = "end_turn") -> AssistantMessage:
    return AssistantMessage(content=blocks, provider="p", model=model, api="a", stop=stop)


def call(call_id: str, name: str = "read") -> ToolCall:
    return ToolCall(call_id, name, {"path": "x"}, '{"path": "x"}')


def result(call_id: str, *content: Any) -> ToolResultMessage:
    return ToolResultMessage(call_id=call_id, tool_name="read", content=content or (Text("ok"),))


def test_a_sound_transcript_passes_as_it_is() -> None:
    messages = [user(), said(Text("I look"), call("1")), result("1"), said(Text("done")), user()]
    sent = project(messages, MODEL)
    assert all(a is b for a, b in zip(sent, messages, strict=True))


def test_results_follow_their_call_in_the_order_of_the_calls() -> None:
    a, b = result("a"), result("b")
    late = user("typed meanwhile")
    asked = said(call("a"), call("b"))
    assert project([user("q"), asked, b, late, a], MODEL)[1:] == [asked, a, b, late]


def test_a_missing_result_is_made_up_the_same_each_time() -> None:
    messages = [user(), said(call("a"), call("b")), result("a"), user("go on")]
    sent = project(messages, MODEL)
    made = sent[3]
    assert isinstance(made, ToolResultMessage)
    assert (made.call_id, made.is_error, made.content) == ("b", True, (Text(NO_RESULT),))
    assert project(messages, MODEL) == sent
    assert sent[4] == messages[3]


def test_orphans_and_second_results_are_left_out() -> None:
    sent = project([user(), result("x"), said(call("a")), result("a"), result("a"), said(Text("t"))], MODEL)
    assert [type(m).__name__ for m in sent] == [
        "UserMessage",
        "AssistantMessage",
        "ToolResultMessage",
        "AssistantMessage",
    ]


def test_two_calls_of_one_id_become_one() -> None:
    sent = project([user(), said(call("a"), call("a")), result("a")], MODEL)
    assert len(sent[1].tool_calls) == 1  # type: ignore[union-attr]


def test_thinking_and_state_go_back_only_to_their_maker() -> None:
    thought = Thinking("hm", signature="sig", meta={"x": 1})
    marked = Text("t", meta={"annotations": 1})
    own = said(thought, marked)
    assert project([own], MODEL) == [own]
    for foreign in (said(thought, marked, model="other"),):
        assert project([foreign], MODEL)[0].content == (Text("t"),)
    redacted = said(Thinking("", redacted=True, signature="blob"), call("1"), model="other")
    assert project([redacted, result("1")], MODEL)[0].content == (call("1"),)


def test_unsigned_thinking_of_an_aborted_answer_is_left_out() -> None:
    kept, lost = Thinking("signed", signature="s"), Thinking("cut off")
    assert project([said(kept, lost, Text("t"), stop="aborted")], MODEL)[0].content == (kept, Text("t"))
    assert project([said(lost, Text("t"))], MODEL)[0].content == (lost, Text("t"))


def test_blank_text_and_empty_messages_are_dropped() -> None:
    messages: list[Message] = [
        user("  \n"),
        UserMessage(content=()),
        said(Text(" ")),
        said(Thinking("only this", signature="s")),
        UserMessage(content=(Text(""), Text("x"))),
    ]
    assert [m.content for m in project(messages, MODEL)] == [(Text("x"),)]


def test_an_empty_result_says_so() -> None:
    sent = project([said(call("1")), ToolResultMessage(call_id="1", tool_name="t", content=())], MODEL)
    assert sent[1].content == (Text(NO_OUTPUT),)


def test_custom_messages_become_the_users() -> None:
    custom = CustomMessage(custom_type="note", content=(Text("remember"),))
    sent = project([custom], MODEL)
    assert isinstance(sent[0], UserMessage)
    assert (sent[0].content, sent[0].id) == (custom.content, custom.id)


def test_pictures_become_a_line_for_a_model_that_takes_none() -> None:
    blind = ModelSpec(id="m", provider="p", api="a")
    sent = project([UserMessage(content=(PNG,)), said(call("1")), result("1", PNG)], blind)
    assert "takes no pictures" in sent[0].content[0].text  # type: ignore[union-attr]
    assert "takes no pictures" in sent[2].content[0].text  # type: ignore[union-attr]


@pytest.mark.parametrize("seed", range(60))
def test_any_shuffled_transcript_is_accepted_by_a_strict_server(seed: int) -> None:
    dice = random.Random(seed)
    pieces: list[Message] = [user("start")]
    for number in range(dice.randrange(1, 12)):
        kind = dice.randrange(6)
        if kind == 0:
            pieces.append(user(dice.choice(["hello", "", " "])))
        elif kind == 1:
            pieces.append(
                said(*dice.sample([Text("t"), Text(""), Thinking("x"), call(f"c{number}")], 2), stop="aborted")
            )
        elif kind == 2:
            pieces.append(said(call(f"a{number}"), ToolCall(f"b{number}", "bad name!", None, '{"cut'), model="other"))
        elif kind == 3:
            pieces.append(result(f"a{dice.randrange(number + 1)}", *dice.choice([(), (PNG,), (Text("r"), PNG)])))
        elif kind == 4:
            pieces.append(UserMessage(content=(Text("look"), PNG)))
        else:
            pieces.append(CustomMessage(custom_type="c", content=(Text("note"),)))
    dice.shuffle(pieces)
    pieces.append(user("last"))
    sent = project(pieces, MODEL)
    assert project(sent, MODEL) == sent
    check(build(Request(model=MODEL, messages=sent, system="s")).payload)

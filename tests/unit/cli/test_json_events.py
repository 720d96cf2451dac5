"""The projection of core events to the JSON events of cli.md: names, fields, order, what is left out."""

from __future__ import annotations

import json
from typing import Any

from zot_core.agent.sink import Stored
from zot_core.events.agent import AgentEndEvent, AgentSettledEvent, AgentStartEvent
from zot_core.events.base import Block
from zot_core.events.message import MessageStartEvent, MessageUpdateEvent
from zot_core.events.tool import ToolCallEvent, ToolExecutionEndEvent, ToolExecutionUpdateEvent
from zot_core.events.turn import TurnEndEvent, TurnStartEvent
from zot_core.frontend import Note
from zot_core.types.content import Image, Text, Thinking, ToolCall
from zot_core.types.failure import Failure
from zot_core.types.messages import AssistantMessage, CustomMessage, ToolResultMessage, UserMessage
from zot_core.types.stream import Retrying, TextDelta, ThinkingDelta, ToolCallDelta, ToolCallEnd, ToolCallStart
from zot_core.types.usage import Usage
from zot_core.wire.codec import block, encode, plain, rfc3339
from zot_core.wire.json_events import Projector

FAILURE = Failure(kind="overloaded", message="busy", retryable=True)


def update(part: Any) -> MessageUpdateEvent:
    return MessageUpdateEvent(message_id="m1", part=part)


def told(projector: Projector, *events: Any) -> list[dict[str, Any]]:
    return [wire for event in events for wire in projector.event(event)]


def assistant(*content: Any, **fields: Any) -> AssistantMessage:
    return AssistantMessage(content=content, id="m1", time=1.25, **fields)


def test_a_whole_prompt_in_its_order() -> None:
    projector = Projector()
    call = ToolCall("c1", "read", {"path": "a"})
    message = assistant(Thinking("hm"), Text("Let me see."), call, stop="tool_use", usage=Usage(input=3, output=2))
    result = ToolResultMessage(call_id="c1", tool_name="read", content=(Text("data"),))
    wire = told(projector, AgentStartEvent(run_id="r"))
    wire += projector.stored(Stored(message=UserMessage(content=(Text("hi"),), id="u1", time=0), display="hi"))
    wire += told(projector, TurnStartEvent(step=1), MessageStartEvent(message=assistant()))
    wire += told(projector, update(ThinkingDelta("hm")), update(TextDelta("Let me ")), update(TextDelta("see.")))
    wire += told(projector, update(ToolCallStart(0, "c1", "read")), update(ToolCallDelta(0, '{"path":')))
    wire += told(projector, update(ToolCallDelta(0, '"a"}')), update(ToolCallEnd(0)))
    wire += projector.stored(Stored(message=message, display="Let me see."))
    wire += told(projector, ToolCallEvent(call_id="c1", tool_name="read", args={"path": "a"}))
    wire += told(projector, ToolExecutionUpdateEvent(call_id="c1", tool_name="read", args={}, content=(Text("50%"),)))
    wire += told(projector, ToolExecutionEndEvent(call_id="c1", tool_name="read", content=(Text("data"),)))
    wire += projector.stored(Stored(message=result, display="data"))
    wire += told(projector, TurnEndEvent(step=1, stop="tool_use", message=message))
    wire += told(projector, AgentEndEvent(run_id="r"), AgentSettledEvent(run_id="r"))
    wire += projector.finish()
    used = {"input": 3, "output": 2, "cache_read": 0, "cache_write": 0, "cost_usd": 0.0}
    assert wire == [
        {
            "type": "user_message",
            "content": [{"type": "text", "text": "hi"}],
            "time": "1970-01-01T00:00:00.000Z",
            "message_id": "u1",
        },
        {"type": "turn_start", "step": 1},
        {"type": "assistant_start"},
        {"type": "thinking_delta", "delta": "hm"},
        {"type": "text_delta", "delta": "Let me "},
        {"type": "text_delta", "delta": "see."},
        {"type": "tool_use_start", "id": "c1", "name": "read"},
        {"type": "tool_use_args", "id": "c1", "delta": '{"path":'},
        {"type": "tool_use_args", "id": "c1", "delta": '"a"}'},
        {"type": "tool_use_end", "id": "c1"},
        {"type": "usage", **used, "cumulative": used},
        {
            "type": "assistant_message",
            "content": [
                {"type": "thinking", "text": "hm"},
                {"type": "text", "text": "Let me see."},
                {"type": "tool_call", "id": "c1", "name": "read", "args": {"path": "a"}},
            ],
            "time": "1970-01-01T00:00:01.250Z",
            "message_id": "m1",
        },
        {"type": "tool_call", "id": "c1", "name": "read", "args": {"path": "a"}},
        {"type": "tool_progress", "id": "c1", "text": "50%"},
        {
            "type": "tool_result",
            "id": "c1",
            "name": "read",
            "is_error": False,
            "content": [{"type": "text", "text": "data"}],
        },
        {"type": "turn_end", "stop": "tool_use"},
        {"type": "done"},
    ]
    assert all(next(iter(event)) == "type" for event in wire)


def test_usage_adds_up_over_calls_tools_and_prompts() -> None:
    projector = Projector()
    for _ in range(2):
        projector.stored(Stored(message=assistant(usage=Usage(input=1, output=1, cost=0.1)), display=""))
    tool = ToolResultMessage(call_id="c", tool_name="t", content=(), usage=Usage(input=5))
    projector.stored(Stored(message=tool, display=""))
    last = projector.stored(Stored(message=assistant(usage=Usage(input=1, cost=0.1)), display=""))[0]
    assert (last["input"], last["cumulative"]["input"], last["cumulative"]["cost_usd"]) == (1, 8, 0.3)


def test_people_see_the_display_text_in_place_of_the_message() -> None:
    message = assistant(Text("secret"), ToolCall("c", "read", {}), Text(" more"))
    wire = Projector().stored(Stored(message=message, display="[hidden]", plugin="redactor"))
    assert wire[-1]["content"] == [
        {"type": "text", "text": "[hidden]"},
        {"type": "tool_call", "id": "c", "name": "read", "args": {}},
    ]
    assert "withheld" not in wire[-1]


def test_a_withheld_message_has_no_text_and_says_so() -> None:
    wire = Projector().stored(Stored(message=assistant(Text("secret")), display=None, withheld=True))
    assert wire[-1]["content"] == [] and wire[-1]["withheld"] is True
    assert "secret" not in json.dumps(wire)


def test_a_blocked_call_has_a_result_and_no_call() -> None:
    projector = Projector()
    event = ToolCallEvent(call_id="c1", tool_name="bash", args={})
    assert projector.event(event, Block("no")) == []
    result = ToolResultMessage(call_id="c1", tool_name="bash", content=(Text("no"),), is_error=True)
    wire = told(projector, ToolExecutionEndEvent(call_id="c1", tool_name="bash", content=(Text("no"),), is_error=True))
    assert wire[0]["type"] == "tool_result" and wire[0]["is_error"] is True
    assert projector.stored(Stored(message=result, display="no")) == []


def test_a_call_that_never_began_to_run_has_its_result_from_the_transcript() -> None:
    result = ToolResultMessage(call_id="c1", tool_name="bash", content=(Text("not run"),), is_error=True)
    wire = Projector().stored(Stored(message=result, display="not run"))
    assert [event["type"] for event in wire] == ["tool_result"]


def test_details_and_the_parent_of_a_nested_call_are_told() -> None:
    event = ToolExecutionEndEvent(call_id="n", tool_name="t", details={"a": 1}, parent_call_id="c1")
    wire = told(Projector(), event)[0]
    assert wire["details"] == {"a": 1} and wire["parent_id"] == "c1"


def test_arguments_that_do_not_parse_are_null() -> None:
    assert block(ToolCall("c", "read", None, raw="{oops"))["args"] is None


def test_a_call_cut_by_the_streams_end_is_closed_before_its_message() -> None:
    projector = Projector()
    told(projector, MessageStartEvent(message=assistant()), update(ToolCallStart(0, "c1", "read")))
    wire = projector.stored(Stored(message=assistant(), display=""))
    assert [event["type"] for event in wire] == ["tool_use_end", "assistant_message"]


def test_a_retry_voids_what_was_streamed() -> None:
    projector = Projector()
    retry = Retrying(attempt=1, delay=2.0, failure=FAILURE)
    told_retry = {"type": "retry", "attempt": 1, "delay_s": 2.0, "reason": "busy"}
    assert told(projector, update(retry)) == [told_retry]
    told(projector, MessageStartEvent(message=assistant()), update(TextDelta("half")))
    assert told(projector, update(retry)) == [told_retry, {"type": "assistant_start"}]


def test_a_failed_run_ends_with_turn_end_error_and_done() -> None:
    projector = Projector()
    wire = told(projector, TurnStartEvent(step=1), TurnEndEvent(step=1, stop="error", failure=FAILURE))
    wire += told(projector, AgentEndEvent(run_id="r", stop="error", failure=FAILURE))
    wire += told(projector, AgentSettledEvent(run_id="r", stop="error"))
    assert wire[1:] == [
        {"type": "turn_end", "stop": "error", "error": "busy"},
        {"type": "error", "message": "busy", "kind": "overloaded", "retryable": True},
        {"type": "done"},
    ]
    assert projector.finish("error", FAILURE) == []


def test_a_run_that_never_began_ends_the_same_way() -> None:
    blocked = Failure(kind="blocked", message="not now")
    assert Projector().finish("blocked", blocked) == [
        {"type": "turn_end", "stop": "blocked", "error": "not now"},
        {"type": "error", "message": "not now", "kind": "blocked", "retryable": False},
        {"type": "done"},
    ]


def test_a_prompt_that_a_plugin_handled_is_just_done() -> None:
    assert Projector().finish() == [{"type": "done"}]


def test_reaching_the_limit_of_steps_is_an_error_after_an_ordinary_turn() -> None:
    limit = Failure(kind="max_steps", message="50 steps")
    projector = Projector()
    told(projector, TurnStartEvent(step=1), TurnEndEvent(step=1, stop="tool_use"))
    wire = projector.finish("error", limit)
    assert [event["type"] for event in wire] == ["turn_end", "error", "done"]


def test_a_second_prompt_has_its_own_end() -> None:
    projector = Projector()
    for _ in range(2):
        wire = told(projector, AgentStartEvent(run_id="r"), AgentEndEvent(run_id="r"), AgentSettledEvent(run_id="r"))
        assert wire == [{"type": "done"}]
        assert projector.finish() == []


def test_notes_and_custom_messages_have_their_words() -> None:
    projector = Projector()
    assert projector.note(Note(source="x", text="hi", level="warning")) == [
        {"type": "ext_notify", "extension": "x", "level": "warning", "message": "hi"}
    ]
    assert projector.note(Note(source="x", text="hi", kind="display")) == [
        {"type": "ext_display", "extension": "x", "text": "hi"}
    ]
    assert projector.note(Note(source="x", kind="clear")) == [{"type": "ext_clear_notes", "extension": "x"}]
    assert projector.note(Note(source="x", text="oops", kind="plugin_error", hook="input")) == [
        {"type": "plugin_error", "plugin": "x", "hook": "input", "message": "oops"}
    ]
    assert projector.note(Note(source="x", text="oops", kind="diagnostic")) == []
    custom = CustomMessage(custom_type="todo", content=(Text("a"),), display=False, id="k")
    assert projector.stored(Stored(message=custom, display=None)) == [
        {
            "type": "custom_message",
            "custom_type": "todo",
            "content": [{"type": "text", "text": "a"}],
            "display": False,
            "message_id": "k",
        }
    ]


def test_a_line_is_one_object_whatever_is_in_it() -> None:
    odd = {"type": "x", "text": "a\nb\u2028\x1b[2J\x9bz\x7f ü \ud800", "nan": float("nan"), "set": {1}, "obj": object}
    line = encode(odd)
    assert line.count(b"\n") == 1 and line.endswith(b"\n")
    assert b"\x1b" not in line and "\x9b".encode() not in line
    read = json.loads(line)
    assert read["text"] == odd["text"] and read["nan"] is None


def test_a_delta_is_encoded_like_everything_else() -> None:
    delta = 'quote " slash \\ newline \n ü \x00 \x9b \udfff'
    assert json.loads(encode({"type": "text_delta", "delta": delta})) == {"type": "text_delta", "delta": delta}


def test_what_json_cannot_hold_is_made_plain() -> None:
    endless: dict[str, Any] = {}
    endless["self"] = endless
    assert json.loads(encode({"type": "x", "details": endless, "more": 1}))["more"] == 1
    assert plain({1: (float("inf"), {2}, b"x")}) == {"1": [None, [2], "b'x'"]}


def test_pictures_are_told_by_their_size() -> None:
    assert block(Image("image/png", "aGVsbG8=")) == {"type": "image", "mime_type": "image/png", "bytes": 5}


def test_times_are_rfc_3339() -> None:
    assert rfc3339(1767225600.9996) == "2026-01-01T00:00:01.000Z"

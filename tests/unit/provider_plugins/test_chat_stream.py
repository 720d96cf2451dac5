"""Chat Completions chunks in all their shapes come out as the same parts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mock_provider.server import chunk, usage

from zot_core.agent.builder import MessageBuilder
from zot_core.models.protocol import Request, ServerEvent
from zot_core.types.content import Text, Thinking, ToolCall
from zot_core.types.messages import AssistantMessage
from zot_core.types.specs import ModelSpec
from zot_core.types.stream import Done, Failed, StreamPart, TextDelta, ToolCallEnd, UsageUpdate
from zot_plugins.api_openai_chat.stream import ChatParser

DONE = ServerEvent("", "[DONE]")


def feed(*chunks: Any, done: bool = True, **compat: Any) -> list[StreamPart]:
    parser = ChatParser(Request(model=ModelSpec(id="m", provider="p", compat=compat), messages=()))
    parts: list[StreamPart] = []
    for one in chunks:
        event = (
            one if isinstance(one, ServerEvent) else ServerEvent("", one if isinstance(one, str) else json.dumps(one))
        )
        parts.extend(parser.feed(event))
    if done:
        parts.extend(parser.feed(DONE))
    parts.extend(parser.finish())
    return parts


def message(parts: list[StreamPart]) -> AssistantMessage:
    builder = MessageBuilder()
    last = parts[-1]
    for part in parts[:-1]:
        builder.feed(part)
    assert isinstance(last, Done), last
    return builder.message(last.stop)


def piece(index: Any = None, call_id: Any = None, name: Any = None, args: Any = None) -> dict[str, Any]:
    row: dict[str, Any] = {"function": {}}
    if index is not None:
        row["index"] = index
    if call_id is not None:
        row["id"] = call_id
    if name is not None:
        row["function"]["name"] = name
    if args is not None:
        row["function"]["arguments"] = args
    return chunk({"tool_calls": [row]})


@pytest.mark.parametrize("nothing", [[], [{"choices": None}, {"id": "x"}], [{"choices": []}]])
def test_an_end_mark_after_nothing_at_all_is_no_answer(nothing: list[Any]) -> None:
    (last,) = feed(*nothing)
    assert isinstance(last, Failed) and last.failure.retryable
    assert "ended before the answer" in last.failure.message


def called(*chunks: Any, finish: str | None = "tool_calls") -> list[tuple[str, Any]]:
    made = message(feed(*chunks, chunk(finish=finish)))
    ids = [call.id for call in made.tool_calls]
    assert len(set(ids)) == len(ids)
    assert all(ids)
    return [(call.name, call.args) for call in made.tool_calls]


@pytest.mark.parametrize(
    "odd",
    [
        {"choices": []},
        {"id": "x"},
        {"choices": None},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": [{"index": 0, "delta": {"content": None}}]},
        {"choices": [{"index": 0}]},
        {"choices": [{"index": 0, "delta": {"content": ""}}], "usage": None},
        {"choices": [None]},
        {"choices": "x"},
        {"choices": [{"delta": {"tool_calls": None, "content": ""}}]},
        {"choices": [{"delta": {"tool_calls": [None, 3]}}]},
        [],
        3,
        None,
        "",
        "ping",
        "  ",
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_odd_chunks_change_nothing(odd: Any, place: int) -> None:
    chunks: list[Any] = [chunk({"content": "a"}), chunk({"content": "b"}, "stop"), usage()]
    chunks.insert(place, odd)
    parts = feed(*chunks)
    assert message(parts).content == (Text("ab"),)
    assert sum(isinstance(part, UsageUpdate) for part in parts) == 1
    assert parts[-1] == Done("end_turn", "mock")


def test_finish_sent_twice_and_usage_before_or_after_it() -> None:
    text = chunk({"content": "a"})
    for order in ([chunk(finish="stop"), chunk(finish="stop"), usage()], [usage(), chunk(finish="stop")]):
        parts = feed(text, *order)
        assert [type(part).__name__ for part in parts] == ["TextDelta", "UsageUpdate", "Done"]


def test_usage_leaves_out_what_came_from_the_cache() -> None:
    details = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}}
    for counts in (details, {"prompt_tokens": 100, "completion_tokens": 7, "prompt_cache_hit_tokens": 60}):
        part = feed({"choices": [], "usage": counts}, chunk(finish="stop"))[0]
        assert isinstance(part, UsageUpdate)
        assert (part.usage.input, part.usage.cache_read, part.usage.output) == (40, 60, 7)
    odd = feed({"choices": [], "usage": {"prompt_tokens": "x", "completion_tokens": -3, "prompt_tokens_details": 1}})[0]
    assert isinstance(odd, UsageUpdate)
    assert odd.usage.total == 0


def test_parallel_calls_interleaved_by_index() -> None:
    chunks = [
        piece(0, "a", "read", ""),
        piece(1, "b", "bash", ""),
        piece(0, args='{"path": '),
        piece(1, args='{"command": "l'),
        piece(0, args='"x"}'),
        piece(1, args='s"}'),
    ]
    assert called(*chunks) == [("read", {"path": "x"}), ("bash", {"command": "ls"})]


@pytest.mark.parametrize(
    "chunks",
    [
        [piece(0, "a", "read", '{"path"'), piece(0, "a", "read", ': "x"}')],
        [piece(0, None, "read", '{"path"'), piece(0, None, None, ': "x"}')],
        [piece(0, "", "read", '{"path"'), piece(0, "", "", ': "x"}')],
        [piece(None, "a", "read", '{"path"'), piece(None, "a", None, ': "x"}')],
        [piece(None, "a", "read", '{"path"'), piece(None, None, None, ': "x"}')],
        [piece(0, "a", None, None), piece(0, None, "read", None), piece(0, None, None, '{"path": "x"}')],
        [piece(0, "a", None, '{"path"'), piece(0, None, "read", ': "x"}')],
        [piece(None, None, "read", {"path": "x"})],
        [chunk({"function_call": {"name": "read", "arguments": '{"path": "x"}'}})],
        [
            chunk(
                {
                    "content": "",
                    "tool_calls": [{"index": 0, "id": "a", "function": {"name": "read", "arguments": '{"path": "x"}'}}],
                }
            )
        ],
    ],
)
def test_one_call_in_every_shape(chunks: list[Any]) -> None:
    for finish in ("tool_calls", "stop", "function_call", "eos"):
        assert called(*chunks, finish=finish) == [("read", {"path": "x"})]


@pytest.mark.parametrize(
    "chunks",
    [
        [piece(0, "a", "read", "{}"), piece(0, "b", "ls", "{}")],
        [piece(None, "a", "read", "{}"), piece(None, "b", "ls", "{}")],
        [piece(None, None, "read", "{}"), piece(None, None, "ls", "{}")],
        [piece(0, "same", "read", "{}"), piece(1, "same", "ls", "{}")],
        [piece(0, None, "read", "{}"), piece(1, None, "ls", "{}")],
        [piece(3, "a", "read", "{}"), piece(7, "b", "ls", "{}")],
    ],
)
def test_two_calls_in_every_shape(chunks: list[Any]) -> None:
    assert called(*chunks) == [("read", {}), ("ls", {})]


def test_two_calls_of_one_tool_without_ids_or_index() -> None:
    assert called(piece(None, None, "read", '{"path": "a"}'), piece(None, None, "read", '{"path": "b"}')) == [
        ("read", {"path": "a"}),
        ("read", {"path": "b"}),
    ]


def test_a_call_that_never_gets_a_name_is_still_a_call() -> None:
    assert called(piece(0, "a", None, '{"x": 1}')) == [("", {"x": 1})]


def test_calls_of_an_answer_that_was_cut_off_have_no_end() -> None:
    parts = feed(piece(0, "a", "write", '{"path": "x", "content": "half'), chunk(finish="length"))
    assert parts[-1] == Done("length", "mock")
    assert not any(isinstance(part, ToolCallEnd) for part in parts)
    (call,) = message(parts).tool_calls
    assert (call.args, call.raw) == (None, '{"path": "x", "content": "half')


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "reasoning_text"])
def test_thinking_remembers_its_field(name: str) -> None:
    made = message(feed(chunk({name: "so "}), chunk({name: "then"}), chunk({"content": "yes"}), chunk(finish="stop")))
    assert made.content == (Thinking("so then", meta={"field": name}), Text("yes"))


def test_the_same_thinking_in_two_fields_is_read_once() -> None:
    made = message(feed(chunk({"reasoning": "a", "reasoning_content": "a", "content": "x"}), chunk(finish="stop")))
    assert made.content == (Thinking("a", meta={"field": "reasoning_content"}), Text("x"))


def test_content_as_a_list_of_blocks() -> None:
    blocks = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "yes"}, "!"]
    made = message(feed(chunk({"content": blocks}), chunk(finish="stop")))
    assert made.content == (Thinking("hm"), Text("yes!"))


def test_one_whole_message_instead_of_deltas() -> None:
    whole = {"model": "m", "choices": [{"message": {"role": "assistant", "content": "all"}, "finish_reason": "stop"}]}
    assert message(feed(whole)).text == "all"


def test_a_refusal_is_shown_and_no_success() -> None:
    parts = feed(chunk({"refusal": "I can"}), chunk({"refusal": "not."}), chunk(finish="stop"))
    assert parts[:2] == [TextDelta("I can"), TextDelta("not.")]
    last = parts[-1]
    assert isinstance(last, Failed)
    assert (last.failure.kind, last.failure.message) == ("refused", "the model refused: I cannot.")
    filtered = feed(chunk({"content": "a"}), chunk(finish="content_filter"))[-1]
    assert isinstance(filtered, Failed)
    assert filtered.failure.kind == "refused"


def test_no_end_is_a_failure_and_the_end_marker_alone_is_an_end() -> None:
    cut = feed(chunk({"content": "a"}), done=False)[-1]
    assert isinstance(cut, Failed)
    assert (cut.failure.kind, cut.failure.retryable) == ("network", True)
    assert feed(chunk({"content": "a"}))[-1] == Done("end_turn", "mock")
    assert feed(chunk({"content": "a"}), done=False, supportsFinishReason=False)[-1] == Done("end_turn", "mock")
    assert isinstance(feed(done=False, supportsFinishReason=False)[-1], Failed)


def test_half_a_chunk_is_a_failure() -> None:
    parts = feed('{"choices": [{"delta": {"content": "a', done=False)
    assert len(parts) == 1
    assert isinstance(parts[0], Failed)


def test_nothing_follows_the_end() -> None:
    parts = feed(chunk({"content": "a"}), chunk(finish="stop"), DONE, chunk({"content": "late"}), DONE)
    assert [type(part).__name__ for part in parts] == ["TextDelta", "Done"]


def test_deep_nesting_is_a_failure_and_no_crash() -> None:
    assert isinstance(feed("{" + '"a":[' * 100_000, done=False)[-1], Failed)


def test_arguments_are_data() -> None:
    made = message(feed(piece(0, "a", "bash", '{"command": "echo \\"x\\""}'), chunk(finish="tool_calls")))
    assert made.content == (ToolCall("a", "bash", {"command": 'echo "x"'}, '{"command": "echo \\"x\\""}'),)

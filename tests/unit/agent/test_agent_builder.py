"""Promises of the message builder and of argument parsing."""

from __future__ import annotations

import pytest

from zot_core.agent.builder import MessageBuilder, parse_arguments
from zot_core.types.content import Text, Thinking, ToolCall
from zot_core.types.failure import Failure
from zot_core.types.stream import (
    BlockMeta,
    Done,
    Retrying,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageUpdate,
)
from zot_core.types.usage import Usage


def built(*parts, stop="end_turn", **more):
    builder = MessageBuilder(**more)
    for part in parts:
        builder.feed(part)
    return builder.message(stop)


def test_text_deltas_become_one_block():
    assert built(TextDelta("a"), TextDelta("b")).content == (Text("ab"),)


def test_keys_keep_interleaved_blocks_apart_in_order_of_their_start():
    message = built(
        ThinkingDelta("t1", 0),
        BlockMeta(0, "sig-a"),
        TextDelta("x", 1),
        ThinkingDelta("t2", 2),
        TextDelta("y", 1),
        BlockMeta(0, "-b"),
        BlockMeta(2, meta={"k": 1}),
    )
    assert message.content == (Thinking("t1", "sig-a-b"), Text("xy"), Thinking("t2", meta={"k": 1}))


def test_redacted_thinking_is_kept_without_text():
    message = built(ThinkingDelta("", 0, redacted=True), BlockMeta(0, meta={"data": "…"}), TextDelta("a", 1))
    assert message.content[0] == Thinking("", None, True, {"data": "…"})


def test_parallel_calls_by_key_with_fragments():
    message = built(
        ToolCallStart(0, "a", "read"),
        ToolCallStart(1, "b", "ls"),
        ToolCallDelta(0, '{"path"'),
        ToolCallDelta(1, "{}"),
        ToolCallDelta(0, ':"x"}'),
        ToolCallEnd(0),
        ToolCallEnd(1),
        stop="tool_use",
    )
    assert message.tool_calls == (
        ToolCall("a", "read", {"path": "x"}, '{"path":"x"}'),
        ToolCall("b", "ls", {}, "{}"),
    )


def test_missing_and_repeated_ids_are_replaced_and_the_start_says_so():
    builder = MessageBuilder(taken={"old"})
    starts = [builder.feed(ToolCallStart(n, id, "t")) for n, id in enumerate(["", "a", "a", "old"])]
    ids = [call.id for call in builder.message("tool_use").tool_calls]
    assert [start.id for start in starts] == ids
    assert len(set(ids)) == 4
    assert ids[1] == "a"
    assert "" not in ids and "old" not in ids


def test_a_retry_voids_what_came():
    failure = Failure(kind="overloaded", message="busy")
    message = built(
        TextDelta("a"),
        ToolCallStart(0, "x", "t"),
        Retrying(1, 0, failure),
        TextDelta("b"),
        ToolCallStart(0, "x", "t"),
        ToolCallEnd(0),
    )
    assert message.text == "b"
    assert [call.id for call in message.tool_calls] == ["x"]


def test_a_cut_message_drops_open_calls_and_thinking_that_nothing_followed():
    parts = [
        ThinkingDelta("done thinking", 0),
        TextDelta("a", 1),
        ToolCallStart(2, "x", "t"),
        ToolCallEnd(2),
        ToolCallStart(3, "y", "t"),
        ToolCallDelta(3, '{"a"'),
        ThinkingDelta("half", 4),
    ]
    message = built(*parts, stop="aborted")
    assert [type(block) for block in message.content] == [Thinking, Text, ToolCall]
    assert message.content[0].text == "done thinking"
    assert message.tool_calls[0].id == "x"


def test_the_stop_agrees_with_the_content():
    assert built(ToolCallStart(0, "x", "t"), stop="end_turn").stop == "tool_use"
    assert built(TextDelta("a"), stop="tool_use").stop == "end_turn"
    assert built(ToolCallStart(0, "x", "t"), stop="length").stop == "length"


def test_the_last_usage_counts():
    message = built(UsageUpdate(Usage(input=1)), UsageUpdate(Usage(input=2, output=3)))
    assert message.usage == Usage(input=2, output=3)


@pytest.mark.parametrize("part", [Done("end_turn"), "text", ToolCallDelta(9, "{}"), ToolCallEnd(9)])
def test_what_does_not_belong_is_refused(part):
    with pytest.raises((TypeError, ValueError)):
        MessageBuilder().feed(part)


def test_partial_shows_what_is_there_and_changes_nothing():
    builder = MessageBuilder()
    builder.feed(ThinkingDelta("hm"))
    assert builder.partial().content == (Thinking("hm"),)
    builder.feed(TextDelta("a"))
    assert builder.message().content == (Thinking("hm"), Text("a"))


@pytest.mark.parametrize("raw", ['{"a"', "[1]", '"x"', "null", "{'a': 1}", '{"a": NaN}', "[" * 100_000])
def test_what_is_no_json_object_is_no_arguments(raw):
    assert parse_arguments(raw) is None


@pytest.mark.parametrize("raw", ["", "  ", "{}"])
def test_no_text_is_no_arguments(raw):
    assert parse_arguments(raw) == {}

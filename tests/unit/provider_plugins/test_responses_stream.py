"""Responses streams, whole and odd, come out as the parts that they mean."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mock_provider.replies_responses import answer, beginning, call, ending, events_of, message, thought
from mock_provider.strict_responses import sealed
from support.format_talk import every_cut, fold, parsed, random_cuts, sse_variants

from zot_core.models.protocol import Request, ServerEvent
from zot_core.types.content import Text, Thinking, ToolCall
from zot_core.types.specs import ModelSpec, Prices
from zot_core.types.stream import Done, Failed, StreamPart, ToolCallEnd, UsageUpdate
from zot_plugins.api_openai_responses.stream import ResponsesParser

MODEL = ModelSpec(id="mock", provider="p", api="openai-responses", reasoning=True)


def parser(**model: Any) -> ResponsesParser:
    return ResponsesParser(
        Request(model=ModelSpec(**{"id": "mock", "provider": "p", "reasoning": True, **model}), messages=())
    )


def feed(*events: Any, finish: bool = True, **model: Any) -> list[StreamPart]:
    reader, parts = parser(**model), []
    for event in events:
        data = event if isinstance(event, str) else json.dumps(event)
        parts.extend(reader.feed(ServerEvent("", data)))
    return [*parts, *reader.finish()] if finish else parts


def items(*made: Any, end: Any = None) -> list[Any]:
    rows: list[Any] = beginning()
    for index, one in enumerate(made):
        rows.extend(events_of(index, one))
    return [*rows, end or ending(output=[one["item"] for one in made])]


def failure(parts: list[StreamPart]) -> Any:
    assert isinstance(parts[-1], Failed), parts[-1]
    return parts[-1].failure


THOUGHT = Thinking(
    "First.\n\nThen 先.",
    sealed("rs_1", ["First.", "Then 先."], "mock"),
    meta={
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "First."}, {"type": "summary_text", "text": "Then 先."}],
    },
)
CALL = ToolCall(
    "c1", "read", {"path": "naïve/🙂.txt"}, '{"path": "naïve/🙂.txt"}', {"id": "fc_c1", "reasoning": "rs_1"}
)
FIXTURES = {
    "text": (
        [message("Grüße, ", "世界 🙂", phase="final_answer")],
        (Text("Grüße, 世界 🙂", {"id": "msg_1", "phase": "final_answer"}),),
    ),
    "thinking, words and a call": (
        [
            thought("First.", "Then 先."),
            message("I look.", phase="commentary"),
            call("c1", "read", {"path": "naïve/🙂.txt"}),
        ],
        (THOUGHT, Text("I look.", {"id": "msg_1", "reasoning": "rs_1", "phase": "commentary"}), CALL),
    ),
    "thinking without a summary": (
        [thought(), call("c1", "read", {})],
        (
            Thinking("", sealed("rs_1", [], "mock"), redacted=True, meta={"id": "rs_1", "summary": []}),
            ToolCall("c1", "read", {}, "{}", {"id": "fc_c1", "reasoning": "rs_1"}),
        ),
    ),
    "two calls": (
        [call("c1", "read", {"path": "a"}), call("c2", "read", {"path": "b"})],
        (
            ToolCall("c1", "read", {"path": "a"}, '{"path": "a"}', {"id": "fc_c1"}),
            ToolCall("c2", "read", {"path": "b"}, '{"path": "b"}', {"id": "fc_c2"}),
        ),
    ),
}


@pytest.mark.parametrize("name", FIXTURES)
def test_a_stream_is_its_message(name: str) -> None:
    made, content = FIXTURES[name]
    parts = parsed(parser(), answer(*made).body)  # type: ignore[arg-type]
    assert fold(parts).content == content
    assert parts[-1] == Done("tool_use" if any(isinstance(b, ToolCall) for b in content) else "end_turn", "mock")
    (usage,) = [part.usage for part in parts if isinstance(part, UsageUpdate)]
    assert (usage.input, usage.cache_read, usage.output) == (40, 60, 20)


@pytest.mark.parametrize("name", FIXTURES)
def test_it_may_be_cut_anywhere(name: str) -> None:
    body = b"".join(answer(*FIXTURES[name][0]).body)  # type: ignore[arg-type]
    whole = parsed(parser(), [body])
    for pieces in (*every_cut(body), *random_cuts(body, 300)):
        assert parsed(parser(), pieces) == whole


@pytest.mark.parametrize("name", FIXTURES)
def test_every_way_to_write_events(name: str) -> None:
    body = b"".join(answer(*FIXTURES[name][0]).body)  # type: ignore[arg-type]
    for way, variant in sse_variants(body).items():
        assert fold(parsed(parser(), [variant])).content == FIXTURES[name][1], way


def test_items_side_by_side() -> None:
    one, two = events_of(0, call("a", "read", {"path": "1"})), events_of(1, call("b", "read", {"path": "2"}))
    mixed = [event for pair in zip(one, two, strict=True) for event in pair]
    assert [(c.id, c.args) for c in fold(feed(*mixed, ending())).tool_calls] == [
        ("a", {"path": "1"}),
        ("b", {"path": "2"}),
    ]


def test_reasoning_keeps_its_place_before_a_call_that_is_told_first() -> None:
    first, second = events_of(0, thought("why")), events_of(1, call("a", "read", {}))
    content = fold(feed(first[0], *second, *first[1:], ending())).content
    assert [type(block) for block in content] == [Thinking, ToolCall]


def without(*kinds: str) -> list[Any]:
    made = [thought("why"), message("so"), call("c", "read", {"path": "x"})]
    return [event for event in items(*made) if not any(event["type"].endswith(kind) for kind in kinds)]


@pytest.mark.parametrize(
    "left_out",
    [
        (".delta",),
        ("item.done",),
        ("item.added",),
        (".delta", "arguments.done"),
        ("item.done", "arguments.done"),
        ("item.added", ".delta"),
        ("item.added", "item.done", ".delta", ".done"),
    ],
)
def test_what_servers_leave_out_is_read_elsewhere(left_out: tuple[str, ...]) -> None:
    parts = feed(*without(*left_out))
    made = fold(parts)
    assert isinstance(parts[-1], Done)
    assert made.text == "so"
    assert [(c.id, c.name, c.args) for c in made.tool_calls] == [("c", "read", {"path": "x"})]
    assert [block.text for block in made.content if isinstance(block, Thinking)] == ["why"]
    assert sum(isinstance(part, ToolCallEnd) for part in parts) == 1


def test_other_ids_each_time_and_no_indexes() -> None:
    rows = items(message("so"), call("c", "read", {"path": "x"}))
    for number, event in enumerate(rows):
        if "item_id" in event:
            event["item_id"] = f"odd{number}"
        if "item" in event:
            event["item"] = {**event["item"], "id": f"fc_odd{number}"}
    assert [c.args for c in fold(feed(*rows)).tool_calls] == [{"path": "x"}]
    rows = items(message("so"), call("c", "read", {"path": "x"}))
    for event in rows:
        event.pop("output_index", None)
    # Without an index an item is known by its id alone, and so is what begins and ends it
    for event in rows:
        if "item" in event:
            event["item_id"] = event["item"]["id"]
    made = fold(feed(*rows))
    assert (made.text, [c.args for c in made.tool_calls]) == ("so", [{"path": "x"}])


def test_every_item_under_index_zero() -> None:
    rows = [
        {**event, "output_index": 0} if "output_index" in event else event
        for event in items(call("a", "read", {"path": "1"}), call("b", "read", {"path": "2"}))
    ]
    assert [c.args for c in fold(feed(*rows)).tool_calls] == [{"path": "1"}, {"path": "2"}]


def test_arguments_that_end_otherwise_than_they_began_are_damaged() -> None:
    rows = items(call("c", "read", {"path": "x"}))
    for event in rows:
        if "arguments" in event:
            event["arguments"] = '{"path": "/"}'
    assert failure(feed(*rows)).kind == "network"
    spaced = items(call("c", "read", {"path": "x"}))
    for event in spaced:
        if event["type"].endswith("arguments.done"):
            event["arguments"] = '{"path":"x"}'
    assert [c.args for c in fold(feed(*spaced)).tool_calls] == [{"path": "x"}]


@pytest.mark.parametrize(
    "odd",
    [
        "[DONE]",
        "ping",
        "",
        "3",
        "null",
        "[]",
        {},
        {"type": 3},
        {"type": "response.new_thing", "x": 1},
        {"type": "keepalive"},
    ]
    + [
        {"type": kind}
        for kind in ("response.output_text.delta", "response.output_item.added", "response.output_item.done")
    ]
    + [{"type": "response.output_text.delta", "delta": None}, {"type": "response.output_item.added", "item": None}]
    + [{"type": "response.output_item.done", "output_index": 9, "item": {"type": "web_search_call", "id": "ws_1"}}]
    + [{"type": "response.in_progress", "response": None}],
)
@pytest.mark.parametrize("place", [0, 3, 5])
def test_odd_events_change_nothing(odd: Any, place: int) -> None:
    rows = items(message("a", "b"))
    rows.insert(place, odd)
    parts = feed(*rows)
    assert fold(parts).text == "ab"
    assert parts[-1] == Done("end_turn", "mock")


def test_nothing_follows_the_end_and_no_end_is_a_failure() -> None:
    rows = items(message("a"))
    assert feed(*rows, *rows)[-1] == Done("end_turn", "mock")
    cut = feed(*rows[:-1])
    assert (failure(cut).kind, failure(cut).retryable) == ("network", True)
    assert failure(feed(*rows[:-1], "[DONE]")).kind == "network"
    assert failure(feed('{"type": "response.output_text.delta", "delta": "a')).kind == "network"


def test_a_refusal_is_shown_and_no_success() -> None:
    parts = feed(*items(message("I can", "not.", refusal=True)))
    assert (failure(parts).kind, failure(parts).message) == ("refused", "the model refused: I cannot.")
    assert fold(parts).text == "I cannot."


def incomplete(reason: str | None) -> Any:
    return ending("incomplete", incomplete_details={"reason": reason} if reason else None)


def test_arguments_cut_by_the_output_limit_have_no_end() -> None:
    rows = events_of(0, call("c", "write", {"path": "x", "content": "long"}))
    half = rows[:2]
    done = {**rows[-1], "item": {**rows[-1]["item"], "status": "incomplete", "arguments": '{"path": "x", "con'}}
    for events in (half, [*half, done], [rows[0]]):
        parts = feed(*beginning(), *events, incomplete("max_output_tokens"))
        assert parts[-1] == Done("length", "mock")
        assert not any(isinstance(part, ToolCallEnd) for part in parts)
    assert failure(feed(*half, incomplete("content_filter"))).kind == "refused"
    assert failure(feed(*half, incomplete("something"))).kind == "provider"


@pytest.mark.parametrize(
    ("event", "kind", "retryable", "wait"),
    [
        ({"code": "server_error", "message": "Sorry."}, "provider", True, None),
        ({"code": "rate_limit_exceeded", "message": "Limit. Please try again in 11.05s."}, "rate_limit", True, 11.05),
        ({"code": "rate_limit_exceeded", "message": "TPM. Try again in 250ms"}, "rate_limit", True, 0.25),
        ({"code": "insufficient_quota", "message": "You exceeded your current quota"}, "rate_limit", False, None),
        ({"code": "context_length_exceeded", "message": "Too long"}, "context_overflow", False, None),
        (
            {"code": None, "message": "Your input exceeds the context window of this model."},
            "context_overflow",
            False,
            None,
        ),
        ({"code": "invalid_prompt", "message": "No."}, "bad_request", False, None),
        ({"code": "server_is_overloaded", "message": "We are overloaded"}, "overloaded", True, None),
    ],
)
def test_errors_within_the_stream(event: Any, kind: str, retryable: bool, wait: float | None) -> None:
    begun = events_of(0, message("a", "b"))[:3]
    for last in (
        {"type": "error", "sequence_number": 3, "param": None, **event},
        {"type": "error", "error": {"type": "x", **event}},
        {"type": "response.failed", "response": {"status": "failed", "error": event}},
        {"type": "response.completed", "response": {"status": "failed", "error": event}},
        {"error": event},
    ):
        said = failure(feed(*begun, last))
        assert (said.kind, said.retryable, said.retry_after) == (kind, retryable, wait), last
    assert failure(feed(*begun, {"type": "response.failed", "response": {"status": "cancelled"}})).retryable


def test_a_tier_is_priced_as_the_server_says() -> None:
    prices = Prices(input=2.0, output=10.0, cache_read=0.2)
    end = ending(service_tier="priority")
    (usage,) = [
        p.usage
        for p in feed(end, prices=prices, compat={"serviceTierPrices": {"priority": 2}})
        if isinstance(p, UsageUpdate)
    ]
    assert usage.cost == pytest.approx(2 * (40 * 2.0 + 20 * 10.0 + 60 * 0.2) / 1e6)
    (plain,) = [p.usage for p in feed(ending(), prices=prices) if isinstance(p, UsageUpdate)]
    assert plain.cost == 0.0  # the runner's to count


def test_odd_usage_is_no_crash() -> None:
    for usage in (None, {}, [], {"input_tokens": "x", "output_tokens": -3, "input_tokens_details": 4}):
        assert isinstance(feed(ending(usage=usage))[-1], Done)


def test_open_models_think_in_plain_text() -> None:
    item = {"id": "rs_1", "type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]}
    rows = [
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.reasoning_text.delta", "output_index": 0, "content_index": 0, "delta": "hm"},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
    ]
    for events in (rows, [rows[0], rows[2]]):
        (block,) = fold(feed(*events, ending())).content
        assert block == Thinking("hm", meta={"id": "rs_1", "summary": [], "content": item["content"]})

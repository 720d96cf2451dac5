"""Messages events in all their shapes, cut anywhere, come out as the same parts."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from mock_provider.anthropic_replies import event
from support.anthropic_streams import PING, STREAMS, Stream, closed, delta, end, opened, start, text, tool

from zot_core.agent.builder import MessageBuilder
from zot_core.models.protocol import Request, ServerEvent
from zot_core.net.sse import SseDecoder
from zot_core.types.content import AssistantContent, Text, ToolCall
from zot_core.types.failure import Failure
from zot_core.types.specs import ModelSpec, Prices, ToolSpec
from zot_core.types.stream import Done, Failed, StreamPart, TextDelta, ToolCallEnd, ToolCallStart, UsageUpdate
from zot_core.types.usage import Usage
from zot_plugins.api_anthropic.names import wire_name
from zot_plugins.api_anthropic.stream import MessagesParser

MODEL = ModelSpec(id="m", provider="p")


def parsed(chunks: Iterable[bytes], model: ModelSpec = MODEL, tools: Any = ()) -> list[StreamPart]:
    """The parts as the runner makes them of pieces of a body."""
    decoder, parser = SseDecoder(), MessagesParser(Request(model=model, messages=(), tools=tools))
    parts: list[StreamPart] = []
    events = [one for chunk in chunks for one in decoder.feed(chunk)]
    for one in (*events, *decoder.finish()):
        parts.extend(parser.feed(one))
    parts.extend(parser.finish())
    return parts


def of(data: str, **how: Any) -> list[StreamPart]:
    return parsed([data.encode()], **how)


def outcome(parts: list[StreamPart]) -> tuple[tuple[AssistantContent, ...], str, Usage | None]:
    builder = MessageBuilder()
    for part in parts[:-1]:
        builder.feed(part)
    last = parts[-1]
    assert isinstance(last, (Done, Failed)), last
    made = builder.message(last.stop if isinstance(last, Done) else "end_turn")
    return made.content, last.stop if isinstance(last, Done) else last.failure.kind, made.usage


def failure(parts: list[StreamPart]) -> Failure:
    assert isinstance(parts[-1], Failed), parts[-1]
    return parts[-1].failure


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.name)
def test_every_stream_says_what_it_says(stream: Stream) -> None:
    parts = parsed([stream.data])
    assert outcome(parts) == (stream.content, stream.failure or stream.stop, stream.usage)
    assert sum(isinstance(part, (Done, Failed)) for part in parts) == 1
    assert all(isinstance(part.text, str) and part.text for part in parts if isinstance(part, TextDelta))


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.name)
def test_a_cut_at_any_byte_changes_nothing(stream: Stream) -> None:
    whole = parsed([stream.data])
    for at in range(len(stream.data) + 1):
        assert parsed([stream.data[:at], stream.data[at:]]) == whole, at
    assert parsed([stream.data[at : at + 1] for at in range(len(stream.data))]) == whole


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.name)
def test_chunks_merged_at_random_change_nothing(stream: Stream) -> None:
    whole, dice = parsed([stream.data]), random.Random(stream.name)
    for _ in range(100):
        cuts = sorted({0, len(stream.data), *(dice.randrange(len(stream.data)) for _ in range(dice.randrange(12)))})
        assert parsed([stream.data[a:b] for a, b in pairwise(cuts)]) == whole


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.name)
def test_a_body_that_ends_too_soon_is_never_a_success(stream: Stream) -> None:
    """SP-05: cut after any event, the answer is whole only once the reason of its end was told."""
    events = [piece + b"\n\n" for piece in stream.data.split(b"\n\n") if piece]
    reason = next((n for n, piece in enumerate(events) if b"message_delta" in piece), len(events))
    for count in range(min(reason, len(events))):
        found = failure(parsed(events[:count]))
        assert found.kind in {"network", "overloaded"}
        assert found.retryable


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize(
    "odd",
    [
        {"type": "content_block_delta"},
        {"type": "content_block_delta", "index": "x", "delta": {"type": "text_delta", "text": None}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta"}},
        {"type": "content_block_delta", "index": 9, "delta": {"type": "input_json_delta", "partial_json": "{"}},
        {"type": "content_block_start"},
        {"type": "content_block_start", "index": 5, "content_block": {"type": "compaction", "content": "x"}},
        {"type": "content_block_stop"},
        {"type": "message_delta"},
        {"type": "message_delta", "delta": None, "usage": None},
        {"type": "message_start", "message": None},
        {"type": "message_start", "message": {"usage": {"input_tokens": None, "output_tokens": "x"}}},
        {"type": None},
        {},
        [],
        3,
    ],
)
def test_odd_events_change_nothing(odd: Any, place: int) -> None:
    """SP-03 in this format: what is missing, null or of another type."""
    data = [start(), opened(0, "text", text=""), delta(0, "text_delta", text="a"), delta(0, "text_delta", text="b")]
    data += [closed(0), end("end_turn")]
    data.insert(place, f"data: {json.dumps(odd)}\n\n")
    content, stop, usage = outcome(of("".join(data)))
    assert (content, stop) == ((Text("ab"),), "end_turn")
    assert usage is not None
    assert usage.output == 12


def test_usage_is_counted_once_wherever_it_comes() -> None:
    """SP-03: the start's and the end's counts are the same tokens; zeros and nulls at the end take nothing back."""
    parts = of(start() + text(0, "x") + end("end_turn", input_tokens=0, cache_read_input_tokens=None))
    updates = [part.usage for part in parts if isinstance(part, UsageUpdate)]
    assert updates == [Usage(input=25, output=1), Usage(input=25, output=12)]
    late = of(start(input_tokens=0) + text(0, "x") + end("end_turn", input_tokens=30, cache_read_input_tokens=4))
    assert outcome(late)[2] == Usage(input=30, output=12, cache_read=4)


def test_what_costs_more_than_the_list_says_so() -> None:
    prices = Prices(input=1.0, output=2.0, cache_read=0.1, cache_write=1.25)
    data = text(0, "x") + end("end_turn", output_tokens=100)
    plain = outcome(of(start(input_tokens=1000) + data, model=replace(MODEL, prices=prices)))[2]
    assert plain == Usage(input=1000, output=100)  # by the list alone: whoever knows the list counts it
    hour = {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 300}
    parts = of(start(cache_creation_input_tokens=400, cache_creation=hour) + data, model=replace(MODEL, prices=prices))
    usage = outcome(parts)[2]
    assert usage is not None
    assert usage.cost == pytest.approx((25 * 1.0 + 100 * 2.0 + 100 * 1.25 + 300 * 2.0) / 1e6)
    tiers = replace(MODEL, prices=prices, compat={"longPrompts": {"above": 1000, "times": 5}})
    long = outcome(of(start(input_tokens=900, cache_read_input_tokens=200) + data, model=tiers))[2]
    assert long is not None
    assert long.cost == pytest.approx(5 * (900 * 1.0 + 200 * 0.1 + 100 * 2.0) / 1e6)
    short = outcome(of(start(input_tokens=900, cache_read_input_tokens=100) + data, model=tiers))[2]
    assert short is not None
    assert short.cost == 0.0


@pytest.mark.parametrize(
    ("kind", "message", "expected", "passes"),
    [
        ("overloaded_error", "Overloaded", "overloaded", True),
        ("api_error", "Internal server error", "provider", True),
        ("timeout_error", "took too long", "provider", True),
        ("rate_limit_error", "slow down", "rate_limit", True),
        ("invalid_request_error", "messages: roles must alternate", "bad_request", False),
        ("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", "context_overflow", False),
        ("request_too_large", "Request exceeds the maximum size", "context_overflow", False),
        ("authentication_error", "invalid x-api-key", "auth", False),
        ("permission_error", "not yours", "auth", False),
        ("not_found_error", "model: nope", "bad_request", False),
        ("billing_error", "check your billing", "rate_limit", False),
    ],
)
def test_an_error_within_the_stream_is_of_its_kind(kind: str, message: str, expected: str, passes: bool) -> None:
    """SP-05, SP-13: whenever it comes, and nothing after it counts."""
    told = event("error", error={"type": kind, "message": message}, request_id="req_1")
    for data in (told, start() + told, start() + opened(0, "text", text="a") + PING + told + end("end_turn")):
        found = failure(of(data))
        assert (found.kind, found.retryable, found.message) == (expected, passes, message)
    bare = failure(of(f'event: error\ndata: {{"error": {{"type": "{kind}", "message": "{message}"}}}}\n\n'))
    assert bare.kind == expected


def test_calls_of_an_answer_that_was_cut_off_have_no_end() -> None:
    """SP-11: not even those whose arguments happen to be valid."""
    for reason in ("max_tokens", "model_context_window_exceeded", "pause_turn"):
        whole = tool(0, "toolu_1", "bash", '{"command": "rm -rf build"}')
        parts = of(start() + whole + end(reason))
        assert not any(isinstance(part, ToolCallEnd) for part in parts)
        assert parts[-1] == Done("length", "claude-x")
    parts = of(start() + tool(0, "toolu_1", "bash", '{"command": "rm') + end("tool_use"))
    assert outcome(parts)[0] == (ToolCall("toolu_1", "bash", None, '{"command": "rm'),)


def test_half_an_event_is_a_failure_and_deep_nesting_no_crash() -> None:
    assert failure(of('data: {"type": "message_start", "mess')).kind == "network"
    assert failure(of("data: {" + '"a":[' * 100_000 + "\n\n")).kind == "network"


def test_nothing_follows_the_end() -> None:
    parts = of(start() + text(0, "a") + end("end_turn") + text(1, "late") + event("error", error={"type": "api_error"}))
    assert [type(part).__name__ for part in parts] == ["UsageUpdate", "TextDelta", "UsageUpdate", "Done"]
    parser = MessagesParser(Request(model=MODEL, messages=()))
    assert parser.feed(ServerEvent("message_stop", '{"type": "message_stop"}')) == [Done("end_turn", "")]
    assert parser.finish() == []


def test_an_end_without_a_reason_is_still_an_end() -> None:
    assert outcome(of(start() + text(0, "a") + end(None)))[1] == "end_turn"
    assert outcome(of(start() + tool(0, "t", "read") + end(None)))[1] == "tool_use"
    assert outcome(of(start() + tool(0, "t", "read") + end("something new")))[1] == "tool_use"


def test_refusals_say_why_where_the_server_does() -> None:
    assert "not this" in failure(of(start() + end("refusal", details={"explanation": "not this"}))).message
    assert "cyber" in failure(of(start() + end("refusal", details={"category": "cyber"}))).message
    assert failure(of(start() + end("refusal"))).message == "the model refused to answer this"


def test_a_tool_that_goes_by_another_name_on_the_wire_is_called_by_its_own() -> None:
    own = ToolSpec(name="files.read/1", description="", parameters={"type": "object"}, execute="x:y")
    parts = of(start() + tool(0, "toolu_1", wire_name(own.name)) + end("tool_use"), tools=[own])
    assert ToolCallStart(0, "toolu_1", "files.read/1") in parts

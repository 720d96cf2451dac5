"""Gemini streams, whole and odd, come out as the parts that they mean."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mock_provider.replies_google import USAGE, answer, call, chunk, encoded, text
from mock_provider.strict_google import signed
from support.format_talk import every_cut, fold, parsed, random_cuts, sse_variants

from zot_core.models.protocol import Request, ServerEvent
from zot_core.types.content import Text, Thinking, ToolCall
from zot_core.types.specs import ModelSpec
from zot_core.types.stream import Done, Failed, StreamPart, UsageUpdate
from zot_plugins.api_google.stream import GoogleParser


def parser() -> GoogleParser:
    return GoogleParser(Request(model=ModelSpec(id="mock", provider="p"), messages=()))


def feed(*chunks: Any) -> list[StreamPart]:
    reader, parts = parser(), []
    for one in chunks:
        parts.extend(reader.feed(ServerEvent("", one if isinstance(one, str) else json.dumps(one))))
    return [*parts, *reader.finish()]


def failure(parts: list[StreamPart]) -> Any:
    assert isinstance(parts[-1], Failed), parts[-1]
    return parts[-1].failure


def sign(part: dict[str, Any]) -> str:
    return str(signed(part, "mock")["thoughtSignature"])


def plain(content: Any) -> list[Any]:
    """Blocks without the ids that were made up for calls that had none."""
    return [
        (block.name, block.args, block.meta) if isinstance(block, ToolCall) and not block.id.startswith("g") else block
        for block in content
    ]


READ = {"functionCall": {"name": "read", "args": {"path": "naïve/🙂.txt"}}}
FIXTURES: dict[str, tuple[list[dict[str, Any]], list[Any]]] = {
    "text": ([text("Grüße, "), text("世界 🙂")], [Text("Grüße, 世界 🙂")]),
    "thoughts, text and a signature of its own": (
        [text("Hm", thought=True), text(" so.", thought=True), text("Yes."), text("", sign="mock")],
        [
            Thinking("Hm so."),
            Text("Yes."),
            Thinking("", sign({"text": ""}), meta={"part": "text", "text": ""}),
        ],
    ),
    "signed text beside unsigned text": (
        [text("One "), text("two", sign="mock"), text(" three"), text("\n", sign="mock")],
        [
            Text("One "),
            Text("two", {"thoughtSignature": sign({"text": "two"})}),
            Text(" three"),
            Thinking("", sign({"text": "\n"}), meta={"part": "text", "text": "\n"}),
        ],
    ),
    "signed thoughts": (
        [text("a", thought=True), text("b", thought=True, sign="mock"), text("c", thought=True), text("d")],
        [
            Thinking("a"),
            Thinking("b", sign({"text": "b", "thought": True}), meta={"part": "thought"}),
            Thinking("c"),
            Text("d"),
        ],
    ),
    "parallel calls, the first one signed": (
        [
            text("Look."),
            call("read", {"path": "naïve/🙂.txt"}, sign="mock"),
            call("read", {"path": "b"}),
            call("ls", {}, call_id="g1"),
        ],
        [
            Text("Look."),
            ("read", {"path": "naïve/🙂.txt"}, {"thoughtSignature": sign(READ)}),
            ("read", {"path": "b"}, None),
            ToolCall("g1", "ls", {}, "{}", {"id": "g1"}),
        ],
    ),
}


@pytest.mark.parametrize("name", FIXTURES)
def test_a_stream_is_its_message(name: str) -> None:
    made, content = FIXTURES[name]
    parts = parsed(parser(), answer(*made).body)  # type: ignore[arg-type]
    assert plain(fold(parts).content) == content
    assert parts[-1] == Done("tool_use" if fold(parts).tool_calls else "end_turn", "mock")
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
    made, content = FIXTURES[name]
    body = b"".join(answer(*made).body)  # type: ignore[arg-type]
    for way, variant in sse_variants(body).items():
        assert plain(fold(parsed(parser(), [variant])).content) == content, way


def test_all_parts_in_one_chunk() -> None:
    made, content = FIXTURES["parallel calls, the first one signed"]
    assert plain(fold(feed(chunk(*made, finish="STOP"))).content) == content


def test_ids_that_were_not_given_are_made_up_and_differ() -> None:
    made = fold(feed(chunk(call("read", {}), call("read", {}), finish="STOP")))
    ids = [block.id for block in made.tool_calls]
    assert len(set(ids)) == 2
    assert all(ids)


@pytest.mark.parametrize(
    "odd",
    [
        "ping",
        "",
        "3",
        "[]",
        "[DONE]",
        {},
        {"candidates": []},
        {"candidates": None},
        {"candidates": [None]},
        {"candidates": [{}]},
        {"candidates": [{"content": None}]},
        {"candidates": [{"content": {"role": "model"}}]},
        {"candidates": [{"content": {"parts": None}}]},
        {"candidates": [{"content": {"parts": [None, 3, {}, {"text": None}, {"text": ""}, {"executableCode": {}}]}}]},
        {"candidates": [{"finishReason": "FINISH_REASON_UNSPECIFIED"}]},
        {"usageMetadata": None},
        {"promptFeedback": {}},
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_odd_chunks_change_nothing(odd: Any, place: int) -> None:
    rows: list[Any] = [chunk(text("a")), chunk(text("b"), finish="STOP", usage=USAGE)]
    rows.insert(place, odd)
    parts = feed(*rows)
    assert fold(parts).text == "ab"
    assert parts[-1] == Done("end_turn", "mock")
    assert sum(isinstance(part, UsageUpdate) for part in parts) == 1


def test_usage_grows_and_may_follow_the_end() -> None:
    parts = feed(chunk(text("a"), usage={"promptTokenCount": 9}), chunk(finish="STOP"), {"usageMetadata": USAGE})
    assert [p.usage.output for p in parts if isinstance(p, UsageUpdate)] == [0, 20]
    assert parts[-1] == Done("end_turn", "mock")
    odd = feed(chunk(finish="STOP", usage={"promptTokenCount": "x", "thoughtsTokenCount": -1}))
    assert isinstance(odd[-1], Done)


def test_a_finish_on_every_chunk_is_one_end() -> None:
    parts = feed(chunk(text("a"), finish="STOP"), chunk(text("b"), finish="STOP"))
    assert fold(parts).text == "ab"
    assert sum(isinstance(part, Done) for part in parts) == 1


def test_no_end_and_half_a_chunk_are_failures() -> None:
    assert (failure(feed(chunk(text("a")))).kind, failure(feed(chunk(text("a")))).retryable) == ("network", True)
    assert failure(feed('{"candidates": [')).kind == "network"
    assert failure(feed()).kind == "network"


@pytest.mark.parametrize(
    ("reason", "kind", "retryable"),
    [
        ("SAFETY", "refused", False),
        ("RECITATION", "refused", False),
        ("PROHIBITED_CONTENT", "refused", False),
        ("SPII", "refused", False),
        ("BLOCKLIST", "refused", False),
        ("MALFORMED_FUNCTION_CALL", "provider", True),
        ("UNEXPECTED_TOOL_CALL", "provider", False),
        ("MISSING_THOUGHT_SIGNATURE", "bad_request", False),
        ("OTHER", "provider", True),
        ("SOMETHING_NEW", "provider", True),
    ],
)
def test_reasons_that_are_no_success(reason: str, kind: str, retryable: bool) -> None:
    said = failure(feed(chunk(text("a")), chunk(finish=reason, finishMessage="Because.")))
    assert (said.kind, said.retryable) == (kind, retryable)
    assert "Because." in said.message


def test_what_was_blocked_is_named() -> None:
    ratings = [{"category": "HARM_X", "blocked": True}, {"category": "HARM_Y"}]
    assert "HARM_X" in failure(feed(chunk(finish="SAFETY", safetyRatings=ratings))).message
    blocked = failure(feed({"promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": "No."}}))
    assert (blocked.kind, blocked.message) == ("refused", "the provider blocked the request: OTHER (No.)")


def test_the_output_limit_is_said_with_calls_too() -> None:
    assert feed(chunk(text("a"), finish="MAX_TOKENS"))[-1] == Done("length", "mock")
    assert feed(chunk(call("read", {}), finish="MAX_TOKENS"))[-1] == Done("length", "mock")


@pytest.mark.parametrize(
    ("code", "status", "message", "kind", "retryable"),
    [
        (503, "UNAVAILABLE", "The model is overloaded.", "overloaded", True),
        (500, "INTERNAL", "An internal error has occurred.", "provider", True),
        (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted.", "rate_limit", True),
        (400, "INVALID_ARGUMENT", "Request contains an invalid argument.", "bad_request", False),
        (
            400,
            "INVALID_ARGUMENT",
            "The input token count (9) exceeds the maximum number of tokens (8).",
            "context_overflow",
            False,
        ),
        (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", "auth", False),
    ],
)
def test_errors_within_the_stream(code: int, status: str, message: str, kind: str, retryable: bool) -> None:
    error = {"error": {"code": code, "message": message, "status": status}}
    for last in (error, [error]):
        said = failure(feed(chunk(text("a")), json.dumps(last)))
        assert (said.kind, said.retryable) == (kind, retryable)


def test_a_quota_of_the_minute_says_when_to_come_back() -> None:
    def said(quota: str) -> Any:
        details = [{"violations": [{"quotaId": quota}]}, {"retryDelay": "34.5s"}]
        error = {"code": 429, "message": "You exceeded your current quota, check your plan.", "details": details}
        return failure(feed({"error": error}))

    minute, day = said("GenerateRequestsPerMinutePerProject"), said("GenerateRequestsPerDayPerProject")
    assert (minute.kind, minute.retryable, minute.retry_after) == ("rate_limit", True, 34.5)
    assert (day.kind, day.retryable, day.retry_after) == ("rate_limit", False, None)


def test_nothing_follows_a_failure() -> None:
    parts = feed({"error": {"code": 500, "message": "x"}}, chunk(text("late"), finish="STOP"))
    assert len(parts) == 1
    assert encoded([{}]) == [b"data: {}\r\n\r\n"]

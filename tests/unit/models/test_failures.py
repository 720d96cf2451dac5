"""What a refusal means, whatever its words, and what a person is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from zot_core.models.failures import (
    Origin,
    classify,
    error_word,
    explain,
    failure_of_response,
    is_error_body,
    no_key,
    scrub,
)
from zot_core.types.failure import Failure

JSON = {"content-type": "application/json"}


def refused(status: int, error: Any, **headers: str) -> Failure:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return failure_of_response(status, {**JSON, **named}, json.dumps(error).encode(), now=0.0)


OVERFLOWS = [
    (400, {"error": {"code": "context_length_exceeded", "message": "too big", "type": "invalid_request_error"}}),
    (
        400,
        {"error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}},
    ),
    (
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size. try increasing",
                "type": "",
            }
        },
    ),
    (500, {"error": {"code": 500, "message": "too much", "type": "exceed_context_size_error", "n_ctx": 256}}),
    (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
            "code": 400,
        },
    ),
    (400, {"error": {"message": "Please reduce the length of the messages or completion.", "code": None}}),
    (400, {"error": {"message": "Your input exceeds the context window of this model."}}),
    (400, {"error": {"message": "The input token count (1200000) exceeds the maximum number of tokens allowed"}}),
    (
        400,
        {"error": {"message": "This model's maximum prompt length is 131072 but the request contains 200000 tokens."}},
    ),
    (400, {"error": {"message": "Invalid request: Your request exceeded model token limit: 262144"}}),
    (400, {"error": {"message": "The number of tokens to keep is greater than the context length"}}),
    (413, {"error": {"message": "Payload Too Large"}}),
    (413, "<html><title>413 Request Entity Too Large</title></html>"),
    (None, {"error": {"code": "context_length_exceeded", "message": "in the stream"}}),
]


@pytest.mark.parametrize(("status", "error"), OVERFLOWS)
def test_overflow_is_known_in_every_wording(status: int | None, error: Any) -> None:
    failure = classify(error_word(error)) if status is None else refused(status, error)
    assert (failure.kind, failure.retryable) == ("context_overflow", False)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (429, {"error": {"message": "Rate limit reached for gpt on tokens per min (TPM): Limit 10000, Used 9000."}}),
        (413, {"error": {"message": "Request too large on tokens per minute (TPM)", "code": "rate_limit_exceeded"}}),
        (429, {"error": {"message": "Too many tokens in the request for this minute; context length is fine"}}),
    ],
)
def test_a_rate_limit_that_speaks_of_tokens_is_no_overflow(status: int, error: Any) -> None:
    assert refused(status, error).kind == "rate_limit"


@pytest.mark.parametrize(
    ("status", "error", "kind", "retryable"),
    [
        (401, {"error": {"message": "Incorrect API key provided"}}, "auth", False),
        (403, {"error": "forbidden"}, "auth", False),
        (404, {"error": {"message": "The model `x` does not exist"}}, "bad_request", False),
        (400, {"error": {"message": "Invalid 'tools'"}}, "bad_request", False),
        (422, {"detail": [{"msg": "field required"}]}, "bad_request", False),
        (400, {"error": {"message": "flagged by our content policy", "code": "content_policy"}}, "refused", False),
        (408, {}, "network", True),
        (409, {"error": {"message": "conflict"}}, "provider", True),
        (429, {"error": {"message": "slow down"}}, "rate_limit", True),
        (
            429,
            {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}},
            "rate_limit",
            False,
        ),
        (402, {"error": {"message": "Insufficient Balance"}}, "rate_limit", False),
        (500, {"error": {"message": "The server had an error"}}, "provider", True),
        (502, "<html><title>Bad Gateway</title></html>", "provider", True),
        (503, {"error": {"message": "down"}}, "overloaded", True),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded", True),
        (301, "", "bad_request", False),
    ],
)
def test_statuses(status: int, error: Any, kind: str, retryable: bool) -> None:
    failure = refused(status, error)
    assert (failure.kind, failure.retryable, failure.status) == (kind, retryable, status)


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        ({"error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded", True),
        ({"error": {"type": "server_error", "message": "The server had an error"}}, "provider", True),
        ({"error": {"type": "invalid_request_error", "message": "no"}}, "bad_request", False),
        ({"error": {"code": 502, "message": "Provider returned error"}}, "provider", True),
        ({"error": {"code": 429, "message": "Rate limited"}}, "rate_limit", True),
        ({"error": "Rate limit exceeded"}, "rate_limit", True),
        ({"error": {"message": "who knows"}}, "provider", False),
        ([{"error": {"message": "The model is overloaded", "status": "UNAVAILABLE"}}], "overloaded", True),
    ],
)
def test_errors_within_a_stream(error: Any, kind: str, retryable: bool) -> None:
    failure = classify(error_word(error))
    assert (failure.kind, failure.retryable) == (kind, retryable)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"error": {"message": "plain"}}, "plain"),
        ({"error": "a text"}, "a text"),
        ({"message": "at the top"}, "at the top"),
        ({"detail": "fastapi"}, "fastapi"),
        ([{"error": {"message": "listed"}}], "listed"),
        ({"error": {"message": "Provider error", "metadata": {"raw": "upstream says no"}}}, "upstream says no"),
        ("just text", "just text"),
    ],
)
def test_the_provider_is_quoted_from_every_shape(body: Any, word: str) -> None:
    assert word in error_word(body).message


def test_a_page_is_named_and_not_shown() -> None:
    failure = failure_of_response(
        502, {"content-type": "text/html"}, b"<html><title> 502 Bad </title><body>x" + b"y" * 9999
    )
    assert failure.message == "a web page titled '502 Bad' came instead of an answer"


def test_a_long_wait_is_told_with_its_end() -> None:
    failure = refused(429, {"error": {"message": "slow down"}}, retry_after="11000")
    told = explain(failure, Origin(provider="openai"), now=0.0)
    assert (told.kind, told.retry_after, told.status) == ("rate_limit", 11000.0, 429)
    assert "openai (429): slow down. Come back in 3 h 3 min, at 19" in told.message


def test_a_refused_key_names_its_source_and_never_the_key() -> None:
    key = "sk-verysecret-123456"
    failure = refused(401, {"error": {"message": f"Incorrect API key provided: {key}."}})
    origin = Origin(provider="openai", key_source="$OPENAI_API_KEY", secrets=(key,))
    told = explain(failure, origin)
    assert "$OPENAI_API_KEY" in told.message
    assert "secret" not in told.message
    other = explain(failure, Origin(provider="openai", key_source="$OPENAI_API_KEY", other_keys=("auth.json",)))
    assert "there is another one in auth.json" in other.message


@pytest.mark.parametrize(
    "text",
    ["key sk-proj-abc***xyz9 is bad", "Authorization: Bearer abcdefgh", "AIzaSyA1234567890abcdefg", "gsk_abcdefghij"],
)
def test_what_looks_like_a_key_is_taken_out(text: str) -> None:
    shown = scrub(text)
    assert "[key]" in shown
    assert not any(part in shown for part in ("abc***", "abcdefgh", "1234567"))


def test_scrubbing_leaves_plain_words_alone() -> None:
    assert scrub("the key-value store at task-force", ["x"]) == "the key-value store at task-force"


def test_no_key_names_the_ways_and_the_offline_provider() -> None:
    message = no_key("openai", ("OPENAI_API_KEY",)).message
    assert all(word in message for word in ("--api-key", "OPENAI_API_KEY", "auth.json", "--provider scripted"))


def test_a_very_long_word_is_shortened() -> None:
    told = explain(Failure(kind="provider", message="x " * 5000), Origin(provider="p"))
    assert len(told.message) < 1000


def test_which_bodies_are_errors() -> None:
    assert is_error_body({"error": {"message": "x"}})
    assert is_error_body({"object": "error", "message": "x"})
    assert not is_error_body({"error": None, "choices": []})
    assert not is_error_body([1])


def test_a_body_that_is_nested_without_end_is_text() -> None:
    failure = failure_of_response(400, JSON, b"[" * 100_000, now=0.0)
    assert (failure.kind, failure.status) == ("bad_request", 400)


def test_a_body_of_zeros_is_empty() -> None:
    assert failure_of_response(500, {}, bytes(1000), now=0.0).message == "an empty answer"


def test_only_a_redirect_that_names_a_place_is_one() -> None:
    assert "redirects to https://b.test/" in refused(302, {}, location="https://b.test/").message
    assert "redirects" not in refused(304, {}).message

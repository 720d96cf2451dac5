"""The faults of streaming and providers in the form of the Messages API: the runner against the strict server."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import pytest
from mock_provider.anthropic_replies import answer, call, event, refusal, said, think
from mock_provider.server import MockServer, Reply

from zot_core.config.auth import Credential
from zot_core.models.protocol import Request
from zot_core.models.runner import Runner, RunnerConfig
from zot_core.net.client import HttpClient
from zot_core.net.retry import RetryPolicy
from zot_core.types.content import Text
from zot_core.types.failure import Failure
from zot_core.types.messages import UserMessage
from zot_core.types.specs import ProviderSpec
from zot_core.types.stream import Done, Failed, Retrying, StreamPart, TextDelta, UsageUpdate
from zot_plugins.api_anthropic.plugin import api_formats
from zot_plugins.providers.anthropic import MODELS
from zot_plugins.providers.plugin import providers

(FORMAT,) = api_formats()
SPEC = next(spec for spec in providers() if spec.id == "anthropic")
OPUS = replace(next(model for model in MODELS if model.id == SPEC.default_model), api=FORMAT.name)
KEY = Credential("sk-ant-test-1234567890", "$ANTHROPIC_API_KEY")


class Deaf:
    """A sink that wants nothing."""

    def wants(self, hook: str) -> bool:
        return False

    async def tell(self, event: Any) -> None: ...

    async def gate(self, event: Any) -> Any: ...


@dataclass
class Run:
    """What became of one request."""

    parts: list[StreamPart]
    waits: list[float]
    server: MockServer

    @property
    def failure(self) -> Failure:
        last = self.parts[-1]
        assert isinstance(last, Failed), last
        return last.failure

    @property
    def text(self) -> str:
        """What was said since the last time it began anew."""
        begun = max((n for n, part in enumerate(self.parts) if isinstance(part, Retrying)), default=0)
        return "".join(part.text for part in self.parts[begun:] if isinstance(part, TextDelta))


async def _stream(server: MockServer, credential: Any, spec: ProviderSpec) -> Run:
    client = HttpClient()
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    config = RunnerConfig(
        client=lambda: client,
        provider=lambda name: spec,
        format=lambda name: FORMAT if name == FORMAT.name else None,
        credential=lambda spec: credential,
        policy=RetryPolicy(jitter=0),
        sleep=sleep,
    )
    request = Request(model=OPUS, messages=[UserMessage(content=(Text("hi"),))], system="be brief", thinking="low")
    try:
        return Run([part async for part in Runner(config, Deaf()).stream(request)], waits, server)
    finally:
        await client.aclose()


def run(*replies: Reply, credential: Any = KEY, key: str = "", base: str = "") -> Run:
    with MockServer(replies, key=key) as server:
        spec = replace(SPEC, base_url=server.url.removesuffix("/v1") + base)
        done = asyncio.run(_stream(server, credential, spec))
    assert not server.refusals
    return done


def test_an_answer_with_its_cost() -> None:
    done = run(answer("Hel", "lo", usage={"input_tokens": 1000, "cache_read_input_tokens": 500}))
    assert done.text == "Hello"
    update = [part for part in done.parts if isinstance(part, UsageUpdate)][-1]
    assert update.usage.cost == pytest.approx((1000 * 4.0 + 500 * 0.2 + 9 * 20.0) / 1e6)
    assert done.parts[-1] == Done("end_turn", OPUS.id)
    sent = done.server.requests[0]
    assert (sent.method, sent.path, sent.headers["x-api-key"]) == ("POST", "/v1/messages", KEY.key)
    assert sent.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in sent.headers


@pytest.mark.parametrize("base", ["", "/", "/v1", "/v1/messages"])
def test_the_base_url_may_or_may_not_end_in_a_version(base: str) -> None:
    assert run(answer("ok"), base=base).server.requests[0].path == "/v1/messages"


def test_a_login_goes_as_a_bearer_and_no_key_beside_it() -> None:
    done = run(answer("ok"), credential=Credential("tok-123456", "the login", "oauth"))
    headers = done.server.requests[0].headers
    assert headers["authorization"] == "Bearer tok-123456"
    assert headers["anthropic-beta"] == "oauth-2025-04-20,thinking-binding-controls-2026-08-01"
    assert "x-api-key" not in headers


@pytest.mark.parametrize("piece", [0, 1, 7])
@pytest.mark.parametrize("crlf", [False, True])
def test_cuts_and_line_endings_change_nothing(piece: int, crlf: bool) -> None:
    """SP-01."""
    body = [": ping\n\n", *said(think("考え 🙂"), "見て 🙂 \u2028", call("read", path="報告 🙂.txt"))]
    whole = run(Reply(body=body, done=False))
    assert run(Reply(body=body, done=False, piece=piece, crlf=crlf)).parts == whole.parts
    assert isinstance(whole.parts[-1], Done)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("overloaded_error", "overloaded"), ("api_error", "provider"), ("rate_limit_error", "rate_limit")],
)
def test_an_error_within_the_stream_that_may_pass_is_tried_again(kind: str, expected: str) -> None:
    """SP-05."""
    broken = [*said("Hello", "never seen")[:4], event("error", error={"type": kind, "message": "Overloaded"})]
    done = run(Reply(body=broken, done=False), Reply(body=broken[-1:], done=False), answer("at last"))
    assert (done.text, done.waits) == ("at last", [2.0, 4.0])
    retries = [part.failure.kind for part in done.parts if isinstance(part, Retrying)]
    if kind == "api_error":
        expected = "overloaded"  # by its message
    assert retries == [expected, expected]


def test_an_error_within_the_stream_that_will_not_pass_ends_it() -> None:
    """SP-05."""
    told = event("error", error={"type": "invalid_request_error", "message": "tools.0: no"})
    done = run(Reply(body=[*said("Hello")[:4], told], done=False), answer("never"))
    assert (done.failure.kind, len(done.server.requests)) == ("bad_request", 1)
    assert "tools.0: no" in done.failure.message


def test_a_document_instead_of_a_stream_is_an_error() -> None:
    """SP-05."""
    late = replace(refusal(200, "overloaded_error", "Overloaded"), status=200)
    done = run(late, late, answer("ok"))
    assert (done.text, done.waits) == ("ok", [2.0, 4.0])


@pytest.mark.parametrize(
    ("status", "kind", "message", "expected"),
    [
        (529, "overloaded_error", "Overloaded", "overloaded"),
        (500, "api_error", "Internal server error", "provider"),
        (429, "rate_limit_error", "This request would exceed your rate limit of tokens per minute", "rate_limit"),
    ],
)
def test_statuses_that_may_pass(status: int, kind: str, message: str, expected: str) -> None:
    done = run(*[refusal(status, kind, message)] * 5)
    assert (done.failure.kind, done.failure.status, done.waits) == (expected, status, [2.0, 4.0])


@pytest.mark.parametrize(
    ("status", "kind", "message", "expected"),
    [
        (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", "context_overflow"),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
            "context_overflow",
        ),
        (413, "request_too_large", "Request exceeds the maximum size", "context_overflow"),
        (400, "invalid_request_error", "messages.1: roles must alternate", "bad_request"),
        (401, "authentication_error", "invalid x-api-key", "auth"),
        (403, "permission_error", "Your API key may not use this", "auth"),
        (404, "not_found_error", "model: claude-nope", "bad_request"),
    ],
)
def test_statuses_that_will_not_pass(status: int, kind: str, message: str, expected: str) -> None:
    """SP-13: what is too long is known as that, whatever its words, and never sent again."""
    done = run(refusal(status, kind, message), answer("never"))
    assert (done.failure.kind, done.failure.status, done.waits) == (expected, status, [])
    assert message in done.failure.message


def test_an_overflow_within_the_stream_is_known_too() -> None:
    """SP-13: also where a full window ends the answer before its first word."""
    told = event("error", error={"type": "invalid_request_error", "message": "prompt is too long"})
    assert run(Reply(body=[told], done=False)).failure.kind == "context_overflow"
    assert run(answer(stop="model_context_window_exceeded")).failure.kind == "context_overflow"
    full = {"input_tokens": OPUS.context_window}
    assert run(answer("x", stop="max_tokens", usage=full)).failure.kind == "context_overflow"


@pytest.mark.parametrize(
    ("header", "wait"),
    [("2", 2.0), ("20", 20.0), ("59.5", 59.5), ("0", 2.0), ("-5", 2.0), ("soon", 2.0), ("", 2.0)],
)
def test_retry_after_is_obeyed_with_sense(header: str, wait: float) -> None:
    """SP-07."""
    for status, kind in ((429, "rate_limit_error"), (503, "api_error"), (529, "overloaded_error")):
        done = run(refusal(status, kind, "later", headers={"retry-after": header}), answer("ok"))
        assert (done.text, done.waits) == ("ok", [wait])


def test_a_long_wait_is_told_and_not_waited_for() -> None:
    """SP-07."""
    done = run(refusal(429, "rate_limit_error", "limit reached", headers={"retry-after": "11000"}), answer("no"))
    assert (done.waits, done.failure.retry_after) == ([], 11000)
    assert "Come back in 3 h" in done.failure.message


def test_a_refusal_of_the_model_is_no_success_and_not_tried_again() -> None:
    done = run(answer("Well", stop="refusal"), answer("never"))
    assert (done.failure.kind, len(done.server.requests)) == ("refused", 1)


def test_a_wrong_key_is_never_shown() -> None:
    done = run(answer("no"), key="another")
    assert done.failure.kind == "auth"
    assert KEY.key not in done.failure.message
    assert "$ANTHROPIC_API_KEY" in done.failure.message


def test_a_cut_stream_is_tried_again_and_no_success() -> None:
    cut = Reply(body=said("Hello", "gone")[:5], done=False, cut=True)
    done = run(cut, cut, answer("whole"))
    assert (done.text, len(done.server.requests)) == ("whole", 3)
    assert run(cut, cut, cut).failure.kind == "network"

"""What an attempt is sent with and what its body is taken for: headers, `authorize`, framings, bodies without end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from mock_provider.server import MockServer, Reply, chunk, text

from zot_core.events.base import Fact
from zot_core.models.protocol import Authorized, Outgoing, Request
from zot_core.models.runner import Runner, RunnerConfig
from zot_core.net.client import HttpClient
from zot_core.net.retry import RetryPolicy
from zot_core.net.sse import BrokenStream, ServerEvent
from zot_core.types.content import Text
from zot_core.types.failure import Failure, RunFailed
from zot_core.types.messages import UserMessage
from zot_core.types.specs import ApiFormat, ModelSpec, ProviderSpec
from zot_core.types.stream import Done, Failed, Retrying, StreamPart, TextDelta

MODEL = ModelSpec(id="m", provider="acme", api="c", context_window=1000)
DEEP = b"[" * 200_000


class Sink:
    """Tells nobody, and keeps what it is told of the hooks that it wants."""

    def __init__(self, *hooks: str) -> None:
        self.hooks = hooks
        self.told: list[Any] = []

    def wants(self, hook: str) -> bool:
        return hook in self.hooks

    async def tell(self, event: Fact) -> None:
        self.told.append(event)

    async def gate(self, event: Any) -> Any:
        raise AssertionError("no gate is wanted")


class Lines:
    """Frames of a line each; a line of `!` is damaged."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Sequence[ServerEvent]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if b"!" in lines:
            raise BrokenStream("a line of !")
        return [ServerEvent("", line.decode()) for line in lines]

    def finish(self) -> Sequence[ServerEvent]:
        return []


def ask(
    *replies: Reply, key: str = "", sink: Sink | None = None, authorize: Any = None, **spec: Any
) -> tuple[list[StreamPart], MockServer]:
    with MockServer(replies, key=key) as server:

        async def go() -> list[StreamPart]:
            client = HttpClient()
            provider = ProviderSpec(
                id="acme",
                api="c",
                **{"base_url": server.url, "keyless": authorize is None, **spec},
                authorize=authorize,
            )
            api = ApiFormat(
                name="c",
                build="zot_plugins.api_openai_chat.request:build",
                parser="zot_plugins.api_openai_chat.stream:ChatParser",
                decoders={"application/lines": Lines},
            )

            async def sleep(seconds: float) -> None:
                assert seconds > 0

            config = RunnerConfig(
                client=lambda: client,
                provider=lambda name: provider,
                format=lambda name: api,
                credential=lambda spec: None,
                policy=RetryPolicy(tries=2, jitter=0),
                sleep=sleep,
            )
            request = Request(model=MODEL, messages=[UserMessage(content=(Text("hi"),))])
            try:
                return [part async for part in Runner(config, sink or Sink()).stream(request)]
            finally:
                await client.aclose()

        return asyncio.run(go()), server


def failure_of(parts: list[StreamPart]) -> Failure:
    assert isinstance(parts[-1], Failed), parts[-1]
    return parts[-1].failure


def text_of(parts: list[StreamPart]) -> str:
    assert isinstance(parts[-1], Done), parts[-1]
    return "".join(part.text for part in parts if isinstance(part, TextDelta))


@pytest.mark.parametrize(
    ("headers", "word"),
    [
        ({"x y": "1"}, "'x y' is no name for a header"),
        ({"": "1"}, "'' is no name for a header"),
        ({"x:y": "1"}, "'x:y' is no name for a header"),
        ({"naïve": "1"}, "is no name for a header"),
        ({"x": "secret\nvalue"}, "the value of the header 'x'"),
        ({"Content-Length": "5"}, "the header 'content-length' belongs to the connection"),
        ({"Transfer-Encoding": "chunked"}, "the header 'transfer-encoding' belongs to the connection"),
    ],
)
def test_a_header_that_cannot_be_sent_is_a_mistake_and_no_network(headers: dict[str, str], word: str) -> None:
    parts, server = ask(text("never"), headers=headers)
    failure = failure_of(parts)
    assert (failure.kind, failure.retryable, server.requests) == ("bad_request", False, [])
    assert word in failure.message and "models.json" in failure.message and "secret" not in failure.message
    assert not any(isinstance(part, Retrying) for part in parts)


def test_events_that_a_server_calls_json_are_read_all_the_same() -> None:
    events = text("Hel", "lo")
    assert text_of(ask(Reply(body=events.body, content_type="application/json"))[0]) == "Hello"
    one = Reply(
        body=[f"data: {json.dumps(chunk({'content': 'Hi'}, 'stop'))}"], content_type="application/json", done=False
    )
    assert text_of(ask(one)[0]) == "Hi"


@pytest.mark.parametrize(
    ("body", "kind", "word"),
    [
        (b'{"error": {"message": "no such model"}}', "provider", "no such model"),
        (b'{"choices": []}', "provider", "one JSON document instead of a stream"),
        (b'"a text"', "provider", "instead of a stream"),
        (b"", "provider", "instead of a stream"),
        (b'{"choices": [', "network", "broke off within a JSON document"),
        (DEEP, "provider", "nested without end"),
    ],
)
@pytest.mark.parametrize("content_type", ["application/json", "application/problem+json; charset=utf-8"])
def test_a_json_document_is_no_answer(body: bytes, kind: str, word: str, content_type: str) -> None:
    reply = Reply(body=[body], content_type=content_type, done=False)
    failure = failure_of(ask(reply, reply)[0])
    assert (failure.kind, word in failure.message) == (kind, True), failure


def test_bodies_that_are_nested_without_end_break_nothing() -> None:
    reply = Reply(body=[DEEP], done=False)
    assert failure_of(ask(reply, reply)[0]).kind == "provider"
    sink = Sink("provider_stream_event")
    answer = Reply(body=[b"data: " + DEEP + b"\n\n", *text("Hi").body])
    parts, _ = ask(answer, answer, sink=sink)
    assert sink.told[0].data == DEEP.decode()
    assert not isinstance(parts[-1], Failed) or parts[-1].failure.kind != "internal"


def test_a_format_reads_what_its_decoders_know() -> None:
    body = [json.dumps(one) + "\n" for one in (chunk({"content": "Hi"}), chunk(finish="stop"))]
    reply = Reply(body=body, content_type="Application/Lines; v=1", done=False)
    assert text_of(ask(reply)[0]) == "Hi"
    broken = Reply(body=["!\n"], content_type="application/lines", done=False)
    parts, server = ask(broken, broken)
    assert failure_of(parts).kind == "network" and len(server.requests) == 2
    assert "a line of !" in failure_of(parts).message


def _authorize(answer: Callable[[Outgoing], Authorized], seen: list[Outgoing]) -> Any:
    async def authorize(outgoing: Outgoing) -> Authorized:
        seen.append(outgoing)
        return answer(outgoing)

    return authorize


def test_authorize_sees_what_is_sent_and_has_the_last_word_before_each_attempt() -> None:
    seen: list[Outgoing] = []

    def answer(outgoing: Outgoing) -> Authorized:
        url = outgoing.url.replace("{place}", "deep")
        return Authorized(headers={"Authorization": f"Bearer try-{len(seen)}"}, url=url)

    with MockServer() as other:
        base = other.url.replace("/v1", "/{place}")
        other.replies += [Reply(status=503, body=[b"{}"], done=False), text("Hi")]
        parts, _ = ask(authorize=_authorize(answer, seen), base_url=base)
    assert text_of(parts) == "Hi"
    assert [request.headers["authorization"] for request in other.requests] == ["Bearer try-1", "Bearer try-2"]
    assert [request.raw for request in other.requests] == [one.content for one in seen]
    assert {request.path for request in other.requests} == {"/deep/v1/chat/completions"}
    assert seen[0].url.endswith("/{place}/v1/chat/completions") and seen[0].key == ""


def test_what_authorize_found_is_named_and_never_shown() -> None:
    def answer(outgoing: Outgoing) -> Authorized:
        return Authorized(
            headers={"x-signature": "deadbeefcafe"}, source="the ring", secrets=("deadbeefcafe", "s3cret")
        )

    body = b'{"error": {"message": "deadbeefcafe signed with s3cret is wrong"}}'
    refused = Reply(status=403, body=[body], content_type="application/json", done=False)
    message = failure_of(ask(refused, authorize=_authorize(answer, []))[0]).message
    assert "The key came from the ring" in message
    assert "deadbeefcafe" not in message and "s3cret" not in message


def test_a_failure_of_authorize_is_the_answer() -> None:
    def passing(outgoing: Outgoing) -> Authorized:
        raise RunFailed(Failure(kind="network", message="no token came", retryable=True))

    def broken(outgoing: Outgoing) -> Authorized:
        raise KeyError("oops")

    seen: list[Outgoing] = []
    assert failure_of(ask(authorize=_authorize(passing, seen))[0]).kind == "network"
    assert len(seen) == 2
    failure = failure_of(ask(authorize=_authorize(broken, []))[0])
    assert (failure.kind, "KeyError" in failure.message) == ("internal", True)
    bad = _authorize(lambda outgoing: Authorized(headers={"x": "a\nb"}), [])
    assert failure_of(ask(authorize=bad)[0]).kind == "bad_request"

"""The runner against a strict server: retries, failures, plugin events, cuts, cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from mock_provider.server import Hold, MockServer, Reply, calls, chunk, error, text, usage

from zot_core.events.base import Fact
from zot_core.models.protocol import Request
from zot_core.models.runner import Runner, RunnerConfig
from zot_core.net.client import HttpClient, Timeouts
from zot_core.net.retry import RetryPolicy
from zot_core.types.content import Text
from zot_core.types.failure import Failure, RunFailed
from zot_core.types.messages import UserMessage
from zot_core.types.specs import ApiFormat, ModelSpec, Prices, ProviderSpec
from zot_core.types.stream import Done, Failed, Retrying, StreamPart, TextDelta, UsageUpdate
from zot_core.types.usage import Usage

CHAT = ApiFormat(
    name="openai-completions",
    build="zot_plugins.api_openai_chat.request:build",
    parser="zot_plugins.api_openai_chat.stream:ChatParser",
)
MODEL = ModelSpec(id="m", provider="acme", api="openai-completions", context_window=1000)
KEY = "sk-test-1234567890"


@dataclass(frozen=True)
class Credential:
    key: str
    source: str
    also: tuple[str, ...] = ()


@dataclass
class Listener:
    """A sink that keeps what it is told, and rewrites gates as `rewrite` says."""

    hooks: frozenset[str] = frozenset()
    rewrite: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    seen: list[Any] = field(default_factory=list)

    def wants(self, hook: str) -> bool:
        return hook in self.hooks or hook in self.rewrite

    async def tell(self, event: Fact) -> None:
        self.seen.append(event)

    async def gate(self, event: Any) -> Any:
        self.seen.append(event)
        changed = self.rewrite.get(event.hook, lambda same: same)(event)
        return type("Outcome", (), {"event": changed, "stop": None, "plugin": ""})


@dataclass
class Run:
    """What became of one request."""

    parts: list[StreamPart]
    waits: list[float]
    server: MockServer

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, TextDelta))

    @property
    def failure(self) -> Failure:
        last = self.parts[-1]
        assert isinstance(last, Failed), last
        return last.failure

    @property
    def retries(self) -> list[Retrying]:
        return [part for part in self.parts if isinstance(part, Retrying)]


async def stream_all(
    server: MockServer,
    *,
    sink: Listener | None = None,
    credential: Any = Credential(KEY, "$ACME_API_KEY"),
    provider: ProviderSpec | None = None,
    model: ModelSpec = MODEL,
    policy: RetryPolicy | None = None,
    messages: Any = (),
    idle: float = 30,
) -> Run:
    client = HttpClient(Timeouts(idle=idle))
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    def found(spec: ProviderSpec) -> Any:
        if isinstance(credential, Exception):
            raise credential
        return credential

    spec = provider or ProviderSpec(id="acme", api=CHAT.name, base_url=server.url, env=("ACME_API_KEY",))
    config = RunnerConfig(
        client=lambda: client,
        provider=lambda name: spec if name == spec.id else None,
        format=lambda name: CHAT if name == CHAT.name else None,
        credential=found,
        policy=policy or RetryPolicy(jitter=0),
        sleep=sleep,
    )
    request = Request(model=model, messages=messages or [UserMessage(content=(Text("hi"),))], system="be brief")
    try:
        return Run([part async for part in Runner(config, sink or Listener()).stream(request)], waits, server)
    finally:
        await client.aclose()


def run(*replies: Reply, key: str = "", **options: Any) -> Run:
    with MockServer(replies, key=key) as server:
        done = asyncio.run(stream_all(server, **options))
    assert not server.refusals
    return done


def test_an_answer_with_its_usage_and_cost() -> None:
    priced = replace(MODEL, prices=Prices(input=1.0, output=2.0, cache_read=0.5))
    done = run(text("Hel", "lo"), model=priced)
    assert done.text == "Hello"
    assert done.parts[-2:] == [UsageUpdate(Usage(input=10, output=5, cost=20e-6)), Done("end_turn", "mock")]
    sent = done.server.requests[0]
    assert (sent.method, sent.path) == ("POST", "/v1/chat/completions")
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.headers["user-agent"].startswith("zot/")


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_the_base_url_may_or_may_not_end_in_a_version(ending: str) -> None:
    with MockServer([text("ok")]) as server:
        base = server.url.removesuffix("/v1") + ending
        spec = ProviderSpec(id="acme", api=CHAT.name, base_url=base, keyless=True)
        done = asyncio.run(stream_all(server, provider=spec, credential=None))
    assert done.text == "ok"
    assert server.requests[0].path == "/v1/chat/completions"
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize("piece", [0, 1, 5])
@pytest.mark.parametrize("crlf", [False, True])
def test_cuts_and_line_endings_change_nothing(piece: int, crlf: bool) -> None:
    def reply(**how: Any) -> Reply:
        one = calls(("c1", "read", {"path": "報告 🙂.txt"}), say="見て 🙂 \u2028 two", **how)
        return replace(one, body=[": ping\n\n", "event: unknown\ndata: {}\n\n", *one.body])

    whole, cut = run(reply()), run(reply(piece=piece, crlf=crlf))
    assert cut.parts == whole.parts
    assert isinstance(cut.parts[-1], Done)


def test_the_last_event_may_lack_its_blank_line() -> None:
    body = [chunk({"content": "all"}), chunk(finish="stop"), "data: [DONE]"]
    assert run(Reply(body=body, done=False)).parts == [TextDelta("all"), Done("end_turn", "mock")]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_what_may_pass_is_tried_again(status: int) -> None:
    done = run(error(status, "later"), error(status, "later"), text("at last"))
    assert done.text == "at last"
    assert done.waits == [2.0, 4.0]
    assert [retry.attempt for retry in done.retries] == [1, 2]
    assert done.retries[0].failure.status == status
    assert len(done.server.requests) == 3


def test_three_tries_are_all() -> None:
    done = run(*[error(503, "overloaded")] * 5)
    assert len(done.server.requests) == 3
    assert (done.failure.kind, done.failure.status) == ("overloaded", 503)
    assert "acme (503): overloaded" in done.failure.message


@pytest.mark.parametrize(
    ("status", "code", "message", "kind"),
    [
        (400, "", "bad thing", "bad_request"),
        (401, "invalid_api_key", "wrong key", "auth"),
        (404, "", "no such model", "bad_request"),
        (400, "context_length_exceeded", "too long", "context_overflow"),
        (413, "", "too large", "context_overflow"),
        (429, "insufficient_quota", "You exceeded your current quota", "rate_limit"),
    ],
)
def test_what_will_not_pass_is_not_tried_again(status: int, code: str, message: str, kind: str) -> None:
    done = run(error(status, message, code), text("never"))
    assert (done.failure.kind, done.failure.status, done.waits) == (kind, status, [])
    assert len(done.server.requests) == 1
    assert message in done.failure.message


@pytest.mark.parametrize(
    ("hint", "wait"),
    [("2", 2.0), ("7", 7.0), ("0", 2.0), ("-3", 2.0), ("soon", 2.0), ("Wed, 01 Jan 2020 00:00:00 GMT", 2.0)],
)
def test_a_hint_is_waited_for(hint: str, wait: float) -> None:
    done = run(error(429, "slow down", headers={"retry-after": hint}), text("ok"))
    assert (done.waits, done.text) == ([wait], "ok")


@pytest.mark.parametrize("status", [429, 503, 529])
def test_a_long_hint_ends_it_at_once_and_says_when(status: int) -> None:
    done = run(error(status, "slow down", headers={"retry-after": "11000"}), text("never"))
    assert done.waits == []
    assert done.failure.retry_after == 11000
    assert done.failure.kind == ("rate_limit" if status == 429 else "overloaded")
    assert "3 h 3 min" in done.failure.message


def test_the_wait_can_be_cancelled() -> None:
    async def go() -> None:
        with MockServer([error(429, "slow down", headers={"retry-after": "50"})]) as server:
            client = HttpClient()
            spec = ProviderSpec(id="acme", api=CHAT.name, base_url=server.url, keyless=True)
            config = RunnerConfig(
                client=lambda: client, provider=lambda name: spec, format=lambda name: CHAT, credential=lambda s: None
            )
            waiting = asyncio.Event()

            async def consume() -> None:
                request = Request(model=MODEL, messages=[UserMessage(content=(Text("hi"),))])
                async for part in Runner(config, Listener()).stream(request):
                    if isinstance(part, Retrying):
                        waiting.set()

            task = asyncio.create_task(consume())
            await waiting.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await client.aclose()

    asyncio.run(go())


def test_closing_the_stream_closes_the_connection() -> None:
    hold = Hold()

    async def go() -> None:
        with MockServer([Reply(body=[chunk({"content": "a"}), hold])]) as server:
            client = HttpClient()
            spec = ProviderSpec(id="acme", api=CHAT.name, base_url=server.url, keyless=True)
            config = RunnerConfig(
                client=lambda: client, provider=lambda name: spec, format=lambda name: CHAT, credential=lambda s: None
            )
            stream = Runner(config, Listener()).stream(
                Request(model=MODEL, messages=[UserMessage(content=(Text("hi"),))])
            )
            assert await anext(stream) == TextDelta("a")
            await stream.aclose()
            hold.release()
            await client.aclose()

    asyncio.run(go())


def test_connections_are_used_again() -> None:
    async def go() -> int:
        with MockServer([text("a"), text("b"), text("c")]) as server:
            client = HttpClient()
            spec = ProviderSpec(id="acme", api=CHAT.name, base_url=server.url, keyless=True)
            config = RunnerConfig(
                client=lambda: client, provider=lambda name: spec, format=lambda name: CHAT, credential=lambda s: None
            )
            for _ in range(3):
                request = Request(model=MODEL, messages=[UserMessage(content=(Text("hi"),))])
                assert [part async for part in Runner(config, Listener()).stream(request)]
            await client.aclose()
            return server.connections

    assert asyncio.run(go()) == 1


STARTED = [chunk({"content": "par"}), chunk({"content": "tial"})]


@pytest.mark.parametrize(
    "broken",
    [
        {"error": {"type": "server_error", "message": "The server had an error while processing your request"}},
        {"error": {"message": "Overloaded", "code": 529}},
        {"error": {"message": "Provider disconnected", "code": 502}, "choices": [{"delta": {"content": ""}}]},
        'event: error\ndata: {"message": "service unavailable, try again"}\n\n',
    ],
)
def test_a_passing_error_within_the_stream_is_tried_again(broken: Any) -> None:
    done = run(Reply(body=[*STARTED, broken]), text("whole"))
    last = [part for part in done.parts if isinstance(part, (TextDelta, Retrying))]
    assert isinstance(last[2], Retrying)
    assert last[3] == TextDelta("whole")
    assert isinstance(done.parts[-1], Done)


def test_a_permanent_error_within_the_stream_ends_it() -> None:
    broken = {"error": {"type": "invalid_request_error", "message": "no such thing"}}
    done = run(Reply(body=[*STARTED, broken]), text("never"))
    assert done.text == "partial"
    assert (done.failure.kind, done.retries) == ("bad_request", [])
    assert "no such thing" in done.failure.message


def test_an_overflow_within_the_stream_is_an_overflow() -> None:
    broken = {"error": {"code": "context_length_exceeded", "message": "too long"}}
    assert run(Reply(body=[*STARTED, broken])).failure.kind == "context_overflow"


@pytest.mark.parametrize(
    ("reply", "kind", "tries"),
    [
        (Reply(body=['{"error": {"message": "Overloaded", "type": "overloaded_error"}}'], done=False), "overloaded", 3),
        (
            Reply(
                body=['{"error": {"message": "nope", "type": "invalid_request_error"}}'],
                content_type="application/json",
                done=False,
            ),
            "bad_request",
            1,
        ),
        (Reply(body=['{"hello": 1}'], content_type="application/json", done=False), "provider", 1),
        (Reply(body=["<html><title>Login</title>"], content_type="text/html", done=False), "bad_request", 1),
        (Reply(body=[], done=False), "network", 3),
    ],
)
def test_a_200_that_is_no_stream_is_a_failure(reply: Reply, kind: str, tries: int) -> None:
    done = run(*[reply] * 3)
    assert (done.failure.kind, len(done.server.requests)) == (kind, tries)


def test_a_cut_stream_is_tried_again_and_never_a_success() -> None:
    cut = Reply(body=STARTED, cut=True)
    assert run(cut, text("whole")).parts[-1] == Done("end_turn", "mock")
    done = run(cut, cut, cut)
    assert (done.failure.kind, len(done.retries)) == ("network", 2)
    silent = run(*[Reply(body=STARTED, done=False)] * 3)
    assert silent.failure.kind == "network"


def test_an_answer_that_said_its_finish_is_complete_without_end_marker() -> None:
    body = [*STARTED, chunk(finish="stop")]
    for reply in (Reply(body=body, done=False), Reply(body=body, cut=True)):
        assert run(reply).parts[-1] == Done("end_turn", "mock")


class Beat(Hold):
    """A pause of the server, shorter than the silence that is allowed."""

    async def wait(self) -> None:
        await asyncio.sleep(0.05)


def test_a_server_that_sends_comments_alone_is_silent() -> None:
    beats: list[Any] = [": ping\n\n", Beat()] * 200
    done = run(Reply(body=[*STARTED, *beats], done=False), idle=0.3, policy=RetryPolicy(tries=1))
    assert done.failure.kind == "network" and done.failure.retryable
    assert "nothing but keep-alives came for 0.3 s" in done.failure.message


def test_comments_between_events_are_no_silence() -> None:
    pieces: list[Any] = []
    for word in "one two three four five six".split():
        pieces += [chunk({"content": word}), Beat(), ": ping\n\n", Beat(), ": ping\n\n", Beat()]
    done = run(Reply(body=[*pieces, chunk(finish="stop"), usage()]), idle=0.6)
    assert done.text == "onetwothreefourfivesix" and not done.retries


def test_silence_is_a_network_failure() -> None:
    hold = Hold()
    with MockServer([Reply(body=[*STARTED, hold])]) as server:
        done = asyncio.run(stream_all(server, idle=0.05, policy=RetryPolicy(tries=1)))
        hold.release()
    assert done.failure.kind == "network"
    assert "nothing came for 0.05 s" in done.failure.message


def test_no_connection_is_a_network_failure_and_tried_again() -> None:
    with MockServer() as server:
        pass
    done = asyncio.run(stream_all(server))
    assert (done.failure.kind, len(done.waits)) == ("network", 2)
    assert server.url in done.failure.message


def test_a_password_in_the_address_is_not_shown() -> None:
    spec = ProviderSpec(id="acme", api=CHAT.name, base_url="http://me:pass-word@127.0.0.1:1/v1?k=hidden", keyless=True)
    done = run(provider=spec, policy=RetryPolicy(tries=1))
    assert done.failure.kind == "network"
    assert "http://127.0.0.1:1/v1" in done.failure.message
    assert not any(word in done.failure.message for word in ("pass-word", "hidden"))


@pytest.mark.parametrize("url", ["http://[", "nonsense", "ftp://127.0.0.1", "http://127.0.0.1:99999999"])
def test_what_is_no_address_is_a_failure(url: str) -> None:
    spec = ProviderSpec(id="acme", api=CHAT.name, base_url=url, keyless=True)
    assert run(provider=spec, policy=RetryPolicy(tries=1)).failure.kind in {"bad_request", "internal", "network"}


def test_length_is_kept_unless_the_window_is_full() -> None:
    short = Reply(body=[chunk({"content": "a"}), chunk(finish="length"), usage(10, 1)])
    full = Reply(body=[chunk({"content": "a"}), chunk(finish="length"), usage(999, 1)])
    assert run(short).parts[-1] == Done("length", "mock")
    assert run(full).failure.kind == "context_overflow"


def test_a_refused_key_names_its_source_and_never_the_key() -> None:
    done = run(key="sk-the-right-key", credential=Credential(KEY, "$ACME_API_KEY", ("auth.json",)))
    assert done.failure.kind == "auth"
    assert "$ACME_API_KEY" in done.failure.message
    assert "auth.json" in done.failure.message
    assert KEY not in str(done.parts)


def test_without_a_key_nothing_is_sent() -> None:
    done = run(text("never"), credential=None)
    assert done.failure.kind == "auth"
    assert "ACME_API_KEY" in done.failure.message
    assert not done.server.requests
    told = RunFailed(Failure(kind="auth", message="the command failed"))
    assert run(text("never"), credential=told).failure.message == "the command failed"


def test_a_key_that_no_header_can_carry_is_not_shown() -> None:
    done = run(text("never"), credential=Credential("sk-“curly”", "auth.json"))
    assert done.failure.kind == "bad_request"
    assert "curly" not in done.failure.message


def test_an_awaited_credential_is_awaited() -> None:
    async def later() -> Credential:
        return Credential(KEY, "a login")

    assert run(text("ok"), credential=later(), key=KEY).text == "ok"


def test_plugins_rewrite_headers_and_payload_once_for_all_tries() -> None:
    sink = Listener(
        hooks=frozenset({"after_provider_response"}),
        rewrite={
            "before_provider_headers": lambda event: event.replace(
                headers={**event.headers, "X-Team": "a", "user-agent": None}
            ),
            "before_provider_request": lambda event: event.replace(payload={**event.payload, "temperature": 0.5}),
        },
    )
    done = run(error(500, "oops"), text("ok"), sink=sink)
    assert [event.hook for event in sink.seen] == [
        "before_provider_headers",
        "before_provider_request",
        "after_provider_response",
        "after_provider_response",
    ]
    assert [event.status for event in sink.seen[2:]] == [500, 200]
    for sent in done.server.requests:
        assert sent.headers["x-team"] == "a"
        assert "zot" not in sent.headers.get("user-agent", "")
        assert sent.body["temperature"] == 0.5


def test_a_payload_that_is_no_json_is_a_failure() -> None:
    sink = Listener(rewrite={"before_provider_request": lambda event: event.replace(payload={"x": {1, 2}})})
    done = run(text("never"), sink=sink)
    assert done.failure.kind == "internal"
    assert not done.server.requests


def test_stream_events_are_told_in_order_when_somebody_listens() -> None:
    sink = Listener(hooks=frozenset({"provider_stream_event"}))
    run(text("a", "b"), sink=sink)
    contents = [e.data["choices"][0]["delta"].get("content") for e in sink.seen[:-1] if e.data["choices"]]
    assert contents == ["", "a", "b", None]
    assert sink.seen[-1].data == "[DONE]"


def test_half_characters_do_not_break_the_request() -> None:
    done = run(text("ok"), messages=[UserMessage(content=(Text("a\ud800b"),))])
    assert done.text == "ok"
    assert done.server.bodies[0]["messages"][1]["content"] == "a?b"


def own(stream: Any) -> Run:
    spec = ProviderSpec(id="acme", stream=stream, keyless=True)
    with MockServer() as server:
        return asyncio.run(stream_all(server, provider=spec))


def test_a_provider_of_its_own_stream_has_the_same_retries() -> None:
    asked: list[Request] = []

    async def stream(request: Request) -> AsyncIterator[StreamPart]:
        asked.append(request)
        yield TextDelta("x")
        if len(asked) == 1:
            yield Failed(Failure(kind="overloaded", message="busy", retryable=True))
        yield Done("end_turn")
        yield TextDelta("after the end")

    done = own(stream)
    assert [type(part).__name__ for part in done.parts] == ["TextDelta", "Retrying", "TextDelta", "Done"]


def test_errors_in_a_plugins_code_are_failures() -> None:
    async def raises(request: Request) -> AsyncIterator[StreamPart]:
        yield TextDelta("x")
        raise ValueError("broken plugin")

    async def ends(request: Request) -> AsyncIterator[StreamPart]:
        yield TextDelta("x")

    async def typed(request: Request) -> AsyncIterator[StreamPart]:
        raise RunFailed(Failure(kind="refused", message="no"))
        yield

    assert own(raises).failure.kind == "internal"
    assert "broken plugin" in own(raises).failure.message
    assert own(ends).failure.kind == "network"
    assert own(typed).failure.kind == "refused"
    assert own("no.such.module:stream").failure.kind == "internal"


def test_what_is_missing_is_said() -> None:
    unknown = run(model=replace(MODEL, api="soap"))
    assert "wire format 'soap'" in unknown.failure.message
    nowhere = run(provider=ProviderSpec(id="acme", api=CHAT.name, keyless=True))
    assert "--base-url" in nowhere.failure.message
    nobody = run(model=replace(MODEL, provider="ghost"))
    assert "ghost" in nobody.failure.message

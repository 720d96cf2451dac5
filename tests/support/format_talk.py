"""Tests of wire formats: one request through the real runner, a conversation of several, and streams cut anywhere."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from mock_provider.server import MockServer

from zot_core.agent.builder import MessageBuilder
from zot_core.models.protocol import Request
from zot_core.models.runner import Runner, RunnerConfig
from zot_core.net.client import HttpClient
from zot_core.net.sse import SseDecoder
from zot_core.types.failure import Failure
from zot_core.types.messages import AssistantMessage, Message
from zot_core.types.specs import ApiFormat, ModelSpec, ProviderSpec, ToolSpec
from zot_core.types.stream import Done, Failed, Retrying, StreamPart

FORMATS = {
    name: ApiFormat(
        name=name, build=f"zot_plugins.{folder}.request:build", parser=f"zot_plugins.{folder}.stream:{parser}"
    )
    for name, folder, parser in (
        ("openai-completions", "api_openai_chat", "ChatParser"),
        ("openai-responses", "api_openai_responses", "ResponsesParser"),
        ("google-generative-ai", "api_google", "GoogleParser"),
        ("anthropic-messages", "api_anthropic", "MessagesParser"),
    )
}
READ = ToolSpec(
    name="read",
    description="Reads a file.",
    parameters={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    execute="x:y",
)


class Deaf:
    """A sink that nobody listens to."""

    def wants(self, hook: str) -> bool:
        return False

    async def tell(self, event: Any) -> None: ...
    async def gate(self, event: Any) -> Any: ...


@dataclass(frozen=True)
class Key:
    key: str = "secret-key-1234"
    source: str = "--api-key"


@dataclass
class Told:
    """What one request brought."""

    message: AssistantMessage
    parts: list[StreamPart]
    waits: list[float] = field(default_factory=list)

    @property
    def failure(self) -> Failure:
        assert isinstance(self.parts[-1], Failed), self.parts[-1]
        return self.parts[-1].failure

    @property
    def retries(self) -> list[Failure]:
        return [part.failure for part in self.parts if isinstance(part, Retrying)]


def fold(parts: Sequence[StreamPart], model: ModelSpec | None = None) -> AssistantMessage:
    """The message that parts make."""
    maker = {"provider": model.provider, "model": model.id, "api": model.api} if model else {}
    builder = MessageBuilder(**maker)
    for part in parts[:-1]:
        builder.feed(part)
    last = parts[-1]
    if isinstance(last, Failed):
        return builder.message("error", last.failure)
    assert isinstance(last, Done), last
    return builder.message(last.stop)


def ask(server: MockServer, model: ModelSpec, messages: Sequence[Message], **request: Any) -> Told:
    """One request to the server, through the runner, with tools."""
    return asyncio.run(_ask(server, model, messages, request))


async def _ask(server: MockServer, model: ModelSpec, messages: Sequence[Message], request: dict[str, Any]) -> Told:
    client = HttpClient()
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    base = server.url.removesuffix("/v1")
    spec = ProviderSpec(id=model.provider, api=model.api, base_url=base)
    config = RunnerConfig(
        client=lambda: client,
        provider=lambda name: spec,
        format=FORMATS.get,
        credential=lambda spec: Key(),
        sleep=sleep,
        dice=lambda: 0.0,
    )
    parts: list[StreamPart] = []
    wanted = Request(model=model, messages=messages, **{"tools": [READ], **request})
    try:
        async with aclosing(Runner(config, Deaf()).stream(wanted)) as stream:
            parts.extend([part async for part in stream])
    finally:
        await client.aclose()
    return Told(fold(parts, model), parts, waits)


def parsed(parser: Any, pieces: Sequence[bytes]) -> list[StreamPart]:
    """The parts of a body that comes in pieces."""
    decoder, parts = SseDecoder(), []
    for piece in pieces:
        for event in decoder.feed(piece):
            parts.extend(parser.feed(event))
    for event in decoder.finish():
        parts.extend(parser.feed(event))
    parts.extend(parser.finish())
    return parts


def every_cut(body: bytes) -> Iterator[list[bytes]]:
    """The body in two pieces, cut at every byte, and a byte at a time."""
    yield [body[at : at + 1] for at in range(len(body))]
    for at in range(1, len(body)):
        yield [body[:at], body[at:]]


def random_cuts(body: bytes, rounds: int, seed: int = 7) -> Iterator[list[bytes]]:
    """The body in pieces of random sizes."""
    dice = random.Random(seed)
    for _ in range(rounds):
        marks = sorted({0, len(body), *(dice.randrange(len(body)) for _ in range(dice.randrange(1, 40)))})
        yield [body[a:b] for a, b in itertools.pairwise(marks)]


def sse_variants(body: bytes) -> dict[str, bytes]:
    """The same events in every way in which servers write them."""
    lf = body.replace(b"\r\n", b"\n")
    noise = lf.replace(b"\n\n", b'\n\n: ping\n\nevent: odd\nid: 3\nretry: 10\ndata: {"type": "keepalive"}\n\n', 2)
    return {
        "as it is": body,
        "LF": lf,
        "CRLF": lf.replace(b"\n", b"\r\n"),
        "CR": lf.replace(b"\n", b"\r"),
        "no blank after data:": lf.replace(b"data: ", b"data:"),
        "BOM": b"\xef\xbb\xbf" + lf,
        "noise": noise,
        "no newline at the end": lf.rstrip(b"\n"),
        "data over two lines": lf.replace(b'data: {"', b'data: {\ndata: "'),
    }

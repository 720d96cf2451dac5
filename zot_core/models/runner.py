"""The request runner: from a Request to the parts of its answer, over HTTP or a provider's own stream.

It sends the provider events, adds the credential, tries again what may pass, and turns every failure into the last
part: it never raises, cancellation aside. Knows no wire format and no provider; imports no HTTP library.
"""

from __future__ import annotations

import asyncio
import inspect
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Protocol

from zot_core.models.attempt import crashed, http_parts, prepare, shown_url
from zot_core.models.failures import Origin, explain, network_failure, no_key
from zot_core.models.growing import Encoder, Grown
from zot_core.models.projection import project
from zot_core.net.retry import RetryPolicy, delay_before_retry
from zot_core.types.failure import Failure, RunFailed
from zot_core.types.record import record
from zot_core.types.specs import ApiFormat, ModelSpec, Prices, ProviderSpec, resolve
from zot_core.types.stream import Done, Failed, Retrying, StreamPart, UsageUpdate
from zot_core.types.usage import Usage

if TYPE_CHECKING:
    from zot_core.events.base import Fact
    from zot_core.models.protocol import Request

SILENT_OVERFLOW_OUTPUT = 16
"""A server that cuts an answer off after at most so many tokens, with the window full, was sent too much."""


class Credential(Protocol):
    """A key and where it came from, in words for a person: `--api-key`, `$OPENAI_API_KEY`, a path of auth.json.

    `also`, where it has that, names the places of other keys, which lost; `kind` is `oauth` for a login's token."""

    @property
    def key(self) -> str: ...
    @property
    def source(self) -> str: ...


CredentialFor = Callable[[ProviderSpec], Credential | Awaitable[Credential | None] | None]


class ProviderSink(Protocol):
    """The part of the agent's sink, or of the pipeline, that a request needs."""

    def wants(self, hook: str) -> bool: ...
    async def tell(self, event: Fact) -> None: ...
    async def gate(self, event: Any) -> Any: ...


class Response(Protocol):
    """A response whose body is still coming; `zot_core.net.client.HttpResponse`."""

    status: int
    headers: Mapping[str, str]

    @property
    def idle(self) -> float: ...
    def chunks(self) -> AsyncIterator[bytes]: ...
    async def read(self, limit: int = ...) -> bytes: ...
    async def drain(self, seconds: float) -> None: ...


class Client(Protocol):
    """What sends a request; `zot_core.net.client.HttpClient`."""

    def stream(
        self, method: str, url: str, *, headers: Mapping[str, str], content: bytes | None = None
    ) -> AbstractAsyncContextManager[Response]: ...


@record(kw_only=True)
class RunnerConfig:
    """What a Runner leans on. `client` is called when the first HTTP request is made, so that an HTTP library is
    imported no sooner. `expand` resolves `$VAR` in header values; `missing` says how to give a key,
    `formats` which wire formats there are. `sleep` and `dice` are for tests."""

    client: Callable[[], Client]
    provider: Callable[[str], ProviderSpec | None]
    format: Callable[[str], ApiFormat | None]
    credential: CredentialFor
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    expand: Callable[[str], str] = str
    missing: Callable[[ProviderSpec], str] = lambda spec: ""
    formats: Callable[[], Sequence[str]] = lambda: ()
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    dice: Callable[[], float] = random.random


class Runner:
    """Makes model calls for one session."""

    def __init__(self, config: RunnerConfig, sink: ProviderSink) -> None:
        self._config = config
        self._sink = sink
        self._memory: _Memory | None = None

    async def stream(self, request: Request, provider: ProviderSpec | None = None) -> AsyncGenerator[StreamPart, None]:
        """The parts of the answer, Done or Failed at last. Without `provider` it is the one that the model names.

        A failure that may pass is announced by Retrying, before the wait; what was told before is void then. Cancelling
        ends the request or the wait at once.
        """
        spec = provider or self._config.provider(request.model.provider)
        if spec is None:
            yield Failed(Failure(kind="bad_request", message=f"unknown provider {request.model.provider!r}"))
            return
        memory = self._memory_for(request)
        messages = project(request.messages, request.model, memory.projected)
        request = replace(request, messages=messages, grown=memory.rows)
        origin = Origin(
            provider=spec.id, model=request.model.id, url=shown_url(request.model.base_url or spec.base_url)
        )
        try:
            attempt, origin_now = await self._source(request, spec, origin, memory)
        except RunFailed as error:
            yield Failed(error.failure)
            return
        policy = self._config.policy
        tries = 0
        while True:
            tries += 1
            failure: Failure | None = None
            tally = _Tally(request)
            async with aclosing(attempt()) as batches:
                async for batch in batches:
                    for part in batch:
                        if type(part) in _RARE:
                            part = tally.checked(part)
                            if isinstance(part, Failed):
                                failure = part.failure
                                break
                        yield part
            if failure is None:
                return
            failure = explain(failure, origin_now(), policy.longest)
            delay = delay_before_retry(policy, tries, failure, self._config.dice())
            if delay is None:
                yield Failed(failure)
                return
            yield Retrying(tries, delay, failure)
            await self._config.sleep(delay)

    async def _source(
        self, request: Request, spec: ProviderSpec, origin: Origin, memory: _Memory
    ) -> tuple[Callable[[], AsyncGenerator[Sequence[StreamPart], None]], Callable[[], Origin]]:
        """What makes one attempt, and what tells the origin of the last one, with the key's source. Raises RunFailed
        for what no retry can mend."""
        if spec.stream is not None:
            return (lambda: self._own_parts(request, spec)), lambda: origin
        api = self._config.format(request.model.api or spec.api)
        if api is None:
            name = request.model.api or spec.api
            known = ", ".join(self._config.formats()) or "none"
            message = f"{spec.id}: no plugin speaks the wire format {name!r}; known formats are: {known}"
            raise RunFailed(Failure(kind="bad_request", message=message))
        if not origin.url:
            raise RunFailed(Failure(kind="bad_request", message=f"{spec.id} has no address: give --base-url URL"))
        found = self._config.credential(spec)
        credential = await found if inspect.isawaitable(found) else found
        if credential is None and not spec.keyless and spec.authorize is None:
            raise RunFailed(no_key(spec.id, spec.env, self._config.missing(spec)))
        key = credential.key if credential is not None else ""
        source = credential.source if credential is not None else ""
        login = getattr(credential, "kind", "") == "oauth"
        call = await prepare(request, spec, api, key, self._sink, self._config.expand, memory.encoder, login)
        others = tuple(getattr(credential, "also", ()))
        origin = replace(origin, key_source=source, other_keys=others, secrets=call.secrets)
        return (lambda: http_parts(call, self._config.client(), self._sink)), lambda: call.sent.over(origin)

    def _memory_for(self, request: Request) -> _Memory:
        """What was made for the agent's conversation with this model; another request gets an empty one."""
        if request.purpose != "agent":
            return _Memory(request.model)
        if self._memory is None or self._memory.model != request.model:
            self._memory = _Memory(request.model)
        return self._memory

    async def _own_parts(self, request: Request, spec: ProviderSpec) -> AsyncGenerator[Sequence[StreamPart], None]:
        """Parts of a provider that speaks no HTTP; its parts are its stream events too."""
        watched = self._sink.wants("provider_stream_event")
        stream: Any = None
        try:
            stream = resolve(spec.stream)(request)
            async for part in stream:
                if watched:
                    await _tell_part(self._sink, request, part)
                yield (part,)
                if isinstance(part, (Done, Failed)):
                    return
            yield (Failed(network_failure("the stream ended before the answer was complete")),)
        except RunFailed as error:
            yield (Failed(error.failure),)
        except Exception as error:  # a plugin's code
            yield (Failed(crashed("provider", error)),)
        finally:
            if hasattr(stream, "aclose"):
                await stream.aclose()


class _Memory:
    """What is made of a conversation's messages once, and not once for each request."""

    def __init__(self, model: ModelSpec) -> None:
        self.model = model
        self.projected = Grown()
        self.rows = Grown()
        self.encoder = Encoder()


def cost_of(usage: Usage, prices: Prices | None) -> Usage:
    """`usage` with its cost in US dollars by `prices`; a cost that the provider told stays."""
    if prices is None or usage.cost:
        return usage
    sent = usage.input + usage.cache_read + usage.cache_write
    for above, tier in sorted(prices.tiers, key=lambda one: one[0]):
        if sent > above:
            prices = tier
    cost = (
        usage.input * prices.input
        + usage.output * prices.output
        + usage.cache_read * prices.cache_read
        + usage.cache_write * prices.cache_write
    ) / 1_000_000
    return replace(usage, cost=cost)


_RARE = frozenset({UsageUpdate, Done, Failed})
"""The parts that the runner looks into; deltas are many and pass as they are."""


class _Tally:
    """What one attempt used: adds costs, and sees the overflow that some servers do not say."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._usage: Usage | None = None

    def checked(self, part: StreamPart) -> StreamPart:
        if isinstance(part, UsageUpdate):
            self._usage = cost_of(part.usage, self._request.model.prices)
            return UsageUpdate(self._usage)
        if isinstance(part, Done) and part.stop == "length" and self._is_full():
            return Failed(Failure(kind="context_overflow", message="the model's window is full, it could not answer"))
        return part

    def _is_full(self) -> bool:
        """Some servers cut off what does not fit, and answer 200 with finish `length` after a token."""
        usage = self._usage
        if usage is None or usage.output > SILENT_OVERFLOW_OUTPUT:
            return False
        return usage.total >= 0.98 * self._request.model.context_window


async def _tell_part(sink: ProviderSink, request: Request, part: StreamPart) -> None:
    from zot_core.events.provider import ProviderStreamEventEvent  # only when somebody listens

    model = request.model
    await sink.tell(ProviderStreamEventEvent(provider=model.provider, model=model.id, api=model.api, data=part))

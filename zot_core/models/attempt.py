"""One HTTP request to a model: made ready once, sent as often as the runner says, read as server-sent events.

Knows the wire format only as its two functions. The runner decides what a failure means for the next try.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from zot_core._version import __version__
from zot_core.models.failures import Origin, classify, error_word, failure_of_response, is_error_body, network_failure
from zot_core.models.growing import Encoder, encode
from zot_core.models.protocol import Authorized, Decoder, HttpRequest, Outgoing, Request, ServerEvent, StreamParser
from zot_core.net.sse import BrokenStream, SseDecoder, SseOverflow
from zot_core.types.failure import Failure, RunFailed
from zot_core.types.record import record
from zot_core.types.safe_text import error_text
from zot_core.types.specs import ApiFormat, ProviderSpec, resolve
from zot_core.types.stream import Done, Failed, StreamPart

if TYPE_CHECKING:
    from zot_core.models.runner import Client, ProviderSink, Response

DRAIN_SECONDS = 0.25
"""How long the rest of a complete answer is waited for, so that its connection can be used again."""
_LAST = frozenset({Done, Failed})
_VERSION = re.compile(r"^v\d+[a-z0-9]*$")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")
_CONNECTION_HEADERS = frozenset({"content-length", "transfer-encoding"})
HEAD = 1 << 20
"""Bytes of a body without an event that are kept, to say what it is."""


class Sent:
    """What the last attempt of a call had from its provider's `authorize`, for messages about it."""

    __slots__ = ("secrets", "source", "url")

    def __init__(self) -> None:
        self.url = ""
        self.source = ""
        self.secrets: tuple[str, ...] = ()

    def over(self, origin: Origin) -> Origin:
        """`origin` as that attempt made it."""
        return replace(
            origin,
            url=shown_url(self.url) if self.url else origin.url,
            key_source=self.source or origin.key_source,
            secrets=(*origin.secrets, *self.secrets),
        )


@record(kw_only=True)
class Call:
    """A request that is ready to be sent, after all who may change it."""

    request: Request
    url: str
    headers: Mapping[str, str]
    content: bytes
    parser: Callable[[], StreamParser]
    api: ApiFormat
    provider: ProviderSpec
    key: str = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    sent: Sent


async def prepare(
    request: Request,
    spec: ProviderSpec,
    api: ApiFormat,
    key: str,
    sink: ProviderSink,
    expand: Callable[[str], str],
    encoder: Encoder,
    login: bool = False,
) -> Call:
    """The call for `request`: built by its format, then offered to the plugins, headers first. `login` says that `key`
    is a login's token. Raises RunFailed."""
    offered = sink.wants("before_provider_request")
    if offered:
        request = replace(request, grown=None)  # a handler may do to the payload what it likes
    try:
        built: HttpRequest = resolve(api.build)(request)
    except Exception as error:  # a plugin's code
        raise RunFailed(crashed("wire format", error)) from error
    auth = built.login if login and built.login else built.auth
    headers = _headers(replace(built, auth=auth), request, spec, key, expand)
    model = request.model
    if sink.wants("before_provider_headers"):
        from zot_core.events.provider import BeforeProviderHeadersEvent  # only when somebody listens

        outcome = await sink.gate(BeforeProviderHeadersEvent(provider=spec.id, model=model.id, headers=dict(headers)))
        headers = {name.lower(): value for name, value in outcome.event.headers.items() if value is not None}
    payload = built.payload
    if offered:
        from zot_core.events.provider import BeforeProviderRequestEvent

        event = BeforeProviderRequestEvent(provider=spec.id, model=model.id, api=api.name, payload=payload)
        payload = (await sink.gate(event)).event.payload
    try:
        url = join_url(model.base_url or spec.base_url, built.path)
        content = encode(payload) if offered else encoder.encode(payload)
    except (TypeError, ValueError) as error:
        raise RunFailed(Failure(kind="internal", message=f"the request cannot be sent: {error}")) from error
    _check_headers(headers)
    return Call(
        request=request,
        url=url,
        headers=headers,
        content=content,
        parser=lambda: resolve(api.parser)(request),
        api=api,
        provider=spec,
        key=key,
        secrets=tuple(s for s in (key, *_secret_values(headers)) if s),
        sent=Sent(),
    )


async def http_parts(call: Call, client: Client, sink: ProviderSink) -> AsyncGenerator[Sequence[StreamPart], None]:
    """The parts of one attempt, a batch for each piece of the body; the last part is Done or Failed."""
    from zot_core.net.client import NetError  # the client's module is loaded by now, and not before

    parser: StreamParser | None = None
    url = call.url
    try:
        url, headers = await _authorized(call)
        async with client.stream("POST", url, headers=headers, content=call.content) as response:
            if sink.wants("after_provider_response"):
                await _tell_response(sink, call, response)
            if not 200 <= response.status < 300:
                body = await response.read(1 << 16)
                yield (Failed(failure_of_response(response.status, response.headers, body)),)
                return
            if _is_page(response.headers.get("content-type", "")):
                yield (Failed(_failure_of_document(await response.read(), response.headers)),)
                return
            parser = call.parser()  # its code is imported here, while the model thinks
            async for batch in _body_parts(call, parser, response, sink):
                if isinstance(batch[-1], Done):
                    await response.drain(DRAIN_SECONDS)
                yield batch
    except NetError as error:
        # An answer that had said how it ends is complete, whatever became of the connection afterwards
        parts = list(parser.finish()) if parser is not None else []
        if parts and isinstance(parts[-1], Done):
            yield parts
        elif error.kind == "url":
            yield (Failed(Failure(kind="bad_request", message=f"{shown_url(url)} is no address to send to: {error}")),)
        else:
            yield (Failed(network_failure(str(error))),)
    except Exception as error:  # decoder and parser are a plugin's
        yield (Failed(_failure_of_error(error)),)


def _failure_of_error(error: Exception) -> Failure:
    if isinstance(error, RunFailed):
        return error.failure
    if isinstance(error, BrokenStream):
        return network_failure(f"the answer came damaged: {error}")
    if isinstance(error, SseOverflow):
        return Failure(kind="provider", message=str(error))
    return crashed("wire format", error)


def crashed(what: str, error: Exception) -> Failure:
    """The failure that an error in a plugin's code is."""
    return Failure(kind="internal", message=f"the code of the {what} failed with {error_text(error)}")


async def _authorized(call: Call) -> tuple[str, Mapping[str, str]]:
    """Address and headers of one attempt, after the provider's own `authorize`. Raises RunFailed."""
    if call.provider.authorize is None:
        return call.url, call.headers
    outgoing = Outgoing(
        provider=call.provider,
        model=call.request.model,
        url=call.url,
        headers=call.headers,
        content=call.content,
        key=call.key,
    )
    try:
        answer: Authorized = await resolve(call.provider.authorize)(outgoing)
    except RunFailed:
        raise
    except Exception as error:  # a plugin's code
        raise RunFailed(crashed("provider", error)) from error
    headers = {**call.headers, **{name.lower(): value for name, value in answer.headers.items()}}
    _check_headers(headers)
    sent = call.sent
    sent.url, sent.source = answer.url, answer.source
    sent.secrets = (*answer.secrets, *_secret_values(headers))
    return answer.url or call.url, headers


async def _body_parts(
    call: Call, parser: StreamParser, response: Response, sink: ProviderSink
) -> AsyncGenerator[Sequence[StreamPart], None]:
    decoder, is_document = _decoder(call, response.headers.get("content-type", ""))
    watched = sink.wants("provider_stream_event")
    head = b""
    seen = False
    silence = _Silence(response.idle)
    async for chunk in response.chunks():
        events = decoder.feed(chunk)
        seen = seen or bool(events)
        if silence.lasts(bool(events)):
            yield (Failed(network_failure(f"nothing but keep-alives came for {response.idle:g} s")),)
            return
        if not seen and len(head) < HEAD:
            head += chunk
        if watched:
            await _tell_events(sink, call, events)
        batch, ended = _feed(parser, events)
        if batch:
            yield batch
        if ended:
            return
        silence.resume()
    events = decoder.finish()
    if not (seen or events):
        said = _failure_of_document if is_document else _failure_of_body
        if (failure := said(head, response.headers)) is not None:
            yield (Failed(failure),)
            return
    if watched:
        await _tell_events(sink, call, events)
    batch, ended = _feed(parser, events)
    if not ended:
        batch.extend(parser.finish())
    yield batch if batch else (Failed(network_failure("the answer ended before its end")),)


class _Silence:
    """How long no event came. A server or a proxy that sends comments alone keeps a connection awake that nobody
    answers on; only time spent waiting for the network counts, not what the reader takes."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._waited = 0.0
        self._since = time.monotonic()

    def lasts(self, spoken: bool) -> bool:
        """A piece came, with events or without: whether the silence was too long."""
        self._waited = 0.0 if spoken else self._waited + time.monotonic() - self._since
        return self._waited > self._limit

    def resume(self) -> None:
        """The next piece is waited for from now on."""
        self._since = time.monotonic()


def _feed(parser: StreamParser, events: Sequence[ServerEvent]) -> tuple[list[StreamPart], bool]:
    """The parts of some events up to the last word, and whether that was among them."""
    batch: list[StreamPart] = []
    for event in events:
        for part in parser.feed(event):
            batch.append(part)
            if type(part) in _LAST:
                return batch, True
    return batch, False


def join_url(base: str, path: str) -> str:
    """`path` under `base`. A version at the start of `path` is left out where `base` has one anywhere, and a base that
    names the whole endpoint already is taken as it is. A query in `base` stays, that of `path` follows it."""
    parts = urlsplit(base.strip())
    path, _, query = path.partition("?")
    segments = [segment for segment in parts.path.split("/") if segment]
    tail = [segment for segment in path.split("/") if segment]
    if tail and _VERSION.match(tail[0]) and any(_VERSION.match(segment) for segment in segments):
        tail = tail[1:]
    if tail and segments[-len(tail) :] != tail:
        segments.extend(tail)
    query = "&".join(piece for piece in (parts.query, query) if piece)
    return urlunsplit((parts.scheme, parts.netloc, "/" + "/".join(segments), query, ""))


def shown_url(url: str) -> str:
    """A URL as a message may show it: without a password or a query, which may hold a key."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return "the base URL"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _headers(
    built: HttpRequest, request: Request, spec: ProviderSpec, key: str, expand: Callable[[str], str]
) -> dict[str, str]:
    """The format's own first, then the key, then what provider and model say: the person's word is the last."""
    headers = {"content-type": "application/json", "accept": "text/event-stream", "user-agent": f"zot/{__version__}"}
    headers.update((name.lower(), value) for name, value in built.headers.items())
    if key:
        headers.update((name.lower(), value.replace("{key}", key)) for name, value in built.auth.items())
    for source in (spec.headers, request.model.headers):
        headers.update((name.lower(), expand(value)) for name, value in source.items())
    return headers


def _check_headers(headers: Mapping[str, str]) -> None:
    """Raises RunFailed for what no request can carry: retrying would not mend it. Never with a value, which may be the
    key."""
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            why = f"{name!r} is no name for a header"
        elif name in _CONNECTION_HEADERS:
            why = f"the header {name!r} belongs to the connection and cannot be set"
        elif not isinstance(value, str) or not value.isascii() or any(ord(char) < 32 for char in value):
            why = f"the value of the header {name!r} is not plain ASCII text"
        else:
            continue
        message = f"the request cannot be sent: {why}; see `headers` in models.json"
        raise RunFailed(Failure(kind="bad_request", message=message))


def _secret_values(headers: Mapping[str, str]) -> list[str]:
    return [
        value.removeprefix("Bearer ")
        for name, value in headers.items()
        if name in {"authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"}
        or "key" in name
        or "token" in name
    ]


def _kind(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _is_page(content_type: str) -> bool:
    """Whether the body is a page for people, whatever is in it."""
    return _kind(content_type) in {"text/html", "application/xhtml+xml"}


def _decoder(call: Call, content_type: str) -> tuple[Decoder, bool]:
    """What reads the body, and whether it is one JSON document, unless events come all the same: some servers call
    their events JSON."""
    kind = _kind(content_type)
    own = call.api.decoders.get(kind)
    return (SseDecoder(), kind.endswith(("/json", "+json"))) if own is None else (resolve(own)(), False)


def _failure_of_document(body: bytes, headers: Mapping[str, str]) -> Failure:
    return _failure_of_body(body, headers) or Failure(
        kind="provider", message=f"sent {headers.get('content-type', 'something')} instead of a stream"
    )


def _failure_of_body(body: bytes, headers: Mapping[str, str]) -> Failure | None:
    """What a body that holds no event says: an error as JSON, or a page of something else."""
    text = body.strip()
    if text.startswith((b"{", b"[")):
        try:
            value = json.loads(text)
        except ValueError:
            return network_failure("the answer broke off within a JSON document")
        except RecursionError:
            return Failure(kind="provider", message="the server sent a JSON document that is nested without end")
        if is_error_body(value[0] if isinstance(value, list) and value else value):
            return classify(error_word(value))
        return Failure(kind="provider", message="the server sent one JSON document instead of a stream")
    if text.startswith(b"<"):
        failure = failure_of_response(200, headers, body)
        return Failure(kind="bad_request", message=f"{failure.message}; check the base URL")
    return None


async def _tell_response(sink: ProviderSink, call: Call, response: Response) -> None:
    from zot_core.events.provider import AfterProviderResponseEvent  # only when somebody listens

    model = call.request.model
    event = AfterProviderResponseEvent(
        provider=model.provider, model=model.id, status=response.status, headers=dict(response.headers)
    )
    await sink.tell(event)


async def _tell_events(sink: ProviderSink, call: Call, events: Sequence[ServerEvent]) -> None:
    from zot_core.events.provider import ProviderStreamEventEvent  # only when somebody listens

    model = call.request.model
    for _, data in events:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            value = data
        event = ProviderStreamEventEvent(provider=model.provider, model=model.id, api=call.api.name, data=value)
        await sink.tell(event)

"""The one HTTP client of a process: connections, TLS, proxies and time-outs are shared by everything that speaks HTTP.

httpx is imported here and nowhere else in the core. Errors leave as `NetError`, so that nobody else has to know it.
Must not know a provider or a credential.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Literal
from urllib.request import getproxies

from zot_core.types.record import record

# httpx/__init__ imports its own command line (click, rich, pygments) when those are installed: 97 modules and 35 of
# 100 ms, and zot needs none of it. None in sys.modules makes that one import fail in the way that httpx expects; it is
# taken out again so that whoever wants the command line still gets it. tests/unit/net/test_client.py holds this.
_absent = "httpx" not in sys.modules and "httpx._main" not in sys.modules
if _absent:
    sys.modules["httpx._main"] = None  # type: ignore[assignment]
import httpx  # noqa: E402

if _absent:
    del sys.modules["httpx._main"]

NetErrorKind = Literal["connect", "timeout", "cut", "url"]


class NetError(Exception):
    """The network failed. `kind` is `connect` (no connection), `timeout` (nothing came in time), `cut` (the
    connection broke) or `url` (the address is none)."""

    def __init__(self, kind: NetErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind: NetErrorKind = kind


@record(kw_only=True)
class Timeouts:
    """Seconds: until a connection stands, and until the first or the next byte comes."""

    connect: float = 10.0
    idle: float = 120.0


class HttpResponse:
    """Status and headers (names in lower case) of a response whose body is read as it comes."""

    __slots__ = ("_chunks", "_response", "_timeouts", "_watcher", "headers", "status")

    def __init__(self, response: httpx.Response, timeouts: Timeouts) -> None:
        self._response = response
        self._timeouts = timeouts
        self._chunks: AsyncIterator[bytes] | None = None
        self._watcher: Callable[[bytes], None] | None = None
        self.status: int = response.status_code
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in response.headers.items()}

    @property
    def idle(self) -> float:
        """Seconds of silence after which the body counts as broken off."""
        return self._timeouts.idle

    def watch(self, watcher: Callable[[bytes], None]) -> None:
        """Lets `watcher` see each piece of the body before it is given out."""
        self._watcher = watcher

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body, decompressed, in pieces as they arrive. Raises NetError when it breaks off."""
        if self._chunks is None:
            # What is not compressed needs no decoder, which is a generator more for every piece
            plain = "content-encoding" not in self.headers
            self._chunks = self._response.aiter_raw() if plain else self._response.aiter_bytes()
        try:
            async for chunk in self._chunks:
                if self._watcher is not None:
                    self._watcher(chunk)
                yield chunk
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise _net_error(error, self._timeouts) from error

    async def read(self, limit: int = 1 << 20) -> bytes:
        """The body, at most about `limit` bytes of it."""
        parts: list[bytes] = []
        size = 0
        async for chunk in self.chunks():
            parts.append(chunk)
            size += len(chunk)
            if size >= limit:
                break
        return b"".join(parts)

    async def drain(self, seconds: float) -> None:
        """Reads what is left for at most `seconds`, so that the connection can serve the next request."""
        try:
            async with asyncio.timeout(seconds):
                async for _ in self.chunks():
                    pass
        except (TimeoutError, NetError):
            return  # the answer is complete; the connection is closed instead of kept


class HttpClient:
    """Builds its connections when they are first needed; `aclose` ends them. One for the process, in one event loop."""

    def __init__(self, timeouts: Timeouts | None = None, *, proxy: str = "", verify: bool = True) -> None:
        """`proxy` is used for everything; without it the environment's HTTP_PROXY, HTTPS_PROXY and NO_PROXY hold."""
        self.timeouts = timeouts or Timeouts()
        self._proxy = proxy
        self._verify = verify
        self._plain: httpx.AsyncClient | None = None
        self._secure: httpx.AsyncClient | None = None
        self._proxied: bool | None = None

    @asynccontextmanager
    async def stream(
        self, method: str, url: str, *, headers: Mapping[str, str], content: bytes | None = None
    ) -> AsyncIterator[HttpResponse]:
        """Sends a request and gives its response while the body is still coming. Redirects are not followed, because
        the headers may hold a key. Raises NetError."""
        client = self._client_for(url)
        try:
            request = client.build_request(method, url, headers=dict(headers), content=content)
            response = await client.send(request, stream=True)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _net_error(error, self.timeouts) from error
        except (ExceptionGroup, OverflowError, UnicodeError) as error:
            # What httpx lets through of the layers below it: a port above 65535, a name that IDNA refuses
            raise NetError("url", _innermost(error)) from error
        try:
            yield HttpResponse(response, self.timeouts)
        finally:
            await response.aclose()

    async def aclose(self) -> None:
        """Closes all connections; the client can be used again afterwards."""
        clients = [client for client in (self._plain, self._secure) if client is not None]
        self._plain = self._secure = None
        for client in clients:
            await client.aclose()

    def _client_for(self, url: str) -> httpx.AsyncClient:
        """A plain `http:` URL gets a client without TLS, because reading all root certificates takes 20 to 60 ms. That
        client refuses `https:`, and is not used where a proxy is set, which may speak TLS.

        HTTP/1.1 throughout: a session has one request at a time on one kept connection, which HTTP/2 makes no faster,
        and h2 takes 12 ms to import."""
        if self._proxied is None:
            # The environment is read once: looking through it for every request costs as much as sending one.
            self._proxied = bool(self._proxy or getproxies().keys() - {"no"})
        if url[:5].lower() != "http:" or self._proxied:
            if self._secure is None:
                from zot_core.net.tls import tls_context  # a local server is spoken to without

                try:
                    context = tls_context(self._verify)
                except OSError as error:
                    raise NetError("connect", str(error)) from error
                try:
                    self._secure = httpx.AsyncClient(
                        verify=context, proxy=self._proxy or None, timeout=self._httpx_timeout()
                    )
                except (ValueError, ImportError, httpx.InvalidURL) as error:
                    raise NetError("connect", _proxy_word(error)) from error
            return self._secure
        if self._plain is None:
            self._plain = httpx.AsyncClient(
                verify=False, mounts={"https://": _NoTls()}, timeout=self._httpx_timeout(), trust_env=False
            )
        return self._plain

    def _httpx_timeout(self) -> httpx.Timeout:
        return httpx.Timeout(self.timeouts.idle, connect=self.timeouts.connect, pool=None)


class _NoTls(httpx.AsyncBaseTransport):
    """Stands where the plain client would speak TLS without checking certificates."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        raise httpx.UnsupportedProtocol(f"no TLS on this connection: {request.url.host}")


def _innermost(error: Exception) -> str:
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return str(error).rstrip(".") or type(error).__name__


def _proxy_word(error: Exception) -> str:
    """Why no client can be made of the proxy settings; never with their text, which may hold a password."""
    if isinstance(error, ImportError):
        return "a SOCKS proxy needs the package socksio: install it beside zot, or name an HTTP proxy"
    return "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY or NO_PROXY, or the setting http.proxy, holds what is no address"


def _net_error(error: Exception, timeouts: Timeouts) -> NetError:
    detail = str(error).strip()
    if isinstance(error, httpx.ConnectTimeout):
        return NetError("connect", f"no connection within {timeouts.connect:g} s")
    if isinstance(error, httpx.TimeoutException):
        return NetError("timeout", f"nothing came for {timeouts.idle:g} s")
    if isinstance(error, (httpx.ConnectError, httpx.ProxyError)):
        return NetError("connect", detail or "no connection")
    if isinstance(error, (httpx.InvalidURL, httpx.UnsupportedProtocol)):
        return NetError("url", detail or "the address is not valid")
    return NetError("cut", detail or "the connection was closed before the answer was complete")

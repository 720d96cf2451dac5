"""The shared client: what it imports, what it builds, how its errors read."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from mock_provider.server import Hold, MockServer, Reply, text

from zot_core.net import tls
from zot_core.net.client import HttpClient, HttpResponse, NetError, Timeouts


@asynccontextmanager
async def client(**timeouts: float) -> AsyncIterator[HttpClient]:
    one = HttpClient(Timeouts(**timeouts))
    try:
        yield one
    finally:
        await one.aclose()


async def body(response: HttpResponse) -> bytes:
    return b"".join([chunk async for chunk in response.chunks()])


async def get(one: HttpClient, url: str) -> bytes:
    async with one.stream("POST", url, headers={"content-type": "application/json"}, content=b"{}") as response:
        return await body(response)


def test_importing_it_leaves_httpx_own_command_line_alone_but_usable() -> None:
    code = (
        "import sys, zot_core.net.client, httpx\n"
        "assert not {'click', 'rich', 'pygments', 'httpx._main'} & set(sys.modules), sorted(sys.modules)\n"
        "import httpx._main\n"
        "assert httpx._main.main\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_plain_address_gets_no_tls_context_and_https_gets_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bool] = []
    real = tls.tls_context
    monkeypatch.setattr(tls, "tls_context", lambda *options: made.append(True) or real(*options))

    async def run() -> None:
        async with client() as one:
            with MockServer([text("a", strict=False), text("b", strict=False)]) as server:
                await get(one, f"{server.url}/chat/completions")
                await get(one, f"{server.url}/chat/completions")
                assert not made
                assert server.connections == 1
                with pytest.raises(NetError):
                    await get(one, "https://127.0.0.1:1/")
                assert made == [True]

    asyncio.run(run())


def test_the_plain_client_never_speaks_tls() -> None:
    async def run() -> None:
        async with client() as one:
            plain = one._client_for("http://127.0.0.1/")
            with pytest.raises(httpx.UnsupportedProtocol):
                await plain.get("https://127.0.0.1:1/")

    asyncio.run(run())


def test_a_proxy_of_the_environment_is_used_also_for_plain_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        with MockServer([text("through the proxy", strict=False)]) as server:
            monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.port}")
            async with client() as one:
                await get(one, "http://127.0.0.2:9/v1/chat/completions")
            assert server.requests[0].path == "http://127.0.0.2:9/v1/chat/completions"

    asyncio.run(run())


def test_no_connection_is_said_so() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]

        async def run() -> NetError:
            async with client() as one:
                with pytest.raises(NetError) as caught:
                    await get(one, f"http://127.0.0.1:{port}/")
                return caught.value

        assert asyncio.run(run()).kind == "connect"


@pytest.mark.parametrize(
    "url", ["", "no address", "ftp://127.0.0.1/", "http://", "http://127.0.0.1:99999/", "http://xn--.test/"]
)
def test_what_is_no_address_is_said_so(url: str) -> None:
    async def run() -> str:
        async with client() as one:
            with pytest.raises(NetError) as caught:
                await get(one, url)
            return caught.value.kind

    assert asyncio.run(run()) == "url"


def test_silence_ends_after_the_idle_time() -> None:
    hold = Hold()

    async def run() -> NetError:
        with MockServer([Reply(body=["data: x\n\n", hold], strict=False)]) as server:
            async with client(idle=0.05) as one:
                with pytest.raises(NetError) as caught:
                    await get(one, f"{server.url}/chat/completions")
                hold.release()
                return caught.value

    error = asyncio.run(run())
    assert (error.kind, str(error)) == ("timeout", "nothing came for 0.05 s")


def test_a_cut_connection_is_said_so() -> None:
    async def run() -> str:
        with MockServer([Reply(body=["data: x\n\n"], cut=True, strict=False)]) as server:
            async with client() as one:
                with pytest.raises(NetError) as caught:
                    await get(one, f"{server.url}/chat/completions")
                return caught.value.kind

    assert asyncio.run(run()) == "cut"

"""Whose certificates are believed, and which way a request takes."""

from __future__ import annotations

import asyncio
import importlib.util
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from support.proxying import CERTIFICATE, Proxy, TlsServer

from zot_core.net.client import HttpClient, NetError, Timeouts
from zot_core.net.tls import tls_context


def get(url: str, **options: object) -> bytes:
    async def run() -> bytes:
        client = HttpClient(Timeouts(connect=5, idle=5), **options)  # type: ignore[arg-type]
        try:
            async with client.stream("GET", url, headers={}) as response:
                return await response.read()
        finally:
            await client.aclose()

    return asyncio.run(run())


def test_a_certificate_that_nobody_vouches_for_is_refused() -> None:
    with TlsServer() as server, pytest.raises(NetError) as caught:
        get(server.url)
    assert caught.value.kind == "connect" and "certificate" in str(caught.value).lower()
    assert server.served == 0


def test_the_file_that_the_environment_names_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with TlsServer() as server:
        assert get(server.url) == b"ok"


def test_a_folder_of_certificates_is_believed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    with TlsServer() as server, pytest.raises(NetError):
        get(server.url)


def test_a_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone.pem"))
    with TlsServer() as server, pytest.raises(NetError, match=r"SSL_CERT_FILE names .*gone\.pem"):
        get(server.url)


def test_without_checks_everybody_is_believed() -> None:
    with TlsServer() as server:
        assert get(server.url, verify=False) == b"ok"


def test_the_systems_store_is_asked_and_is_loaded_for_https_only() -> None:
    context = tls_context()
    assert context.verify_mode is ssl.CERT_REQUIRED and context.check_hostname
    code = "import sys, zot_core.net.client\nassert not {'truststore', 'zot_core.net.tls'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_https_goes_through_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with TlsServer() as server, Proxy() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        assert get(server.url) == b"ok"
        assert proxy.asked == [f"CONNECT 127.0.0.1:{server.port} HTTP/1.1"]


def test_http_goes_through_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with Proxy() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        assert get("http://model.invalid/v1") == b"ok"
        assert proxy.asked == ["GET http://model.invalid/v1 HTTP/1.1"]


@pytest.mark.parametrize("name", ["NO_PROXY", "no_proxy"])
def test_hosts_that_are_excepted_are_reached_directly(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with TlsServer() as server, Proxy() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        monkeypatch.setenv(name, "127.0.0.1,.internal")
        assert get(server.url) == b"ok"
        assert proxy.asked == []


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("HTTP_PROXY", "http://me:secret-word@127.0.0.1:port", "no address"),
        ("NO_PROXY", "127.0.0.1:port", "no address"),
        ("ALL_PROXY", "socks5://127.0.0.1:9", "socksio"),
    ],
)
def test_a_proxy_that_is_none_is_said_so(monkeypatch: pytest.MonkeyPatch, name: str, value: str, word: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv(name, value)
    if name == "ALL_PROXY" and importlib.util.find_spec("socksio"):
        pytest.skip("a SOCKS proxy works here")
    with pytest.raises(NetError) as caught:
        get("http://model.invalid/")
    assert caught.value.kind == "connect"
    assert word in str(caught.value) and "secret-word" not in str(caught.value)


def test_a_proxy_that_is_down_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(NetError) as caught:
            get("https://model.invalid/")
    assert caught.value.kind == "connect"

"""Logins are renewed a minute ahead, once for all processes, and no token is ever seen."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from mock_provider.server import MockServer, calls, text

from zot_core import ModelSpec, ProviderSpec, hookimpl
from zot_core.types.failure import RunFailed
from zot_core.types.login import OAuthSpec, Tokens

Open = Callable[..., Any]
OLD, NEW = "old-access-token-1111", "new-access-token-2222"
OLD_REFRESH, NEW_REFRESH = "old-refresh-token-3333", "new-refresh-token-4444"
CLIENT = Path(__file__).parents[2] / "support" / "oauth_client.py"


class TokenServer:
    """Renews `OLD_REFRESH` once, as servers that rotate do; a second use of it ends the login."""

    def __init__(self) -> None:
        self.forms: list[dict[str, list[str]]] = []
        self.answer: tuple[int, dict[str, Any]] | None = None
        self.slow = threading.Event()
        self.slow.set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
                outer.forms.append(form)
                outer.slow.wait(10)
                status, body = outer.answer or outer.renew(form)
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/token"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def renew(self, form: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
        if form["refresh_token"] != [OLD_REFRESH] or len(self.forms) > 1:
            return 400, {"error": "invalid_grant", "error_description": f"token {form['refresh_token'][0]} was used"}
        return 200, {"access_token": NEW, "refresh_token": NEW_REFRESH, "expires_in": 3600, "token_type": "Bearer"}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[TokenServer]:
    one = TokenServer()
    yield one
    one.close()


def login(world: Any, *, left: float, shape: str = "flat") -> Path:
    """auth.json with a login that has `left` seconds."""
    end = time.time() + left
    flat = {"type": "oauth", "access": OLD, "refresh": OLD_REFRESH, "expires": int(end * 1000), "note": "kept"}
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(end))
    nested = {"oauth": {"access_token": OLD, "refresh_token": OLD_REFRESH, "expiry": stamp, "account_id": "a"}}
    path: Path = world.home / "auth.json"
    path.write_text(json.dumps({"acme": flat if shape == "flat" else nested, "other": {"api_key": "k"}}))
    path.chmod(0o600)
    return path


def ask(runtime: Open, oauth: OAuthSpec, **more: Any) -> Any:
    """The credential that a request would get."""

    async def run() -> Any:
        async with runtime() as app:
            spec = ProviderSpec(id="acme", oauth=oauth, **more)
            assert app.has_credential(spec)
            found = app.credential(spec)
            return await found if asyncio.iscoroutine(found) else found

    return asyncio.run(run())


@pytest.mark.parametrize("shape", ["flat", "nested"])
@pytest.mark.parametrize("left", [-5.0, 55.0])
def test_a_login_is_renewed_a_minute_ahead_and_kept_in_its_shape(
    runtime: Open, world: Any, server: TokenServer, left: float, shape: str
) -> None:
    path = login(world, left=left, shape=shape)
    credential = ask(runtime, OAuthSpec(token_url=server.url, client_id="zot"))
    assert (credential.key, credential.kind) == (NEW, "oauth")
    (form,) = server.forms
    assert form == {"grant_type": ["refresh_token"], "refresh_token": [OLD_REFRESH], "client_id": ["zot"]}
    stored = json.loads(path.read_text())
    entry = stored["acme"] if shape == "flat" else stored["acme"]["oauth"]
    names = ("access", "refresh") if shape == "flat" else ("access_token", "refresh_token")
    assert [entry[name] for name in names] == [NEW, NEW_REFRESH]
    assert entry.get("note", "kept") == "kept" and stored["other"] == {"api_key": "k"}
    assert path.stat().st_mode & 0o777 == 0o600
    assert ask(runtime, OAuthSpec(token_url=server.url, client_id="zot")).key == NEW
    assert len(server.forms) == 1, "it is good for an hour now"


def test_a_login_with_time_left_and_a_key_that_comes_first_are_not_renewed(
    runtime: Open, world: Any, server: TokenServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    login(world, left=120)
    assert ask(runtime, OAuthSpec(token_url=server.url)).key == OLD
    login(world, left=-5)
    monkeypatch.setenv("ACME_KEY", "from-the-environment")
    assert ask(runtime, OAuthSpec(token_url=server.url), env=("ACME_KEY",)).key == "from-the-environment"
    assert server.forms == []


def test_two_processes_renew_once(world: Any, server: TokenServer) -> None:
    login(world, left=-5)
    server.slow.clear()
    started = [
        subprocess.Popen(
            [sys.executable, str(CLIENT), server.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    try:
        for process in started:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        for process in started:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        deadline = time.monotonic() + 10
        while not server.forms and time.monotonic() < deadline:
            time.sleep(0.01)
        server.slow.set()
        answers = [process.communicate(timeout=20)[0].strip() for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()
    assert answers == [NEW, NEW]
    assert len(server.forms) == 1


def test_requests_of_one_process_at_once_renew_once(runtime: Open, world: Any, server: TokenServer) -> None:
    login(world, left=-5)

    async def run() -> list[str]:
        async with runtime() as app:
            spec = ProviderSpec(id="acme", oauth=OAuthSpec(token_url=server.url, client_id="zot"))
            found = await asyncio.gather(*(app.credential(spec) for _ in range(4)))
            return [credential.key for credential in found]

    assert asyncio.run(run()) == [NEW] * 4
    assert len(server.forms) == 1


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ((400, {"error": "invalid_grant", "error_description": f"{OLD_REFRESH} was revoked"}), "auth"),
        ((500, {"error": f"crashed on {OLD_REFRESH}"}), "provider"),
        ((200, {"nothing": "here"}), "auth"),
    ],
)
def test_what_cannot_be_renewed_says_so_without_a_token(
    runtime: Open, world: Any, server: TokenServer, answer: Any, kind: str
) -> None:
    before = login(world, left=-5).read_text()
    server.answer = answer
    with pytest.raises(RunFailed) as caught:
        ask(runtime, OAuthSpec(token_url=server.url))
    assert caught.value.failure.kind == kind
    assert "login of acme" in str(caught.value) and OLD_REFRESH not in str(caught.value)
    assert (world.home / "auth.json").read_text() == before


def test_a_token_with_time_left_is_used_while_it_cannot_be_renewed(
    runtime: Open, world: Any, server: TokenServer
) -> None:
    login(world, left=50)
    server.answer = (503, {"error": "later"})
    assert ask(runtime, OAuthSpec(token_url=server.url)).key == OLD


def test_a_provider_may_have_a_way_of_its_own(runtime: Open, world: Any) -> None:
    login(world, left=-5)

    async def refresh(tokens: Tokens) -> Tokens:
        assert tokens.refresh == OLD_REFRESH and OLD_REFRESH not in repr(tokens)
        return Tokens(access=NEW, refresh=tokens.refresh, expires=time.time() + 3600)

    assert ask(runtime, OAuthSpec(refresh=refresh)).key == NEW

    async def broken(tokens: Tokens) -> Tokens:
        raise ValueError(tokens.refresh)

    login(world, left=-5)
    with pytest.raises(RunFailed, match="ValueError") as caught:
        ask(runtime, OAuthSpec(refresh=broken))
    assert OLD_REFRESH not in str(caught.value)


def test_no_secret_is_in_a_log_an_error_a_session_or_a_childs_environment(
    runtime: Open, world: Any, server: TokenServer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A login and a key, both used and both repeated by servers: nobody but auth.json has them afterwards."""
    key = "plain-key-of-beta-5555"
    monkeypatch.setenv("ZOT_LOG_HTTP", str(world.home / "http.jsonl"))
    monkeypatch.setenv("BETA_API_KEY", key)
    login(world, left=-5)
    body = calls(("c1", "bash", {"command": "env > child-env.txt; cat /proc/self/environ | tr '\\0' '\\n'"}))
    with MockServer([body, text("done")], key=NEW) as acme, MockServer([], key="another") as beta:
        oauth = OAuthSpec(token_url=server.url, client_id="zot")

        class Both:
            @hookimpl
            def providers(self) -> list[ProviderSpec]:
                api = "openai-completions"
                return [
                    ProviderSpec(
                        id="acme",
                        api=api,
                        base_url=acme.url,
                        oauth=oauth,
                        models=(ModelSpec(id="m", provider="acme"),),
                    ),
                    ProviderSpec(
                        id="beta",
                        api=api,
                        base_url=beta.url,
                        env=("BETA_API_KEY",),
                        models=(ModelSpec(id="n", provider="beta"),),
                    ),
                ]

        async def run() -> list[Any]:
            async with runtime(plugins=[Both()], provider="", model="acme/m", no_session=False) as app:
                first = await app.prompt("show me")
                await app.runtime.choice.set_model("beta/n")
                second = await app.prompt("and you")
                return [first, second, app.front]

        first, second, front = asyncio.run(run())
    assert first.failure is None and second.failure.kind == "auth"
    secrets = (OLD, NEW, OLD_REFRESH, NEW_REFRESH, key)
    seen = {
        "errors": str(second.failure),
        "notes": str(front.notes),
        "events": json.dumps(front.lines, default=str),
        "messages": str(front.messages),
        "output": "".join(capfd.readouterr()),
    }
    for path in [*world.home.rglob("*"), *world.project.rglob("*")]:
        if path.is_file() and path.name != "auth.json":
            seen[path.name] = path.read_text(encoding="utf-8", errors="replace")
    assert "http.jsonl" in seen and "child-env.txt" in seen
    assert any(name.endswith(".jsonl") and name != "http.jsonl" for name in seen), "the session is among them"
    found = [(where, secret) for where, said in seen.items() for secret in secrets if secret in said]
    assert found == []

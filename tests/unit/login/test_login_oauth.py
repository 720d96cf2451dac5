"""Logins against an OAuth server of our own: browser, pasted code, device code, refusals; no token is ever seen."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from mock_provider.server import MockServer, calls, text
from support.oauth_server import ACCESS, CLIENT, DEVICE_CODE, KEY, REFRESH, SECRETS, USER_CODE, OAuthServer, visit

from zot_core import ModelSpec, ProviderSpec, UsageError, hookimpl
from zot_core.testing.front import RecordingFrontEnd
from zot_core.types.failure import RunFailed
from zot_core.types.login import LoginCode, OAuthSpec
from zot_plugins.login import device

Open = Callable[..., Any]
SUPPORT = Path(__file__).parents[2] / "support"


@pytest.fixture
def server() -> Iterator[OAuthServer]:
    with OAuthServer() as one:
        yield one


@pytest.fixture(autouse=True)
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


class Person(RecordingFrontEnd):
    """A front end whose person opens the page that is shown: `browse(url)` in a thread; typed answers come first."""

    def __init__(self, browse: Callable[[str], Any] | None = None, mode: Any = "rpc") -> None:
        super().__init__(mode)
        self._browse = browse
        self.visited: list[Any] = []
        self._tasks: set[Any] = set()
        answer = self.ui.input

        async def input(title: str, placeholder: str = "", **how: Any) -> str | None:
            typed = await answer(title, placeholder, **how)
            if typed is None and self._browse is not None:
                await asyncio.Event().wait()  # nothing is typed: the browser will come
            return typed

        self.ui.input = input  # type: ignore[method-assign]

    def note(self, note: Any) -> None:
        super().note(note)
        found = re.findall(r"http://\S+", note.text)[-1:]
        if note.kind == "display" and found and self._browse is not None:
            task = asyncio.ensure_future(asyncio.to_thread(self._browse, found[0]))
            task.add_done_callback(lambda done: self.visited.append(done.result()))
            self._tasks.add(task)

    async def settle(self) -> None:
        await asyncio.gather(*self._tasks)


class Acme:
    def __init__(self, oauth: OAuthSpec, url: str = "http://127.0.0.1:9", **more: Any) -> None:
        self._spec = ProviderSpec(
            id="acme",
            name="Acme",
            api="openai-completions",
            base_url=url,
            oauth=oauth,
            models=(ModelSpec(id="big", provider="acme"),),
            **more,
        )

    @hookimpl
    def providers(self) -> ProviderSpec:
        return self._spec


def browser_spec(server: OAuthServer, **more: Any) -> OAuthSpec:
    return OAuthSpec(
        authorize_url=server.authorize_url, token_url=server.token_url, client_id=CLIENT, scope="models", **more
    )


def log_in(runtime: Open, front: Any, oauth: OAuthSpec, **more: Any) -> None:
    async def story() -> None:
        async with runtime(front=front, plugins=[Acme(oauth, **more)]) as app:
            try:
                await app.prompt("/login acme")
            finally:
                if isinstance(front, Person):
                    await front.settle()

    asyncio.run(story())


def answers(front: Any) -> list[str]:
    return [note.text for note in front.notes if note.kind == "answer"]


def entry(world: Any) -> Any:
    return json.loads((world.home / "auth.json").read_text())["acme"]


def test_the_browser_comes_back_with_a_code_and_the_login_is_kept(
    runtime: Open, world: Any, server: OAuthServer
) -> None:
    front = Person(visit)
    front.ui.answer("confirm", True)
    log_in(runtime, front, browser_spec(server, notice="Acme's terms hold.", authorize_params={"prompt": "consent"}))
    kept = entry(world)
    assert (kept["access"], kept["refresh"]) == (ACCESS, REFRESH)
    assert abs(kept["expires"] / 1000 - time.time() - 3600) < 60
    assert (world.home / "auth.json").stat().st_mode & 0o777 == 0o600
    assert answers(front)[0].startswith("You are logged in to Acme; it is kept in ")
    (page,) = server.pages
    assert page["scope"] == "models" and page["prompt"] == "consent" and len(page["state"]) >= 32
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/callback", page["redirect_uri"])
    ((status, said),) = front.visited
    assert status == 200 and "You can close this page" in said
    assert front.ui.hidden and front.ui.asked[0] == ("confirm", "Log in to Acme?")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", urlsplit(page["redirect_uri"]).port or 0), timeout=5).close()


def test_a_short_address_leads_to_the_long_one(runtime: Open, world: Any, server: OAuthServer) -> None:
    """The long one does not fit a line, and what does not is hard to copy."""

    def browse(url: str) -> Any:
        shown = next(note.text for note in front.notes if note.kind == "display")
        short = re.findall(r"http://\S+", shown)[0]
        assert len(short) < 50 and visit(f"{short}x")[0] == 404
        return visit(short)

    front = Person(browse)
    log_in(runtime, front, browser_spec(server))
    assert front.visited[0][0] == 200 and entry(world)["access"] == ACCESS


def test_what_was_there_makes_way_and_the_rest_of_the_file_stays(
    runtime: Open, world: Any, server: OAuthServer
) -> None:
    before = '{\n  "b": {"api_key": "k"}, // of work\n  "acme": {"api_key": "old", "base_url": "u", "note": 7}\n}\n'
    (world.home / "auth.json").write_text(before)
    log_in(runtime, Person(visit), browser_spec(server))
    after = (world.home / "auth.json").read_text()
    assert after.startswith('{\n  "b": {"api_key": "k"}, // of work\n')
    kept = json.loads(after.replace("// of work", ""))["acme"]
    assert "api_key" not in kept and (kept["base_url"], kept["note"], kept["access"]) == ("u", 7, ACCESS)


def test_terms_that_are_not_agreed_to_end_it(runtime: Open, world: Any, server: OAuthServer) -> None:
    front = Person(visit)
    log_in(runtime, front, browser_spec(server, notice="Acme's terms hold."))
    assert answers(front) == ["Nothing was stored."] and server.pages == []
    assert not (world.home / "auth.json").exists()


def test_where_the_plugin_says_nothing_of_terms_that_is_said_before_it_begins(
    runtime: Open, world: Any, server: OAuthServer
) -> None:
    front = Person(visit)
    log_in(runtime, front, browser_spec(server))
    kinds = [(note.kind, "terms" in note.text) for note in front.notes if note.source == "login"]
    assert kinds[:2] == [("notify", True), ("display", False)]
    assert kinds[-2:] == [("clear", False), ("answer", False)], "what was said while it waited goes with the answer"


def test_a_wrong_state_or_path_is_turned_away_and_waited_past(runtime: Open, world: Any, server: OAuthServer) -> None:
    def browse(url: str) -> list[tuple[int, str]]:
        back = parse_qs(urlsplit(url).query)["redirect_uri"][0]
        forged = [
            visit(f"{back}?code=evil&state=wrong"),
            visit(f"{back}?code=evil"),
            visit(f"{back}?error=access_denied&state=wrong"),
            visit(back.replace("/callback", "/other") + "?code=evil"),
        ]
        return [*forged, visit(url)]

    front = Person(browse)
    log_in(runtime, front, browser_spec(server))
    assert [status for status, _ in front.visited[0]] == [400, 400, 400, 404, 200]
    assert not any("evil" in said or "wrong" in said for _, said in front.visited[0])
    assert [form["code"] for form in server.forms] == ["code-0-ffff"] and entry(world)["access"] == ACCESS


def test_noise_on_the_port_stops_nothing(runtime: Open, world: Any, server: OAuthServer) -> None:
    def browse(url: str) -> Any:
        port = urlsplit(parse_qs(urlsplit(url).query)["redirect_uri"][0]).port or 0
        for noise in (b"", b"\x00\xff\r\n\r\n", b"POST /callback HTTP/1.1\r\n\r\n", b"A" * 40_000 + b"\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", port), timeout=5) as one:
                try:
                    one.sendall(noise)
                    one.shutdown(socket.SHUT_WR)
                    while one.recv(4096):
                        pass
                except ConnectionError:
                    pass  # it may hang up on what is too long
        return visit(url)

    front = Person(browse)
    log_in(runtime, front, browser_spec(server))
    assert front.visited[0][0] == 200 and entry(world)["access"] == ACCESS


def test_a_refusal_in_the_browser_is_said(runtime: Open, world: Any, server: OAuthServer) -> None:
    server.refuse = True
    front = Person(visit)
    with pytest.raises(RunFailed, match="the login to Acme failed: it was refused") as caught:
        log_in(runtime, front, browser_spec(server))
    assert caught.value.failure.kind == "auth" and "was refused" in front.visited[0][1]
    assert not (world.home / "auth.json").exists()


def test_the_code_may_be_pasted_where_the_browser_is_elsewhere(runtime: Open, world: Any, server: OAuthServer) -> None:
    """Over ssh the browser cannot come back: the person copies the address that it ended at."""
    front = RecordingFrontEnd("rpc")
    pasted: list[str] = []

    async def input(title: str, placeholder: str = "", *, hidden: bool = False, **how: Any) -> str:
        assert hidden
        shown = next(note.text for note in front.notes if note.kind == "display")
        page = {name: values[0] for name, values in parse_qs(urlsplit(shown.split()[-1]).query).items()}
        tries = [
            "no code at all",
            f"{page['redirect_uri']}?code=evil&state=wrong",
            "evil#wrong",
            server.authorize(page),
        ]
        pasted.append(tries[len(pasted)])
        return pasted[-1]

    front.ui.input = input  # type: ignore[method-assign, assignment]
    log_in(runtime, front, browser_spec(server))
    assert len(pasted) == 4 and entry(world)["access"] == ACCESS
    warnings = [note.text for note in front.notes if note.level == "warning"]
    assert warnings == [
        "This cannot be used: that is neither an address nor a code.",
        *["This cannot be used: that is the answer to another login."] * 2,
    ]


def test_giving_up_stores_nothing(runtime: Open, world: Any, server: OAuthServer) -> None:
    front = RecordingFrontEnd("rpc")
    log_in(runtime, front, browser_spec(server))
    assert answers(front) == ["Nothing was stored."] and not (world.home / "auth.json").exists()


def test_nobody_who_comes_back_ends_it(runtime: Open, world: Any, server: OAuthServer, monkeypatch: Any) -> None:
    monkeypatch.setattr("zot_plugins.login.browser.login.__defaults__", (0.05,))
    with pytest.raises(RunFailed, match="nobody came back from the browser"):
        log_in(runtime, Person(lambda url: None), browser_spec(server))


def test_a_fixed_port_that_is_taken_is_named(runtime: Open, world: Any, server: OAuthServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(RunFailed, match=f"port {port} of this machine"):
            log_in(runtime, Person(visit), browser_spec(server, redirect_port=port))
    front = Person(visit)
    log_in(
        runtime, front, browser_spec(server, redirect_port=port, redirect_path="/auth/back", redirect_host="localhost")
    )
    assert server.pages[-1]["redirect_uri"] == f"http://localhost:{port}/auth/back"
    assert entry(world)["access"] == ACCESS


def test_a_code_that_the_server_does_not_take_is_said_without_it(
    runtime: Open, world: Any, server: OAuthServer
) -> None:
    def browse(url: str) -> Any:
        page = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        return visit(f"{page['redirect_uri']}?code=stolen-code-gggg&state={page['state']}")

    with pytest.raises(RunFailed, match="the code is not valid") as caught:
        log_in(runtime, Person(browse), browser_spec(server))
    assert "stolen-code-gggg" not in str(caught.value)


def test_a_vendor_that_gives_a_key_and_hands_no_state_back(
    runtime: Open, world: Any, server: OAuthServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As OpenRouter does; its own spec, at our server."""
    from zot_core.types.specs import resolve
    from zot_plugins.providers import openrouter
    from zot_plugins.providers.endpoints import endpoints

    own: OAuthSpec = resolve(next(spec for spec in endpoints() if spec.id == "openrouter").oauth)
    monkeypatch.setattr(openrouter, "KEYS_URL", f"{server.url}/keys")
    fields = {name: getattr(own, name) for name in ("authorize_params", "redirect_host", "redirect_param", "state_in")}
    oauth = OAuthSpec(authorize_url=server.authorize_url, exchange=own.exchange, **fields)
    front = Person(visit)
    log_in(runtime, front, oauth)
    (page,) = server.pages
    assert set(page) == {"callback_url", "code_challenge", "code_challenge_method"}
    assert re.fullmatch(r"http://localhost:\d+/callback/[\w-]{32,}", page["callback_url"])
    assert entry(world) == {"api_key": KEY}


def test_a_plugins_exchange_that_breaks_says_no_secret(runtime: Open, world: Any, server: OAuthServer) -> None:
    async def exchange(code: LoginCode) -> str:
        raise ValueError(f"{code.code} {code.verifier}")

    with pytest.raises(RunFailed, match="the login to Acme failed: ValueError") as caught:
        log_in(runtime, Person(visit), browser_spec(server, exchange=exchange))
    assert "code-0" not in str(caught.value)


def test_a_token_goes_over_https_or_stays_on_this_machine(runtime: Open, world: Any, server: OAuthServer) -> None:
    oauth = OAuthSpec(device_url="http://example.org/device", token_url="http://example.org/token", client_id="x")
    with pytest.raises(RunFailed, match="https only"):
        log_in(runtime, RecordingFrontEnd("rpc"), oauth)


def test_offline_there_is_no_login(runtime: Open, world: Any, server: OAuthServer) -> None:
    async def story() -> None:
        async with runtime(front=Person(visit), plugins=[Acme(browser_spec(server))], offline=True) as app:
            await app.prompt("/login acme")

    with pytest.raises(UsageError, match="--offline"):
        asyncio.run(story())


# --- device codes -----------------------------------------------------------------------------------------------------


class Clock:
    """Time that only sleeping moves."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)

    def now(self) -> float:
        return sum(self.slept)


def with_code(runtime: Open, server: OAuthServer, front: Any, monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("zot_plugins.login.device.login.__defaults__", (clock.sleep, clock.now))

    async def select(title: str, options: Any, **how: Any) -> str | None:
        front.ui.asked.append(("select", title))
        await asyncio.Event().wait()
        return None

    if "select" not in front.ui._answers:
        front.ui.select = select
    log_in(runtime, front, OAuthSpec(device_url=server.device_url, token_url=server.token_url, client_id=CLIENT))
    return clock


def test_a_device_code_is_polled_as_slowly_as_the_server_wants(
    runtime: Open, world: Any, server: OAuthServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.polls = ["authorization_pending", "slow_down", "authorization_pending", "slow_down", "authorization_pending"]
    front = RecordingFrontEnd("rpc")
    clock = with_code(runtime, server, front, monkeypatch)
    assert clock.slept == [5, 5, 10, 10, 15, 15]
    title = f"Log in to Acme: open {server.url}/type on any device and type the code {USER_CODE}"
    assert front.ui.asked == [("select", title)]
    assert entry(world)["access"] == ACCESS and DEVICE_CODE not in str(front.notes)


@pytest.mark.parametrize(
    ("polls", "device_answer", "says"),
    [
        (["authorization_pending", "access_denied"], {}, "it was refused"),
        (["authorization_pending", "expired_token"], {}, "the code has expired"),
        (["authorization_pending"] * 9, {"expires_in": 20}, "the code has expired"),
        ([], {"user_code": ""}, "status 200"),
        ([], {"verification_uri": "javascript:alert(1)"}, "status 200"),
        ([], {"user_code": "A\x1b[2J"}, "status 200"),
    ],
)
def test_a_device_code_that_comes_to_nothing(
    runtime: Open,
    world: Any,
    server: OAuthServer,
    monkeypatch: pytest.MonkeyPatch,
    polls: list[str],
    device_answer: dict[str, Any],
    says: str,
) -> None:
    server.polls, server.device = polls, {**server.device, **device_answer}
    with pytest.raises(RunFailed, match=says) as caught:
        with_code(runtime, server, RecordingFrontEnd("rpc"), monkeypatch)
    assert caught.value.failure.kind == "auth" and DEVICE_CODE not in str(caught.value)
    assert not (world.home / "auth.json").exists()


def test_waiting_for_a_device_code_can_be_stopped(
    runtime: Open, world: Any, server: OAuthServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.polls = ["authorization_pending"] * 10_000
    front = RecordingFrontEnd("rpc")
    front.ui.answer("select", device.STOP)
    with_code(runtime, server, front, monkeypatch)
    assert answers(front) == ["Nothing was stored."]


# --- afterwards -------------------------------------------------------------------------------------------------------


def test_a_login_is_used_at_once_renewed_once_by_two_processes_and_never_seen(
    runtime: Open,
    world: Any,
    server: OAuthServer,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ZOT_LOG_HTTP", str(world.home / "http.jsonl"))
    monkeypatch.setenv("ACME_API_KEY", "")
    body = calls(("c1", "bash", {"command": "env > child-env.txt; cat /proc/self/environ | tr '\\0' '\\n'"}))
    front = Person(visit, mode="repl")
    oauth = browser_spec(server)
    with MockServer([body, text("done")], key=ACCESS) as models:

        async def story() -> Any:
            acme = Acme(oauth, url=models.url)
            async with runtime(front=front, plugins=[acme], provider="acme", no_session=False) as app:
                await app.prompt("/login acme")
                await front.settle()
                return await app.prompt("go on")

        end = asyncio.run(story())
    assert end.failure is None

    stored = json.loads((world.home / "auth.json").read_text())
    stored["acme"]["expires"] = int(time.time() * 1000) - 1000
    (world.home / "auth.json").write_text(json.dumps(stored))
    line = [sys.executable, str(SUPPORT / "oauth_client.py"), server.token_url, CLIENT]
    clients = [
        subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    try:
        for client in clients:
            assert client.stdout is not None and client.stdout.readline() == "ready\n"
        for client in clients:
            assert client.stdin is not None
            client.stdin.write("go\n")
            client.stdin.flush()
        ended = [client.communicate(timeout=20) for client in clients]
    finally:
        for client in clients:
            client.kill()
            client.wait()
    assert [out.strip() for out, _ in ended] == [f"{ACCESS}-renewed"] * 2
    renewals = [form for form in server.forms if form["grant_type"] == "refresh_token"]
    assert [form["refresh_token"] for form in renewals] == [REFRESH]

    seen = {
        "events": json.dumps(front.lines, default=str),
        "notes": str(front.notes),
        "messages": str(front.messages),
        "asked": str(front.ui.asked),
        "output": "".join(capfd.readouterr()) + "".join(err for _, err in ended),
    }
    for path in [*world.home.rglob("*"), *world.project.rglob("*")]:
        if path.is_file() and path.name != "auth.json":
            seen[path.name] = path.read_text(encoding="utf-8", errors="replace")
    verifier = next(form["code_verifier"] for form in server.forms if "code_verifier" in form)
    assert "http.jsonl" in seen and "child-env.txt" in seen
    assert any(name.endswith(".jsonl") and name != "http.jsonl" for name in seen), "the session is among them"
    found = [(where, one) for where, said in seen.items() for one in (*SECRETS, verifier) if one in said]
    assert found == []


def test_device_codes_are_taken_out_of_the_http_log(
    runtime: Open, world: Any, server: OAuthServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZOT_LOG_HTTP", str(world.home / "http.jsonl"))
    with_code(runtime, server, RecordingFrontEnd("rpc"), monkeypatch)
    logged = (world.home / "http.jsonl").read_text()
    assert "/device" in logged and [one for one in SECRETS if one in logged] == []


def test_the_browser_gets_the_page_and_no_credential(
    runtime: Open, world: Any, server: OAuthServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the interactive mode the browser is opened: here a program that goes where it is sent and notes its
    environment."""
    (world.project / "webbrowser.py").write_text("raise SystemExit('a module of the project ran')")
    program = world.home / "browser"
    program.write_text(
        f"#!{sys.executable} -I\nimport json, os, sys, urllib.request\n"
        f"open({str(world.home / 'browser-env.json')!r}, 'w').write(json.dumps(dict(os.environ)))\n"
        "print('noise of a browser')\nurllib.request.urlopen(sys.argv[1], timeout=10).read()\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{program} %s")
    monkeypatch.setenv("ACME_API_KEY", "")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-environment-hhhh")
    front = Person(lambda url: None, mode="repl")
    log_in(runtime, front, browser_spec(server))
    assert entry(world)["access"] == ACCESS
    env = json.loads((world.home / "browser-env.json").read_text())
    assert "ANTHROPIC_API_KEY" not in env and not [one for one in SECRETS if one in str(env)]

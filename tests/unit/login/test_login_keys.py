"""`/login` with a key: typed hidden, tried once, kept in auth.json alone, in use at once. `/logout` takes it away."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from mock_provider.server import MockServer, text
from support.list_server import ListServer

from zot_core import ModelSpec, ProviderSpec, UsageError, hookimpl
from zot_core.testing.front import RecordingFrontEnd

Open = Callable[..., Any]
KEY, OTHER = "sk-typed-key-1234567890", "sk-other-key-0987654321"


class Acme:
    """A provider that wants a key, and one that wants none."""

    def __init__(self, url: str, **more: Any) -> None:
        self._more = {
            "base_url": url,
            "models": (ModelSpec(id="big", provider="acme"),),
            "default_model": "big",
            **more,
        }

    @hookimpl
    def providers(self) -> list[ProviderSpec]:
        return [
            ProviderSpec(id="acme", name="Acme", api="openai-completions", env=("ACME_API_KEY",), **self._more),
            ProviderSpec(id="shed", base_url="http://127.0.0.1:9/v1", keyless=True),
        ]


@pytest.fixture
def listing() -> Iterator[ListServer]:
    with ListServer({"/v1/models": {"data": [{"id": "big"}]}}) as server:
        yield server


def say(runtime: Open, front: RecordingFrontEnd, *prompts: str, plugin: Any, **how: Any) -> None:
    async def story() -> None:
        async with runtime(front=front, plugins=[plugin], **how) as app:
            front.app = app  # type: ignore[attr-defined]
            for prompt in prompts:
                await app.prompt(prompt)

    asyncio.run(story())


def answers(front: RecordingFrontEnd) -> list[str]:
    return [note.text for note in front.notes if note.kind == "answer"]


def stored(world: Any) -> Any:
    return json.loads((world.home / "auth.json").read_text())


def everywhere(world: Any, front: RecordingFrontEnd) -> dict[str, str]:
    """All that zot has said and kept, but for auth.json."""
    seen = {
        "notes": str(front.notes),
        "events": json.dumps(front.lines, default=str),
        "messages": str(front.messages),
        "asked": str(front.ui.asked),
    }
    for path in [*world.home.rglob("*"), *world.project.rglob("*")]:
        if path.is_file() and path.name != "auth.json":
            seen[path.name] = path.read_text(encoding="utf-8", errors="replace")
    return seen


def test_a_key_is_chosen_typed_hidden_tried_kept_and_used_without_a_restart(
    runtime: Open, world: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ZOT_LOG_HTTP", str(world.home / "http.jsonl"))
    (world.home / "auth.json").write_text('{\n  // mine\n  "other": {"api_key": "o"}\n}\n')
    front = RecordingFrontEnd("repl")
    front.ui.answer("select", "acme  Acme")
    front.ui.answer("input", f" {KEY}\n")
    with MockServer([text("Hello.")], key=KEY) as server, ListServer({"/v1/models": {"data": []}}) as listing:
        both = Acme(server.url, discover=_elsewhere(listing.url))

        async def story() -> None:
            async with runtime(front=front, plugins=[both], provider="", model="acme/big", no_session=False) as app:
                before = await app.prompt("hi")
                assert before.failure.kind == "auth"
                await app.prompt("/login")
                assert (await app.prompt("hi")).failure is None

        asyncio.run(story())
        assert [headers["authorization"] for _, headers in listing.asked] == [f"Bearer {KEY}"]
    assert front.ui.hidden == ["API key of Acme (it is not shown)"]
    assert "// mine" in (world.home / "auth.json").read_text()
    lines = [line for line in (world.home / "auth.json").read_text().splitlines() if "mine" not in line]
    assert json.loads("".join(lines)) == {"other": {"api_key": "o"}, "acme": {"api_key": KEY}}
    assert (world.home / "auth.json").stat().st_mode & 0o777 == 0o600
    assert "Acme takes it. acme/big answers" in answers(front)[0]
    seen = {**everywhere(world, front), "output": "".join(capfd.readouterr())}
    assert "http.jsonl" in seen and any(name.endswith(".jsonl") and name != "http.jsonl" for name in seen)
    assert [where for where, said in seen.items() if KEY in said] == []


def _elsewhere(url: str) -> Any:
    """A list of models that another server has, as the mock has none."""

    async def discover(asking: Any) -> list[ModelSpec]:
        await asking.get(f"{url}/v1/models", {"authorization": "Bearer {key}"})
        return []

    return discover


@pytest.mark.parametrize(("insists", "kept"), [(False, False), (True, True)])
@pytest.mark.parametrize("page", [401, 403])
def test_a_key_that_is_refused_is_kept_only_by_insisting(
    runtime: Open, world: Any, listing: ListServer, insists: bool, kept: bool, page: int
) -> None:
    listing.pages["/v1/models"] = page
    front = RecordingFrontEnd("rpc")
    front.ui.answer("input", KEY)
    front.ui.answer("confirm", insists)
    say(runtime, front, "/login acme", plugin=Acme(f"{listing.url}/v1"))
    assert front.ui.asked[-1] == ("confirm", f"Acme refused the key: it answered {page}.")
    assert (world.home / "auth.json").exists() is kept
    assert answers(front)[0] == "Nothing was stored." if not kept else "Acme refused it." in answers(front)[0]


def test_a_refusal_with_status_400_is_one_too(runtime: Open, world: Any) -> None:
    class Google(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b'{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}'
            self.send_response(400)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is printed."""

    with HTTPServer(("127.0.0.1", 0), Google) as web:
        asked = threading.Thread(target=web.handle_request)
        asked.start()
        front = RecordingFrontEnd("rpc")
        front.ui.answer("input", KEY)
        say(runtime, front, "/login acme", plugin=Acme(f"http://127.0.0.1:{web.server_address[1]}/v1"))
        asked.join()
    assert "refused the key" in front.ui.asked[-1][1]


@pytest.mark.parametrize("agrees", [False, True])
def test_what_cannot_be_reached_is_said_and_the_key_kept_if_wanted(runtime: Open, world: Any, agrees: bool) -> None:
    front = RecordingFrontEnd("rpc")
    front.ui.answer("input", KEY)
    front.ui.answer("confirm", agrees)
    say(runtime, front, "/login acme", plugin=Acme("http://127.0.0.1:1/v1"))
    assert front.ui.asked[-1][1].startswith("The key could not be tried: ")
    assert (world.home / "auth.json").exists() is agrees


def test_offline_nobody_is_asked(runtime: Open, world: Any, listing: ListServer) -> None:
    front = RecordingFrontEnd("rpc")
    front.ui.answer("input", KEY)
    say(runtime, front, "/login acme", plugin=Acme(f"{listing.url}/v1"), offline=True)
    assert listing.asked == [] and stored(world) == {"acme": {"api_key": KEY}}
    assert "not tried, because of --offline" in answers(front)[0]


def test_an_open_list_is_no_proof_so_another_page_is_asked(runtime: Open, world: Any, listing: ListServer) -> None:
    listing.pages["/v1/key"] = 401
    front = RecordingFrontEnd("rpc")
    front.ui.answer("input", KEY)
    say(runtime, front, "/login acme", plugin=Acme(f"{listing.url}/v1", probe="key"))
    assert listing.paths == ["/v1/key"] and "refused" in front.ui.asked[-1][1]


def test_a_provider_that_moved_is_asked_where_it_is_now(runtime: Open, world: Any, listing: ListServer) -> None:
    """A page elsewhere that tries keys of the old server must not get those of the new one."""
    moved = {"providers": {"acme": {"baseUrl": f"{listing.url}/v1"}}}
    (world.home / "models.json").write_text(json.dumps(moved))
    front = RecordingFrontEnd("rpc")
    front.ui.answer("input", KEY)
    with ListServer({}) as old:
        say(runtime, front, "/login acme", plugin=Acme(f"{old.url}/v1", probe=f"{old.url}/whoami"))
        assert old.asked == [] and listing.paths == ["/v1/models"]


@pytest.mark.parametrize("typed", [None, "", "  "])
def test_nothing_typed_is_nothing_stored(runtime: Open, world: Any, typed: str | None) -> None:
    front = RecordingFrontEnd("rpc")
    front.ui.answer("input", typed)
    say(runtime, front, "/login acme", plugin=Acme("http://127.0.0.1:1/v1"))
    assert answers(front) == ["Nothing was stored."] and not (world.home / "auth.json").exists()


def test_a_key_on_the_line_and_an_unknown_provider_are_refused_and_not_repeated(runtime: Open, world: Any) -> None:
    front = RecordingFrontEnd("rpc")
    with pytest.raises(UsageError, match="nothing else; a key is asked for, hidden") as caught:
        say(runtime, front, f"/login acme {KEY}", plugin=Acme("http://127.0.0.1:1/v1"))
    assert KEY not in str(caught.value)
    with pytest.raises(UsageError, match="no provider has this name") as caught:
        say(runtime, front, f"/login {KEY}", plugin=Acme("http://127.0.0.1:1/v1"))
    assert KEY not in str(caught.value)
    with pytest.raises(UsageError, match="did you mean acme"):
        say(runtime, front, "/login acmee", plugin=Acme("http://127.0.0.1:1/v1"))
    assert not (world.home / "auth.json").exists()


def test_a_key_that_no_request_can_carry_is_refused_before_anybody_is_asked(
    runtime: Open, world: Any, listing: ListServer
) -> None:
    front = RecordingFrontEnd("rpc")
    front.ui.answer("input", "“curly-key”")
    with pytest.raises(UsageError, match="cannot carry") as caught:
        say(runtime, front, "/login acme", plugin=Acme(f"{listing.url}/v1"))
    assert "curly-key" not in str(caught.value) and listing.asked == []


def test_a_file_that_does_not_parse_is_left_alone_and_nothing_is_asked(runtime: Open, world: Any) -> None:
    (world.home / "auth.json").write_text('{"acme": ')
    front = RecordingFrontEnd("rpc")
    with pytest.raises(UsageError, match=r"nothing can be stored: .*auth\.json:1"):
        say(runtime, front, "/login acme", plugin=Acme("http://127.0.0.1:1/v1"))
    assert front.ui.asked == [] and (world.home / "auth.json").read_text() == '{"acme": '


def test_a_variable_that_comes_first_is_named(
    runtime: Open, world: Any, listing: ListServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACME_API_KEY", OTHER)
    front = RecordingFrontEnd("rpc")
    front.ui.answer("select", "acme  Acme  (has $ACME_API_KEY)")
    front.ui.answer("input", KEY)
    say(runtime, front, "/login", plugin=Acme(f"{listing.url}/v1"))
    assert "But $ACME_API_KEY comes first" in answers(front)[0]


def test_the_list_has_what_wants_a_key_and_no_other(runtime: Open, world: Any) -> None:
    front = RecordingFrontEnd("rpc")
    offered: list[str] = []

    async def select(title: str, options: Any, **how: Any) -> None:
        offered.extend(options)

    front.ui.select = select  # type: ignore[method-assign, assignment]
    say(runtime, front, "/login", plugin=Acme("http://127.0.0.1:1/v1"))
    ids = [row.split()[0] for row in offered]
    assert {"acme", "anthropic", "openai", "google", "openrouter", "azure"} <= set(ids) and ids == sorted(ids)
    assert not {"shed", "scripted", "google-vertex", "custom"} & set(ids)


def test_the_first_key_chooses_a_model_that_it_can_ask(runtime: Open, world: Any, listing: ListServer) -> None:
    front = RecordingFrontEnd("rpc")
    front.ui.answer("input", KEY)
    say(runtime, front, "/login acme", plugin=Acme(f"{listing.url}/v1"), provider="anthropic")
    assert "acme/big answers from now on" in answers(front)[0]
    assert front.app.runtime.choice.model.provider == "acme"  # type: ignore[attr-defined]


def test_logout_asks_forgets_and_says_what_is_left(runtime: Open, world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    text_before = '{\n  "acme": {"api_key": "a"}, // work\n  "gone-provider": {"api_key": "g"}\n}\n'
    path: Path = world.home / "auth.json"
    path.write_text(text_before)
    path.chmod(0o600)
    monkeypatch.setenv("ACME_API_KEY", OTHER)
    front = RecordingFrontEnd("rpc")
    front.ui.answer("confirm", False, True, True)
    front.ui.answer("select", "gone-provider")
    acme = Acme("http://127.0.0.1:1/v1")
    say(runtime, front, "/logout acme", plugin=acme)
    assert path.read_text() == text_before and answers(front) == ["Nothing was changed."]
    say(runtime, front, "/logout", "/logout acme", "/logout", plugin=acme)
    assert json.loads(path.read_text()) == {}
    assert "There is still one: $ACME_API_KEY." in answers(front)[2]
    assert answers(front)[3].endswith("holds no key and no login.")
    with pytest.raises(UsageError, match="holds nothing for a provider of this name"):
        say(runtime, front, "/logout openai", plugin=acme)


def test_openai_and_the_login_of_its_other_provider_do_not_disturb_each_other(runtime: Open, world: Any) -> None:
    login = {"access_token": "t", "expiry": "2999-01-01T00:00:00Z"}
    (world.home / "auth.json").write_text(json.dumps({"openai": {"oauth": login, "note": 1}}))
    front = RecordingFrontEnd("rpc")
    front.ui.answer("input", KEY)
    front.ui.answer("confirm", True)
    say(runtime, front, "/login openai", plugin=Acme("http://127.0.0.1:1/v1"), offline=True)
    assert stored(world) == {"openai": {"oauth": login, "note": 1, "api_key": KEY}}
    say(runtime, front, "/logout openai", plugin=Acme("http://127.0.0.1:1/v1"))
    assert stored(world) == {"openai": {"oauth": login, "note": 1}}


@pytest.mark.parametrize("mode", ["print", "json"])
def test_where_nobody_can_be_asked_it_says_where_it_can(runtime: Open, mode: Any) -> None:
    with pytest.raises(UsageError, match="the interactive mode or RPC"):
        say(runtime, RecordingFrontEnd(mode), "/login", plugin=Acme("http://127.0.0.1:1/v1"))

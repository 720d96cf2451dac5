"""Live lists of models: asked once in 6 hours and within 3 s, kept, and never a reason to stop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.list_server import ListServer

from zot_core.config.auth import Credential
from zot_core.models import discovery as module
from zot_core.models.discovery import Discovery, Listed
from zot_core.models.listing import model_of, models_of
from zot_core.net.client import HttpClient
from zot_core.types.specs import ApiFormat, ModelSpec, Prices, ProviderSpec

CHAT = ApiFormat(name="c", build="x:y", parser="x:y", discover="zot_plugins.api_openai_chat.models:discover")
MESSAGES = ApiFormat(name="m", build="x:y", parser="x:y", discover="zot_plugins.api_anthropic.models:discover")
GOOGLE = ApiFormat(name="g", build="x:y", parser="x:y", discover="zot_plugins.api_google.models:discover")


def ask(
    folder: Path,
    *specs: tuple[ProviderSpec, ApiFormat | None],
    key: str = "",
    offline: bool = False,
    now: float = 1000.0,
) -> list[Listed]:
    async def go() -> list[Listed]:
        client = HttpClient()
        credential = Credential(key, "a test") if key else None
        found = Discovery(folder, lambda: client, lambda spec: credential, offline=offline, clock=lambda: now)
        try:
            return await found.all(specs)
        finally:
            await client.aclose()

    return asyncio.run(go())


def spec(url: str, **more: Any) -> ProviderSpec:
    return ProviderSpec(id="acme", base_url=url, **more)


@pytest.mark.parametrize(
    ("api", "pages", "path", "header", "found"),
    [
        (
            CHAT,
            {"/v1/models": {"data": [{"id": "big", "context_window": 9}, {"id": "text-embedding-3"}, 7, {"x": 1}]}},
            "/v1/models",
            ("authorization", "Bearer k"),
            [("big", 9)],
        ),
        (CHAT, {"/v1/models": [{"id": "bare"}]}, "/v1/models", ("authorization", "Bearer k"), [("bare", 128_000)]),
        (
            MESSAGES,
            {"/v1/models": {"data": [{"id": "claude", "display_name": "Claude", "max_input_tokens": 7}]}},
            "/v1/models?limit=1000",
            ("x-api-key", "k"),
            [("claude", 7)],
        ),
        (
            GOOGLE,
            {
                "/v1beta/models": {
                    "models": [
                        {
                            "name": "models/gemini-9",
                            "inputTokenLimit": 5,
                            "supportedGenerationMethods": ["generateContent"],
                        },
                        {"name": "models/aqa", "supportedGenerationMethods": ["generateAnswer"]},
                    ]
                }
            },
            "/v1beta/models?pageSize=1000",
            ("x-goog-api-key", "k"),
            [("gemini-9", 5)],
        ),
    ],
)
def test_each_format_lists_its_models(
    tmp_path: Path,
    api: ApiFormat,
    pages: dict[str, Any],
    path: str,
    header: tuple[str, str],
    found: list[tuple[str, int]],
) -> None:
    with ListServer(pages) as server:
        (listed,) = ask(tmp_path / "cache" / "models", (spec(server.url), api), key="k")
    assert not listed.problem
    assert [(model.id, model.context_window) for model in listed.models] == found
    assert {model.source for model in listed.models} == {"live"}
    assert server.paths == [path]
    assert server.asked[0][1][header[0]] == header[1]


def test_without_a_key_no_header_is_sent(tmp_path: Path) -> None:
    with ListServer({"/v1/models": {"data": []}}) as server:
        ask(tmp_path / "models", (spec(server.url), CHAT))
    assert "authorization" not in server.asked[0][1]


def test_a_list_is_kept_for_six_hours_and_offline_for_ever(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "models"
    with ListServer({"/v1/models": {"data": [{"id": "one", "pricing": {"input": 1, "output": 2}}]}}) as server:
        one = (spec(server.url), CHAT)
        (first,) = ask(folder, one)
        server.pages["/v1/models"] = {"data": [{"id": "two"}]}
        (again,) = ask(folder, one, now=1000.0 + module.KEEP_S - 1)
        assert again == first
        assert (again.models[0].id, again.models[0].prices) == ("one", Prices(input=1, output=2))
        assert len(server.asked) == 1
        (old,) = ask(folder, one, now=1000.0 + module.KEEP_S + 1, offline=True)
        assert old.models == first.models
        (later,) = ask(folder, one, now=1000.0 + module.KEEP_S + 1)
        assert [model.id for model in later.models] == ["two"]
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o600]


@pytest.mark.parametrize(("page", "why"), [(404, "it answered 404"), (500, "answered 500"), (b"<html>", "no JSON")])
def test_a_failure_is_named_and_not_asked_for_again_at_once(tmp_path: Path, page: Any, why: str) -> None:
    with ListServer({"/v1/models": page}) as server:
        (listed,) = ask(tmp_path / "models", (spec(server.url), CHAT), key="secret")
        assert why in listed.problem and "acme" in listed.problem and server.url in listed.problem
        assert "secret" not in listed.problem
        ask(tmp_path / "models", (spec(server.url), CHAT), now=1030.0)
        assert len(server.asked) == 1
        ask(tmp_path / "models", (spec(server.url), CHAT), now=1070.0)
        assert len(server.asked) == 2


def test_what_was_kept_outlives_a_failure(tmp_path: Path) -> None:
    with ListServer({"/v1/models": {"data": [{"id": "one"}]}}) as server:
        ask(tmp_path / "models", (spec(server.url), CHAT))
        server.pages["/v1/models"] = 503
        (listed,) = ask(tmp_path / "models", (spec(server.url), CHAT), now=90_000.0)
    assert "503" in listed.problem
    assert [model.id for model in listed.models] == ["one"]


def test_a_silent_server_is_given_up_and_nobody_answers_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LIMIT_S", 0.1)
    go = threading.Event()
    with ListServer({"/v1/models": {"data": []}}, go) as server:
        (silent,) = ask(tmp_path / "models", (spec(server.url), CHAT))
        go.set()
    (gone,) = ask(tmp_path / "other", (spec(server.url), CHAT))
    assert "no answer within 0.1 s" in silent.problem
    assert gone.problem and not gone.models


def test_a_broken_way_and_no_way_stop_nothing(tmp_path: Path) -> None:
    async def broken(asking: Any) -> Sequence[ModelSpec]:
        raise KeyError("data")

    (listed,) = ask(tmp_path / "models", (spec("http://127.0.0.1:9", discover=broken), None))
    assert "KeyError" in listed.problem
    nobody = [
        (spec("http://127.0.0.1:9"), None),
        (spec(""), CHAT),
        (spec("http://a", compat={"listsModels": False}), CHAT),
    ]
    assert all(not one.problem and not one.models for one in ask(tmp_path / "models", *nobody))


def test_a_damaged_cache_is_asked_for_anew(tmp_path: Path) -> None:
    with ListServer({"/v1/models": {"data": [{"id": "one"}]}}) as server:
        ask(tmp_path / "models", (spec(server.url), CHAT))
        for path in (tmp_path / "models").iterdir():
            path.write_text('{"version": ')
        (listed,) = ask(tmp_path / "models", (spec(server.url), CHAT))
    assert [model.id for model in listed.models] == ["one"]


def test_ollama_and_lm_studio_tell_more_in_their_own_lists(tmp_path: Path) -> None:
    tags = {"models": [{"name": "llama:8b", "model": "llama:8b", "capabilities": ["vision", "thinking"]}]}
    own = {"data": [{"id": "q", "type": "vlm", "max_context_length": 5}, {"id": "e", "type": "embeddings"}]}
    with ListServer({"/api/tags": tags, "/api/v0/models": own}) as server:
        ollama = spec(f"{server.url}/v1", discover="zot_plugins.providers.local:ollama")
        studio = ProviderSpec(id="s", base_url=server.url, discover="zot_plugins.providers.local:lmstudio")
        one, two = ask(tmp_path / "models", (ollama, CHAT), (studio, CHAT))
        del server.pages["/api/v0/models"]
        server.pages["/v1/models"] = {"data": [{"id": "old"}]}
        (three,) = ask(tmp_path / "others", (studio, CHAT))
    assert [(m.id, m.inputs, m.reasoning) for m in one.models] == [("llama:8b", ("text", "image"), True)]
    assert [(m.id, m.inputs, m.context_window) for m in two.models] == [("q", ("text", "image"), 5)]
    assert [m.id for m in three.models] == ["old"]


def test_rows_are_read_by_the_names_that_servers_use() -> None:
    row = {
        "id": "v/m",
        "name": "M",
        "context_length": 10,
        "top_provider": {"max_completion_tokens": 4},
        "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
        "supported_parameters": ["reasoning"],
        "pricing": {"prompt": "0.000002", "completion": "0.00001", "input_cache_read": "0.0000001"},
    }
    found = model_of(row, "router")
    assert found == ModelSpec(
        id="v/m",
        provider="router",
        name="M",
        context_window=10,
        max_output=4,
        inputs=("text", "image"),
        reasoning=True,
        prices=Prices(input=2.0, output=10.0, cache_read=0.1),
        source="live",
    )
    assert model_of({"id": "vllm", "max_model_len": 7}, "p").context_window == 7  # type: ignore[union-attr]
    assert model_of({"id": "cpp", "meta": {"n_ctx_train": 8}}, "p").context_window == 8  # type: ignore[union-attr]
    for other in (
        {"id": "x", "type": "image"},
        {"id": "whisper-1"},
        {"id": "x", "capabilities": {"completion_chat": False}},
    ):
        assert model_of(other, "p") is None
    assert models_of("nonsense", "p") == ()
    assert len(models_of([{"id": "a"}, {"id": "a"}], "p")) == 1


def test_anthropic_says_which_models_think_adaptively(tmp_path: Path) -> None:
    adaptive = {"thinking": {"supported": True, "types": {"adaptive": {"supported": True}}}}
    first = {
        "data": [{"id": "claude-a", "capabilities": adaptive}, {"id": "claude-b"}],
        "has_more": True,
        "last_id": "b",
    }
    with ListServer({"/v1/models": first}) as server:
        (listed,) = ask(tmp_path / "models", (spec(server.url), MESSAGES), key="k")
        (again,) = ask(tmp_path / "models", (spec(server.url), MESSAGES), key="k")
    assert [(m.id, dict(m.compat), m.reasoning) for m in listed.models] == [
        ("claude-a", {"thinking": "adaptive"}, True),
        ("claude-b", {}, False),
    ]
    assert again == listed
    assert server.paths[:2] == ["/v1/models?limit=1000", "/v1/models?limit=1000&after_id=b"]


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_was_refused_is_not_sent_again_and_another_one_is_at_once(tmp_path: Path, status: int) -> None:
    keys = ["old", "old", "new", "new"]

    async def go(url: str) -> list[Listed]:
        client = HttpClient()
        found = Discovery(
            tmp_path / "models", lambda: client, lambda spec: Credential(keys.pop(0), "a test"), clock=lambda: 1000.0
        )
        try:
            listed = [await found.of(spec(url), CHAT) for _ in range(2)]
            assert [found.is_news(one) for one in listed] == [True, False]
            server.pages["/v1/models"] = {"data": [{"id": "big"}]}
            return [*listed, await found.of(spec(url), CHAT), await found.of(spec(url), CHAT)]
        finally:
            await client.aclose()

    with ListServer({"/v1/models": status}) as server:
        listed = asyncio.run(go(server.url))
        assert [headers["authorization"] for _, headers in server.asked] == ["Bearer old", "Bearer new"]
    assert [bool(one.problem) for one in listed] == [True, True, False, False]
    assert [model.id for model in listed[3].models] == ["big"]


def test_no_word_of_a_refused_key_is_written_down(tmp_path: Path) -> None:
    with ListServer({"/v1/models": 401}) as server:
        (listed,) = ask(tmp_path / "models", (spec(server.url), CHAT), key="secret")
        assert listed.problem and "secret" not in repr(listed)
        ask(tmp_path / "models", (spec(server.url), CHAT), key="better")
        assert len(server.asked) == 2
    assert not list(tmp_path.rglob("*.json"))

"""`zot --list-models` and names that only the server knows: asked, kept, filtered, and never in the way."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mock_provider.server import MockServer, text
from support.list_server import ListServer


class Ended(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def zot(isolated: Path) -> Callable[..., Ended]:
    """The command without a provider that was named."""

    def call(*argv: str) -> Ended:
        done = subprocess.run(
            [sys.executable, "-m", "zot_cli", *argv],
            capture_output=True,
            text=True,
            timeout=25,
            stdin=subprocess.DEVNULL,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return call


MODELS = {"data": [{"id": "acme-live", "context_window": 5000}, {"id": "acme-known"}]}


def entry(url: str, **more: Any) -> str:
    known = [{"id": "acme-known", "name": "Known", "contextWindow": 7000, "cost": {"input": 1, "output": 2}}]
    return json.dumps({"providers": {"acme": {"baseUrl": url, "models": known, **more}}})


def rows(done: Any) -> dict[str, Any]:
    assert done.code == 0, done.err
    return {row["model"]: row for row in json.loads(done.out)}


def test_a_server_of_models_json_is_asked_and_the_file_is_over_all(zot: Any, zot_home: Path) -> None:
    with ListServer({"/v1/models": MODELS}) as server:
        (zot_home / "models.json").write_text(entry(server.url, apiKey="k"))
        found = rows(zot("--list-models", "--json", "acme"))
        assert rows(zot("--list-models", "--json", "acme")) == found
    assert {name: (row["source"], row["context_window"]) for name, row in found.items()} == {
        "acme/acme-known": ("models.json", 7000),
        "acme/acme-live": ("live", 5000),
    }
    assert found["acme/acme-known"]["prices"]["output"] == 2
    assert server.paths == ["/v1/models"]
    assert server.asked[0][1]["authorization"] == "Bearer k"


def test_words_filter_and_none_is_said(zot: Any) -> None:
    done = zot("--list-models", "opus", "anthropic")
    assert "anthropic/claude-opus-5-5" in done.out and "sonnet" not in done.out and "catalog" in done.out
    done = zot("--list-models", "no-such-thing")
    assert (done.code, done.out) == (0, "")
    assert "no-such-thing" in done.err


def test_offline_nobody_is_asked(zot: Any, zot_home: Path) -> None:
    with ListServer({"/v1/models": MODELS}) as server:
        (zot_home / "models.json").write_text(entry(server.url))
        assert list(rows(zot("--list-models", "--json", "--offline", "acme"))) == ["acme/acme-known"]
    assert server.paths == []


def test_a_failure_is_named_and_the_rest_is_listed(zot: Any, zot_home: Path) -> None:
    with ListServer({"/v1/models": 500}) as server:
        (zot_home / "models.json").write_text(entry(server.url))
        done = zot("--list-models", "--json", "acme")
    assert list(rows(done)) == ["acme/acme-known"]
    assert "the models of acme could not be listed" in done.err and "500" in done.err


def test_a_failure_is_said_once_however_often_the_list_is_looked_into(zot: Any, zot_home: Path) -> None:
    for status in (401, 500):
        with ListServer({"/v1/models": status}) as server:
            (zot_home / "models.json").write_text(entry(server.url, apiKey="k", models=[]))
            done = zot("--provider", "acme", "--list-models", "acme")
            assert done.err.count("could not be listed") == 1, done.err
            assert server.paths == ["/v1/models"]


def test_a_key_variable_of_a_local_server_is_sent(zot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"/v1/models": {"data": [{"id": "a-model"}]}, "/api/v0/models": {"data": [{"id": "a-model"}]}}
    with ListServer(pages) as server:
        for provider, host, key in (
            ("llamacpp", "LLAMACPP_HOST", "LLAMA_API_KEY"),
            ("lmstudio", "LMSTUDIO_HOST", "LM_API_TOKEN"),
        ):
            monkeypatch.setenv(host, server.url)
            monkeypatch.setenv(key, f"key-of-{provider}")
            listed = rows(zot("--list-models", "--json", provider))
            assert list(listed) == [f"{provider}/a-model"]
            assert server.asked[-1][1]["authorization"] == f"Bearer key-of-{provider}"
            monkeypatch.delenv(key)


def test_a_local_server_is_asked_only_when_it_is_named(zot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with ListServer({"/api/tags": {"models": [{"model": "llama:8b"}]}}) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        assert "llama:8b" not in zot("--list-models").out
        assert server.paths == []
        assert list(rows(zot("--list-models", "--json", "ollama"))) == ["ollama/llama:8b"]


def test_a_name_that_the_catalog_lacks_is_asked_for(zot: Any, zot_home: Path) -> None:
    answer = {"/v1/models": MODELS}
    with ListServer(answer) as server:
        (zot_home / "models.json").write_text(entry(server.url))
        done = zot("--provider", "acme", "--model", "acme-lvie", "-p", "hi")
        assert done.code == 2 and "did you mean acme-live" in done.err
        done = zot("--model", "acme/acme-live", "-p", "hi")
        assert "unknown model" not in done.err and "404" not in done.out
        done = zot("--provider", "acme", "--model", "acme-other", "--offline", "-p", "hi")
        assert done.code == 2 and "unknown model 'acme-other'" in done.err
    assert server.paths.count("/v1/models") == 1


def test_a_local_server_answers_with_its_first_model(zot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with MockServer([text("Hello"), text("Again")]) as model:
        monkeypatch.setenv("VLLM_HOST", model.url)
        done = zot("--provider", "vllm", "--model", "some-model", "-p", "hi")
    assert done.out == "Hello\n"
    assert model.bodies[-1]["model"] == "some-model"


def test_the_key_of_the_line_goes_to_no_other_provider(zot: Any, zot_home: Path) -> None:
    with ListServer({"/v1/models": MODELS}) as server:
        (zot_home / "models.json").write_text(entry(server.url))
        zot("--provider", "anthropic", "--api-key", "sekrit", "--offline", "--list-models", "--json")
        zot("--list-models", "--json", "--api-key", "sekrit", "--provider", "scripted")
    assert all("sekrit" not in str(asked) for asked in server.asked)

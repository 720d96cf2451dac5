"""`zot -p` with Google's Vertex AI, its address pointed at a strict server on loopback: tokens, both publishers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from mock_provider import clouds, replies_google
from mock_provider.anthropic_replies import answer, call, think
from mock_provider.server import MockServer, Reply

CLAUDE = "claude-opus-5-5"
GEMINI = "gemini-4-neon"


@pytest.fixture(autouse=True)
def google(monkeypatch: pytest.MonkeyPatch, zot_home: Path) -> None:
    """Project and location of the tests; no machine's role is looked for. Retries are quick."""
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", clouds.PROJECT)
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", clouds.LOCATION)
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    (zot_home / "settings.json").write_text('{"retry": {"attempts": 2, "base_delay_s": 0.01}}', encoding="utf-8")


@pytest.fixture
def account(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a service account whose tokens come from a server."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()

    def write(server: MockServer) -> None:
        row = {
            "type": "service_account",
            "project_id": "another-project",
            "private_key_id": "1",
            "private_key": pem,
            "client_email": "tests@example.iam.gserviceaccount.com",
            "client_id": "1",
            "token_uri": f"{clouds.host_of(server.url)}/token",
        }
        path = isolated / "account.json"
        path.write_text(json.dumps(row), encoding="utf-8")
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))

    return write


def ask(zot: Any, server: MockServer, model: str, *argv: str) -> Any:
    base = f"{clouds.host_of(server.url)}/v1/projects/{{project}}/locations/{{location}}"
    return zot("--provider", "google-vertex", "--base-url", base, "--model", model, *argv, "-p", "What does it say?")


def test_anthropic_models_answer_with_tools_and_a_token_is_fetched_once(zot: Any, project: Path, account: Any) -> None:
    (project / "a.txt").write_text("data", encoding="utf-8")
    replies = [answer(think("I should look."), call("read", path="a.txt")), answer("It says ", "data. 👍")]
    with MockServer(replies) as server:
        account(server)
        done = ask(zot, server, CLAUDE, "--reasoning", "high")
    assert not server.refusals
    assert (done.code, done.out, done.err) == (0, "It says data. 👍\n", "")
    place = f"/v1/projects/{clouds.PROJECT}/locations/{clouds.LOCATION}/publishers/anthropic/models/{CLAUDE}"
    assert [request.path for request in server.requests] == ["/token", *[f"{place}:streamRawPredict"] * 2]
    sent = server.requests[1]
    assert sent.body["anthropic_version"] == "vertex-2023-10-16" and sent.body["stream"] is True
    assert sent.headers["anthropic-beta"] == "thinking-binding-controls-2026-08-01"


def test_gemini_answers_with_tools(zot: Any, project: Path, account: Any) -> None:
    (project / "a.txt").write_text("data", encoding="utf-8")
    asked = replies_google.call("read", {"path": "a.txt"}, sign=GEMINI)
    replies = [
        replies_google.answer(asked, model=GEMINI),
        replies_google.answer(replies_google.text("It says data."), model=GEMINI),
    ]
    with MockServer(replies) as server:
        account(server)
        done = ask(zot, server, GEMINI)
    assert not server.refusals
    assert (done.code, done.out, done.err) == (0, "It says data.\n", "")
    place = f"/v1/projects/{clouds.PROJECT}/locations/{clouds.LOCATION}/publishers/google/models/{GEMINI}"
    assert [request.path for request in server.requests[1:]] == [f"{place}:streamGenerateContent?alt=sse"] * 2
    assert "x-goog-api-key" not in server.requests[1].headers


def test_a_token_may_be_given_as_a_key_and_then_no_library_is_needed(
    zot: Any, zot_home: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _hide(isolated, monkeypatch)
    rows = {"providers": {"google-vertex": {"apiKey": f"!echo {clouds.TOKEN}", "compat": {"project": clouds.PROJECT}}}}
    (zot_home / "models.json").write_text(json.dumps(rows), encoding="utf-8")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "what-models-json-says-goes-before-it")
    with MockServer([replies_google.answer(replies_google.text("Yes."), model=GEMINI)]) as server:
        done = ask(zot, server, GEMINI)
    assert (done.code, done.out, done.err, server.refusals) == (0, "Yes.\n", "", [])


def test_the_project_of_the_credentials_is_the_last_that_is_asked(
    zot: Any, account: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT")
    with MockServer([answer("never")]) as server:
        account(server)
        done = ask(zot, server, CLAUDE)
    assert done.code == 1
    assert "/v1/projects/another-project/" in server.requests[1].path


def test_a_cut_stream_is_tried_again(zot: Any, account: Any) -> None:
    whole = answer("It says ", "data.")
    with MockServer([Reply(body=whole.body[:4], done=False, cut=True), answer("Whole.")]) as server:
        account(server)
        done = ask(zot, server, CLAUDE)
    assert done.code == 0 and done.out.endswith("Whole.\n")
    assert [request.path.rpartition(":")[2] for request in server.requests] == ["/token"] + ["streamRawPredict"] * 2


def test_a_quota_that_is_used_up_is_tried_again_and_then_said(zot: Any, account: Any) -> None:
    body = {"error": {"code": 429, "message": "Resource exhausted.", "status": "RESOURCE_EXHAUSTED"}}
    used_up = Reply(body=[json.dumps(body).encode()], status=429, content_type="application/json", done=False)
    with MockServer([used_up, used_up]) as server:
        account(server)
        done = ask(zot, server, GEMINI)
    assert done.code == 75
    assert "Resource exhausted" in done.err


def test_a_token_that_is_refused_names_where_it_came_from(zot: Any, zot_home: Path) -> None:
    with MockServer([answer("never")]) as server:
        done = ask(zot, server, CLAUDE, "--api-key", "an-old-token-of-tests")
    assert (done.code, len(server.requests)) == (1, 1)
    assert "--api-key" in done.err and "an-old-token" not in done.err


def test_a_wrong_location_is_refused_and_one_that_is_none_is_never_sent(
    zot: Any, account: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "moon-east1")
    with MockServer([answer("never")]) as server:
        account(server)
        done = ask(zot, server, CLAUDE)
    assert done.code == 1 and "not a path of this project and location" in done.err
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "evil.example/x")
    with MockServer([answer("never")]) as server:
        account(server)
        done = ask(zot, server, CLAUDE)
    assert done.code == 1 and "is no Google Cloud location" in done.err
    assert [request.path for request in server.requests] == ["/token"]


def test_without_credentials_a_line_says_how_to_get_some(zot: Any) -> None:
    with MockServer([answer("never")]) as server:
        done = ask(zot, server, CLAUDE)
    assert (done.code, server.requests) == (1, [])
    assert "gcloud auth application-default login" in done.err and done.err.count("\n") == 1


def test_without_the_extra_a_line_says_what_to_install_and_the_models_are_listed(
    zot: Any, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _hide(isolated, monkeypatch)
    with MockServer([answer("never")]) as server:
        done = ask(zot, server, CLAUDE)
    assert (done.code, server.requests) == (1, [])
    assert 'pip install "zot-agent[vertex]"' in done.err and done.err.count("\n") == 1
    listed = zot("--provider", "google-vertex", "--offline", "--list-models", "vertex")
    assert listed.code == 0 and CLAUDE in listed.out and GEMINI in listed.out


def _hide(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = folder / "hidden" / "google"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'google'\")", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(hidden.parent))

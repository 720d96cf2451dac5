"""`zot -p` with Amazon Bedrock, its address pointed at a strict server on loopback: signatures, frames, failures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mock_provider import clouds
from mock_provider.anthropic_replies import call, said, think
from mock_provider.clouds import exception_frame, framed
from mock_provider.server import MockServer, Reply

MODEL = "global.anthropic.claude-opus-5-5"
DATED = "global.anthropic.claude-haiku-4-5-20251001-v1:0"
FRAMES = "application/vnd.amazon.eventstream"


def reply(*blocks: Any, model: str = MODEL, piece: int = 0, stop: str = "") -> Reply:
    return Reply(body=framed(said(*blocks, model=model, stop=stop)), content_type=FRAMES, done=False, piece=piece)


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch, zot_home: Path) -> None:
    """Credentials of the tests in the environment; no machine's role is looked for. Retries are quick."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", clouds.ACCESS)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", clouds.SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", clouds.SESSION)
    monkeypatch.setenv("AWS_REGION", clouds.REGION)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    (zot_home / "settings.json").write_text('{"retry": {"attempts": 2, "base_delay_s": 0.01}}', encoding="utf-8")


def ask(zot: Any, server: MockServer, *argv: str, model: str = MODEL) -> Any:
    base = clouds.host_of(server.url)
    return zot("--provider", "amazon-bedrock", "--base-url", base, "--model", model, *argv, "-p", "What does it say?")


@pytest.mark.parametrize("piece", [0, 1, 7])
def test_a_tool_round_trip_is_signed_and_read_from_frames(zot: Any, project: Path, piece: int) -> None:
    (project / "a.txt").write_text("data", encoding="utf-8")
    replies = [reply(think("I should look."), call("read", path="a.txt"), piece=piece), reply("It says ", "data. 👍")]
    with MockServer(replies) as server:
        done = ask(zot, server)
    assert not server.refusals
    assert (done.code, done.out, done.err) == (0, "It says data. 👍\n", "")
    assert [request.path for request in server.requests] == [f"/model/{MODEL}/invoke-with-response-stream"] * 2
    first = server.requests[0]
    assert first.body["anthropic_version"] == "bedrock-2023-05-31"
    assert first.headers["x-amz-security-token"] == clouds.SESSION
    assert "anthropic-version" not in first.headers and "x-api-key" not in first.headers
    assert "data" in str(server.bodies[1]["messages"][-1]["content"])


def test_a_model_with_a_colon_thinks_and_is_signed_all_the_same(zot: Any) -> None:
    with MockServer([reply("Four.", model=DATED)]) as server:
        done = ask(zot, server, "--reasoning", "high", model=DATED)
    assert (done.code, done.out, server.refusals) == (0, "Four.\n", [])
    assert "%3A0/invoke" in server.requests[0].path
    assert server.bodies[0]["anthropic_beta"] == ["interleaved-thinking-2025-05-14"]


def test_bound_thinking_is_asked_for_by_the_name_that_bedrock_has(zot: Any) -> None:
    with MockServer([reply("Four.")]) as server:
        done = ask(zot, server, "--reasoning", "high")
    assert (done.code, server.refusals) == (0, [])
    assert server.bodies[0]["thinking"]["block_binding"] == {"mismatch_behavior": "drop_block"}
    assert server.bodies[0]["anthropic_beta"] == ["thinking-binding-controls-2026-08-01"]


def test_a_profile_of_aws_is_used_and_named_in_models_json(
    zot: Any, zot_home: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION"):
        monkeypatch.delenv(name)
    folder = isolated / "user" / ".aws"
    folder.mkdir()
    keys = f"aws_access_key_id = {clouds.ACCESS}\naws_secret_access_key = {clouds.SECRET}\n"
    (folder / "credentials").write_text(f"[work]\n{keys}", encoding="utf-8")
    (folder / "config").write_text(f"[profile work]\nregion = {clouds.REGION}\n", encoding="utf-8")
    rows = {"providers": {"amazon-bedrock": {"compat": {"profile": "work"}}}}
    (zot_home / "models.json").write_text(json.dumps(rows), encoding="utf-8")
    with MockServer([reply("Yes.")]) as server:
        done = ask(zot, server)
    assert (done.code, done.out, done.err) == (0, "Yes.\n", "")


def test_a_bedrock_api_key_goes_as_bearer_token_and_nothing_is_signed(
    zot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", clouds.BEDROCK_KEY)
    with MockServer([reply("Yes.")]) as server:
        done = ask(zot, server)
    assert (done.code, done.out) == (0, "Yes.\n")
    assert server.requests[0].headers["authorization"] == f"Bearer {clouds.BEDROCK_KEY}"
    assert "x-amz-date" not in server.requests[0].headers


def test_a_cut_stream_is_tried_again_and_is_never_a_success(zot: Any) -> None:
    whole = framed(said("It says ", "data.", model=MODEL))
    cuts = [
        Reply(body=whole[:4], content_type=FRAMES, done=False),
        Reply(body=[*whole[:4], whole[4][:-9]], content_type=FRAMES, done=False, cut=True),
    ]
    with MockServer(cuts) as server:
        done = ask(zot, server)
    assert (done.code, len(server.requests)) == (1, 2)
    assert "amazon-bedrock" in done.err
    with MockServer([cuts[0], reply("Whole.")]) as server:
        done = ask(zot, server)
    assert (done.code, len(server.requests)) == (0, 2)
    assert done.out.endswith("Whole.\n")


def test_a_damaged_frame_counts_as_a_broken_connection(zot: Any) -> None:
    whole = b"".join(framed(said("It says data.", model=MODEL)))
    damaged = whole[:300] + bytes([whole[300] ^ 1]) + whole[301:]
    with MockServer([Reply(body=[damaged], content_type=FRAMES, done=False), reply("Whole.")]) as server:
        done = ask(zot, server)
    assert (done.code, len(server.requests)) == (0, 2)


@pytest.mark.parametrize(
    ("name", "message", "tries", "code"),
    [
        ("throttlingException", "Too many tokens, please wait before trying again.", 2, 75),
        ("modelStreamErrorException", "The model could not go on.", 2, 1),
        ("internalServerException", "Something broke.", 2, 1),
        ("serviceUnavailableException", "The service isn't available.", 2, 75),
        ("modelTimeoutException", "It took too long.", 2, 1),
        ("validationException", "The body makes no sense.", 1, 1),
    ],
)
def test_an_exception_in_the_stream_is_a_failure_of_its_kind(
    zot: Any, name: str, message: str, tries: int, code: int
) -> None:
    failing = [Reply(body=[exception_frame(name, message)], content_type=FRAMES, done=False) for _ in range(2)]
    with MockServer(failing) as server:
        done = ask(zot, server)
    assert (done.code, len(server.requests)) == (code, tries)
    assert message.rstrip(".") in done.err


def test_a_throttled_request_is_tried_again(zot: Any) -> None:
    body = b'{"message": "Too many requests, please wait before trying again."}'
    headers = {"x-amzn-errortype": "ThrottlingException:http://internal.amazon.com/"}
    throttled = Reply(body=[body], status=429, headers=headers, content_type="application/json", done=False)
    with MockServer([throttled, reply("Now.")]) as server:
        done = ask(zot, server)
    assert (done.code, done.out, len(server.requests)) == (0, "Now.\n", 2)


def test_a_wrong_region_is_refused_once_with_where_the_credentials_came_from(
    zot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    with MockServer([reply("never")]) as server:
        done = ask(zot, server)
    assert (done.code, len(server.requests)) == (1, 1)
    assert "Credential should be scoped to a valid region" in done.err
    assert "region eu-west-1" in done.err
    assert clouds.SECRET not in done.err and clouds.SESSION not in done.err


def test_a_wrong_secret_is_refused_and_not_shown(zot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another-secret-of-tests")
    with MockServer([reply("never")]) as server:
        done = ask(zot, server)
    assert (done.code, len(server.requests)) == (1, 1)
    assert "does not match the signature" in done.err
    assert "another-secret" not in done.err


@pytest.mark.parametrize(
    ("gone", "given", "word"),
    [
        (("AWS_REGION",), {}, "no AWS region: set AWS_REGION"),
        ((), {"AWS_REGION": "evil.example/x"}, "'evil.example/x' is no AWS region"),
        (("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"), {}, "no AWS credentials"),
        ((), {"AWS_PROFILE": "nowhere"}, "nowhere"),
    ],
)
def test_what_is_missing_is_said_in_a_line_before_anything_is_sent(
    zot: Any, monkeypatch: pytest.MonkeyPatch, gone: tuple[str, ...], given: dict[str, str], word: str
) -> None:
    for name in gone:
        monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with MockServer([reply("never")]) as server:
        done = ask(zot, server)
    assert (done.code, server.requests) == (1, [])
    assert word in done.err and done.err.count("\n") == 1


def test_without_the_extra_a_line_says_what_to_install_and_the_models_are_listed(
    zot: Any, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = isolated / "hidden" / "botocore"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'botocore'\")", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(hidden.parent))
    with MockServer([reply("never")]) as server:
        done = ask(zot, server)
        assert (done.code, server.requests) == (1, [])
    assert 'pip install "zot-agent[bedrock]"' in done.err and done.err.count("\n") == 1
    listed = zot("--provider", "amazon-bedrock", "--offline", "--list-models", "bedrock")
    assert listed.code == 0 and MODEL in listed.out


def test_the_log_of_requests_holds_no_secret(zot: Any, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = isolated / "http.log"
    monkeypatch.setenv("ZOT_LOG_HTTP", str(log))
    with MockServer([reply("Yes.")]) as server:
        assert ask(zot, server).code == 0
    written = log.read_text(encoding="utf-8")
    signature = server.requests[0].headers["authorization"].rpartition("Signature=")[2]
    assert "invoke-with-response-stream" in written
    assert not [text for text in (clouds.SECRET, clouds.SESSION, signature) if text in written]

"""`ZOT_LOG_HTTP`: what the log holds, that it is private, and that no secret is in it."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from mock_provider.server import MockServer, Reply, text

from zot_core.net import http_log
from zot_core.net.client import NetError, Timeouts
from zot_core.net.http_log import LoggedClient
from zot_core.net.redact import REMOVED, clean_body, clean_text, clean_url, is_secret_name

KEY = "plainKeyWithoutAnyShape123"


def send(log: Path, server: MockServer, *, url: str = "", headers: dict[str, str], body: bytes = b"{}") -> list[str]:
    """One request through a logged client; the answer is what it warned of."""
    warned: list[str] = []

    async def run() -> None:
        client = LoggedClient(str(log), warned.append, Timeouts(connect=1, idle=5))
        try:
            async with client.stream("POST", url or f"{server.url}/x", headers=headers, content=body) as response:
                async for _ in response.chunks():
                    pass
        finally:
            await client.aclose()

    asyncio.run(run())
    return warned


def rows(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def test_a_request_and_its_reply_are_there_line_by_line(tmp_path: Path) -> None:
    log = tmp_path / "http.jsonl"
    with MockServer([text("Hello", strict=False)]) as server:
        send(log, server, url=f"{server.url}/chat/completions", headers={"x-note": "mine"}, body=b'{"model": "m"}')
    written = rows(log)
    assert [row["what"] for row in written[:2]] == ["request", "response"]
    assert written[0]["body"] == '{"model": "m"}' and written[0]["headers"]["x-note"] == "mine"
    assert written[1]["status"] == 200
    assert any("Hello" in row.get("text", "") for row in written)
    assert written[-1]["what"] == "end" and "error" not in written[-1]
    assert {row["n"] for row in written} == {1}


def test_it_is_private_even_where_the_file_was_open_to_others(tmp_path: Path) -> None:
    log = tmp_path / "http.jsonl"
    log.write_text("")
    log.chmod(0o644)
    with MockServer([text("x", strict=False)]) as server:
        send(log, server, headers={})
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("header", ["Authorization", "x-api-key", "x-goog-api-key", "api-key", "Cookie", "x-my-token"])
def test_a_key_is_nowhere_whatever_carries_it_and_whatever_repeats_it(tmp_path: Path, header: str) -> None:
    log = tmp_path / "http.jsonl"
    body = json.dumps({"messages": [{"content": f"my key is {KEY}"}], "api_key": KEY}).encode()
    reply = Reply(body=[f"data: you sent {KEY}\n\n"], headers={"x-echo": KEY}, piece=7, strict=False)
    with MockServer([reply]) as server:
        url = f"http://me:{KEY}@127.0.0.1:{server.port}/v1/chat/completions?key={KEY}&alt=sse"
        value = f"Bearer {KEY}" if header == "Authorization" else KEY
        send(log, server, url=url, headers={header: value}, body=body)
    written = log.read_text(encoding="utf-8")
    assert KEY not in written
    assert "alt=sse" in written and "you sent" in written


@pytest.mark.parametrize(
    "given",
    [
        '{"client_secret": "abc1234"}',
        '{"a": {"refresh_token" : "abc1234", "n": 1}}',
        r'{"arguments": "{\"password\": \"abc1234\"}"}',
        r'{"x-api-key": "abc1234\"tail"}',
        'data: {"accessToken":"abc1234"}',
        "Authorization: Bearer abc1234",
        "sk-ant-abc1234",
    ],
)
def test_secrets_in_bodies_go_by_name_and_by_shape(given: str) -> None:
    cleaned = clean_body(given)
    assert "abc1234" not in cleaned and "tail" not in cleaned
    assert REMOVED in cleaned


def test_a_form_loses_its_secrets_and_keeps_the_rest() -> None:
    form = "grant_type=refresh_token&refresh_token=abc1234&client_id=zot&code=xyz"
    cleaned = clean_body(form, "application/x-www-form-urlencoded")
    assert "abc1234" not in cleaned and "xyz" not in cleaned
    assert "grant_type=refresh_token" in cleaned and "client_id=zot" in cleaned


@pytest.mark.parametrize("harmless", ['{"max_tokens": 5}', '{"signature": "EqQB"}', '{"prompt_cache_key": "s1"}', "hi"])
def test_what_is_no_secret_stays_to_the_letter(harmless: str) -> None:
    assert clean_text(harmless) == harmless


def test_names_and_addresses() -> None:
    assert is_secret_name("X-Goog-Api-Key") and is_secret_name("aws_session_token") and is_secret_name("set-cookie")
    assert not is_secret_name("content-type") and not is_secret_name("max_tokens")
    assert clean_url("https://h/p?a=1") == "https://h/p?a=1"
    assert "abc" not in clean_url("https://u:abc@h/p?X-Amz-Signature=abc&token=abc")


def test_a_failure_is_the_end(tmp_path: Path) -> None:
    log = tmp_path / "http.jsonl"
    with MockServer() as server, pytest.raises(NetError):
        send(log, server, url="http://127.0.0.1:1/v1", headers={})
    assert rows(log)[-1]["what"] == "end"
    assert rows(log)[-1]["error"].startswith("connect")


def test_a_line_without_end_takes_no_memory_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_log, "LONGEST_LINE", 4000)
    log = tmp_path / "http.jsonl"
    reply = Reply(body=["data: " + "x" * 10_000 + "\n\n", "data: after\n\n"], done=False, strict=False)
    with MockServer([reply]) as server:
        send(log, server, url=f"{server.url}/chat/completions", headers={})
    lines = [row["text"] for row in rows(log) if row["what"] == "line"]
    assert len(lines[0]) < 4100 and lines[0].endswith("left out]")
    assert lines[1] == "data: after"


def test_a_file_that_cannot_be_written_is_said_once_and_the_request_goes_on(tmp_path: Path) -> None:
    with MockServer([text("x", strict=False)]) as server:
        warned = send(tmp_path / "no" / "folder" / "log", server, headers={})
        assert len(server.requests) == 1
    assert len(warned) == 1 and "ZOT_LOG_HTTP" in warned[0]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "log").symlink_to(victim)
    with MockServer([text("x", strict=False)]) as server:
        assert send(tmp_path / "log", server, headers={})
    assert victim.read_text() == "precious"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_a_pipe_that_nobody_reads_holds_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "log")
    with MockServer([text("x", strict=False)]) as server:
        warned = send(tmp_path / "log", server, headers={})
        assert len(server.requests) == 1
    assert len(warned) == 1 and "ZOT_LOG_HTTP" in warned[0]

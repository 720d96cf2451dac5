"""`zot -p` with servers of the Responses API and of Gemini: keys, tools, thinking, the answer on stdout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mock_provider import replies_google as google
from mock_provider import replies_responses as responses
from mock_provider.server import MockServer

SAID = "It says data. 👍\n"


def test_the_answer_of_a_responses_server_is_on_stdout(zot: Any, project: Path) -> None:
    (project / "a.txt").write_text("data", encoding="utf-8")
    model = "gpt-6.2-sol"
    thought = responses.thought("I should look.", model=model)
    replies = [
        responses.answer(thought, responses.call("c1", "read", {"path": "a.txt"}, of="rs_1"), model=model),
        responses.answer(responses.message("It says ", "data. 👍"), model=model),
    ]
    with MockServer(replies, key="x") as server:
        argv = ("--provider", "openai", "--model", model, "--base-url", server.url, "--api-key", "x")
        done = zot(*argv, "-p", "What does it say?")
    assert server.refusals == []
    assert (done.code, done.out, done.err) == (0, SAID, "")
    assert [request.path for request in server.requests] == ["/v1/responses"] * 2
    rows = server.bodies[1]["input"]
    assert [row["type"] for row in rows] == ["message", "reasoning", "function_call", "function_call_output"]
    assert rows[1] == thought["item"]
    assert "data" in str(rows[3])


def test_the_answer_of_a_gemini_server_is_on_stdout(zot: Any, project: Path) -> None:
    (project / "a.txt").write_text("data", encoding="utf-8")
    model = "gemini-4-neon"
    replies = [
        google.answer(
            google.text("I should look.", thought=True),
            google.call("read", {"path": "a.txt"}, sign=model),
            model=model,
        ),
        google.answer(google.text("It says "), google.text("data. 👍"), google.text("", sign=model), model=model),
    ]
    with MockServer(replies, key="x") as server:
        base = server.url.removesuffix("/v1")
        argv = ("--provider", "google", "--base-url", base, "--api-key", "x", "--reasoning", "high")
        done = zot(*argv, "-p", "What does it say?")
    assert server.refusals == []
    assert (done.code, done.out, done.err) == (0, SAID, "")
    assert {request.path for request in server.requests} == {f"/v1beta/models/{model}:streamGenerateContent?alt=sse"}
    thinking = {"thinkingLevel": "high", "includeThoughts": True}
    assert server.bodies[0]["generationConfig"]["thinkingConfig"] == thinking
    assert server.bodies[1]["contents"][1]["parts"][1] == google.call("read", {"path": "a.txt"}, sign=model)
    assert "data" in str(server.bodies[1]["contents"][2])


def test_calls_that_the_limit_cut_do_not_run(zot: Any, project: Path) -> None:
    """SP-11: neither cut arguments nor whole ones of a cut answer are acted on."""
    model, cut = "gpt-6.2-sol", responses.call("c1", "write", {"path": "a.txt", "content": "long"})
    half = responses.events_of(0, cut)[:2]
    end = responses.ending("incomplete", incomplete_details={"reason": "max_output_tokens"}, model=model)
    whole = responses.answer(responses.call("c2", "write", {"path": "a.txt", "content": "x"}), model=model, end=end)
    replies = [
        responses.Reply(body=responses.encoded([*responses.beginning(model), *half, end]), done=False),
        whole,
        responses.answer(responses.message("It was too long."), model=model),
    ]
    with MockServer(replies) as server:
        argv = ("--provider", "openai", "--model", model, "--base-url", server.url, "--api-key", "x")
        done = zot(*argv, "-p", "Write it")
    assert server.refusals == []
    assert not (project / "a.txt").exists()
    assert (done.code, done.out) == (0, "It was too long.\n")
    assert "cut" in str(server.bodies[1]["input"][-1]) or "limit" in str(server.bodies[1]["input"][-1])
    with MockServer(
        [google.answer(google.call("write", {"path": "a.txt", "content": "x"}), finish="MAX_TOKENS")]
    ) as server:
        base = server.url.removesuffix("/v1")
        server.replies.append(google.answer(google.text("It was too long.")))
        done = zot("--provider", "google", "--base-url", base, "--api-key", "x", "-p", "Write it")
    assert server.refusals == []
    assert not (project / "a.txt").exists()
    assert (done.code, done.out) == (0, "It was too long.\n")

"""`zot -p` with a server of the Messages API: keys, tools, thinking, the answer on stdout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mock_provider.anthropic_replies import answer, call, think
from mock_provider.server import MockServer


def test_the_answer_of_a_messages_server_is_on_stdout(zot: Any, project: Path) -> None:
    (project / "a.txt").write_text("data", encoding="utf-8")
    replies = [answer(think("I should look."), call("read", path="a.txt")), answer("It says ", "data. 👍")]
    with MockServer(replies, key="x") as server:
        base = server.url.removesuffix("/v1")
        done = zot("--provider", "anthropic", "--base-url", base, "--api-key", "x", "-p", "What does it say?")
    assert not server.refusals
    assert (done.code, done.out, done.err) == (0, "It says data. 👍\n", "")
    assert [request.path for request in server.requests] == ["/v1/messages"] * 2
    assert "data" in str(server.bodies[1]["messages"][-1]["content"])

"""The jail switched by a program, over RPC: while a run goes on too, from its next call on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.rpc_client import RpcClient


def test_the_jail_is_a_command_that_holds_from_the_next_call(
    zot: Any, rpc: Callable[..., RpcClient], tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("the secret\n")
    flag = tmp_path / "go"
    command = f"cat {outside}; while ! [ -e {flag} ]; do sleep 0.02; done"
    first = {"tool_call": {"name": "bash", "args": {"command": command}}}
    second = {"tool_call": {"name": "read", "args": {"path": str(outside)}}}
    zot.script([first], [second], [{"text": "Done."}])
    (tmp_path / "inside").mkdir()
    client = rpc("--cwd", str(tmp_path / "inside"))
    client.ok("prompt", message="Go")
    client.wait("tool_progress")
    client.ok("command", name="jail")
    assert [(line["key"], line["text"]) for line in client.of("ui_update")] == [("jail", "jail")]
    flag.touch()
    one, two = (client.wait("tool_result")["content"][0]["text"] for _ in range(2))
    assert one == "the secret"
    assert "(policy jail)" in two and "the secret" not in two
    client.wait("done")
    client.ok("command", name="unjail")
    assert client.close() == 0

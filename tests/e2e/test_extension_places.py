"""Extensions of one name in two places, a thousand tools of one, and a log that cannot be opened, seen over RPC."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.extension_scripts import script
from support.rpc_client import RpcClient

HERE = """
hello(); emit("register_command", name="here"); emit("ready")
for frame in frames():
    if frame["type"] == "command_invoked":
        emit("command_response", id=frame["id"], action="display", display=HERE)
"""

THOUSAND = """
hello()
for number in range(1000):
    emit("register_tool", name=f"tool_{number}", schema={"type": "object"})
emit("ready")
for frame in frames():
    if frame["type"] == "tool_call":
        emit("tool_result", id=frame["id"], content=[{"type": "text", "text": frame["name"]}])
"""


def _log(zot: Any, name: str) -> Path:
    return Path(os.environ["ZOT_HOME"]) / "logs" / f"ext-{name}.log"


def test_one_that_is_shadowed_is_named_in_its_log(zot: Any, rpc: Callable[..., RpcClient], tmp_path: Path) -> None:
    used = script(tmp_path / "first", "twin", HERE)
    installed = script(Path(os.environ["ZOT_HOME"]) / "extensions", "twin", HERE)
    client = rpc("--ext", str(used.folder))
    client.ok("command", name="here")
    assert client.wait("ext_display")["text"] == str(used.folder)
    assert client.close() == 0
    assert f"{installed.folder} is not used: {used.folder} comes before it" in _log(zot, "twin").read_text()


def test_a_thousand_tools_are_there_at_the_first_request(
    zot: Any, rpc: Callable[..., RpcClient], tmp_path: Path
) -> None:
    ext = script(tmp_path, "many", THOUSAND)
    zot.script([{"tool_call": {"name": "tool_999", "args": {}}}], [{"text": "."}])
    client = rpc("--ext", str(ext.folder))
    client.ok("prompt", message="Go")
    result = client.wait("tool_result")
    assert (result["is_error"], result["content"][0]["text"]) == (False, "tool_999")
    client.wait("done")
    assert client.close() == 0
    assert "not ready" not in _log(zot, "many").read_text()


def test_a_pipe_in_the_place_of_the_log_holds_nobody_up(
    zot: Any, rpc: Callable[..., RpcClient], tmp_path: Path
) -> None:
    log = _log(zot, "here")
    log.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(log)
    ext = script(tmp_path, "here", HERE)
    client = rpc("--ext", str(ext.folder))
    client.ok("command", name="here")
    assert client.wait("ext_display")["text"] == str(ext.folder)
    assert client.close() == 0
    assert any("cannot be written" in line for line in client.errors)

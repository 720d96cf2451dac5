"""Extensions driven over RPC: commands, panels, warnings, reload."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.extension_scripts import script
from support.rpc_client import RpcClient

PANEL = """
hello(); emit("register_command", name="List"); emit("register_tool", name="count", schema={"type": "object"})
emit("ready")
for frame in frames():
    if frame["type"] == "command_invoked":
        emit("command_response", id=frame["id"], action="open_panel",
             open_panel={"id": "main", "title": "T", "lines": ["a"], "footer": "F"})
    elif frame["type"] == "tool_call":
        emit("tool_result", id=frame["id"], content=[{"type": "text", "text": str(os.getpid())}])
    elif frame["type"] == "panel_key" and frame["key"] == "rune":
        emit("panel_render", panel_id="main", lines=[frame["text"]])
    elif frame["type"] == "panel_key":
        emit("panel_close", panel_id="main")
    elif frame["type"] == "panel_close":
        emit("notify", message="closed")
"""


def test_a_panel_is_driven_from_both_sides(zot: Any, rpc: Callable[..., RpcClient], tmp_path: Path) -> None:
    ext = script(tmp_path, "todo", PANEL)
    client = rpc("--ext", str(ext.folder))
    client.ok("command", name="list")
    opened = client.of("panel_open")[-1]
    assert (opened["panel_id"], opened["title"], opened["lines"], opened["footer"]) == ("main", "T", ["a"], "F")
    client.ok("panel_key", panel_id="main", key="rune", text="ü")
    assert client.wait("panel_render")["lines"] == ["ü"]
    client.ok("panel_close", panel_id="main")
    assert client.wait("ext_notify")["message"] == "closed"
    client.ok("command", name="LIST")
    client.ok("panel_key", panel_id="main", key="enter")
    client.wait("panel_close")
    assert client.close() == 0
    assert [frame["type"] for frame in ext.seen][-2:] == ["panel_key", "shutdown"]


def test_a_reload_starts_another_process(zot: Any, rpc: Callable[..., RpcClient], tmp_path: Path) -> None:
    ext = script(tmp_path, "todo", PANEL)
    zot.script(*([{"tool_call": {"name": "count", "args": {}}}], [{"text": "."}]) * 2)
    client = rpc("--ext", str(ext.folder))
    pids = []
    for _ in range(2):
        client.ok("prompt", message="Go")
        pids.append(client.wait("tool_result")["content"][0]["text"])
        client.wait("done")
        client.ok("reload")
    assert pids[0] != pids[1]
    assert client.close() == 0


def test_an_extension_that_dies_is_told_and_the_run_ends_well(
    zot: Any, rpc: Callable[..., RpcClient], tmp_path: Path
) -> None:
    body = (
        "hello(); emit('subscribe', intercept=['before_agent_start']); emit('ready')\n"
        "for frame in frames(): os.kill(os.getpid(), signal.SIGKILL)"
    )
    ext = script(tmp_path, "mortal", body)
    zot.script([{"text": "Yes."}])
    client = rpc("--ext", str(ext.folder))
    client.ok("prompt", message="Go")
    client.wait("done")
    said = [line for line in client.seen if "it was ended by SIGKILL" in str(line)]
    assert said
    assert client.close() == 0

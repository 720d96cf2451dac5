"""Extensions of one name in two places, and a log that cannot be opened, seen over RPC."""

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


def _log(zot: Any, name: str) -> Path:
    return Path(os.environ["ZOT_HOME"]) / "logs" / f"ext-{name}.log"


def test_one_that_is_shadowed_is_named_in_its_log(zot: Any, rpc: Callable[..., RpcClient], tmp_path: Path) -> None:
    used = script(tmp_path / "first", "twin", HERE)
    installed = script(Path(os.environ["ZOT_HOME"]) / "extensions", "twin", HERE)
    client = rpc("--ext", str(used.folder))
    client.ok("command", name="here")
    assert client.of("ext_display")[-1]["text"] == str(used.folder)
    assert client.close() == 0
    assert f"{installed.folder} is not used: {used.folder} comes before it" in _log(zot, "twin").read_text()


def test_a_pipe_in_the_place_of_the_log_holds_nobody_up(
    zot: Any, rpc: Callable[..., RpcClient], tmp_path: Path
) -> None:
    log = _log(zot, "here")
    log.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(log)
    ext = script(tmp_path, "here", HERE)
    client = rpc("--ext", str(ext.folder))
    client.ok("command", name="here")
    assert client.of("ext_display")[-1]["text"] == str(ext.folder)
    assert client.close() == 0
    assert any("cannot be written" in line for line in client.errors)


def test_each_death_is_told_on_stderr(zot: Any, rpc: Callable[..., RpcClient], tmp_path: Path) -> None:
    body = """
hello(); emit("register_command", name="die"); emit("ready")
for frame in frames():
    os._exit(5)
"""
    client = rpc("--ext", str(script(tmp_path, "frail", body).folder))
    for _ in range(2):
        client.call("command", name="die")
        client.ok("reload", what="extensions")
    assert len(client.of("ext_notify")) == 2
    assert client.close() == 0
    assert sum("ended unexpectedly: it exited with status 5" in line for line in client.errors) == 2

"""`ctx.shutdown()`: zot ends as if the person had left, in each mode in its way, and with exit code 0."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pexpect
import pytest
from support.pty_screen import PtyScreen
from support.rpc_client import RpcClient

Start = Callable[..., RpcClient]
Plugin = Callable[..., str]

LEAVES = """
from zot_core import CommandSpec, hookimpl

@hookimpl
def tool_call(event, ctx):
    ctx.shutdown()

@hookimpl
def commands():
    async def leave(args, ctx):
        ctx.shutdown()
        return "good bye"
    return [CommandSpec(name="leave", description="leaves", handler=leave)]

@hookimpl
def session_shutdown(event, ctx):
    open("ended", "w").write(event.reason)
"""
CALL = {"tool_call": {"name": "ls", "args": {}}}


def ended(folder: Path) -> str:
    return (folder / "ended").read_text()


@pytest.mark.parametrize("flag", ["-p", "--json"])
def test_print_and_json_mode_finish_what_they_were_asked(zot: Any, plugin: Plugin, project: Path, flag: str) -> None:
    zot.script([CALL], ["all of it"])
    done = zot(flag, "go", "--plugin", plugin(LEAVES))
    assert done.code == 0 and "all of it" in done.out
    assert ended(project) == "quit"


def test_rpc_ends_after_the_run_and_what_was_asked_before(zot: Any, rpc: Start, plugin: Plugin, project: Path) -> None:
    zot.script([CALL], ["first"], ["second"])
    client = rpc("--plugin", plugin(LEAVES))
    one, two = client.send("prompt", message="one"), client.send("prompt", message="two")
    assert client.ended() == 0
    assert client.response(one)["success"] and client.response(two)["success"]
    assert len(client.of("done")) == 2 and ended(project) == "quit"


def test_rpc_ends_after_the_response_of_a_command(zot: Any, rpc: Start, plugin: Plugin, project: Path) -> None:
    client = rpc("--plugin", plugin(LEAVES))
    client.ok("command", name="leave")
    assert client.ended() == 0 and ended(project) == "quit"


def screen(zot: Any, plugin: str, project: Path) -> PtyScreen:
    env = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", "COLORFGBG": "15;0"}
    line = [sys.executable, "-m", "zot_cli", "--provider", "scripted", "--plugin", plugin]
    return PtyScreen(line, cwd=project, env=env, columns=80, rows=24)


def test_the_screen_ends_when_nothing_is_left_to_do(zot: Any, plugin: Plugin, project: Path) -> None:
    call = {"tool_call": {"name": "bash", "args": {"command": "echo began; while [ ! -e go ]; do sleep 0.02; done"}}}
    zot.script([call], ["the answer"], ["the second answer"])
    with screen(zot, plugin(LEAVES), project) as terminal:
        terminal.wait("scripted/scripted")
        terminal.type("work")
        terminal.press("enter")
        terminal.wait("began")
        terminal.type("and this")
        terminal.press("alt+enter")
        terminal.wait("and this")
        (project / "go").touch()
        assert terminal.wait_end() == 0
        assert "the second answer" in terminal.everything
    assert ended(project) == "quit"


def test_a_command_ends_the_screen(zot: Any, plugin: Plugin, project: Path) -> None:
    with screen(zot, plugin(LEAVES), project) as terminal:
        terminal.wait("scripted/scripted")
        terminal.type("/leave ")
        terminal.press("enter")
        assert terminal.wait_end() == 0
    assert ended(project) == "quit"


def test_the_line_loop_ends_after_the_answer(zot: Any, plugin: Plugin, project: Path) -> None:
    zot.script([CALL], ["the answer"])
    line = ["-m", "zot_cli", "--provider", "scripted", "--plugin", plugin(LEAVES), "go"]
    child = pexpect.spawn(sys.executable, line, encoding="utf-8", timeout=15, env={**os.environ, "TERM": "dumb"})
    try:
        child.expect("the answer")
        child.expect(pexpect.EOF)
        child.wait()
        child.close()
        assert child.exitstatus == 0 and ended(project) == "quit"
    finally:
        child.close(force=True)

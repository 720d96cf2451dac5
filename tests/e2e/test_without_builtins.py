"""The built-ins have no private door: without any one of them, and without all, the rest works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from zot_plugins import BUILTINS

EXAMPLES = Path(__file__).parents[2] / "examples" / "plugins"
TOOLS = {"tool_read": "read", "tool_write": "write", "tool_edit": "edit", "tool_bash": "bash"}
MY_READ = '''
from pathlib import Path
from zot_core import hookimpl, tool

@tool
async def read(path: str) -> str:
    """Read a file."""
    return "mine: " + Path(path).read_text()

@hookimpl
def tools():
    return [read]
'''


def zot(*args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "zot_cli", *args]
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def events(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("missing", BUILTINS)
def test_any_one_can_be_taken_away(missing: str, zot_home: Path) -> None:
    (zot_home / "settings.json").write_text(json.dumps({"disabled_plugins": [missing]}))
    echo = ("--plugin", str(EXAMPLES / "provider_echo.py"), "--provider", "echo")
    done = zot(*echo, "-p", "Is anybody there?")
    assert (done.returncode, done.stdout) == (0, "Is anybody there?\n"), done.stderr
    names = {row["name"] for row in json.loads(zot("plugins", "--json").stdout)["plugins"]}
    assert names == set(BUILTINS) - {missing}


@pytest.mark.parametrize("missing", TOOLS)
def test_the_other_tools_work(missing: str, zot_home: Path, project: Path, tmp_path: Path) -> None:
    (zot_home / "settings.json").write_text(json.dumps({"disabled_plugins": [missing]}))
    (project / "a.txt").write_text("one\n")
    calls = {
        "read": {"path": "a.txt"},
        "write": {"path": "b.txt", "content": "two\n"},
        "edit": {"path": "a.txt", "edits": [{"old_text": "one", "new_text": "three"}]},
        "bash": {"command": "echo four"},
    }
    script = tmp_path / "script.json"
    steps = [{"tool_call": {"name": name, "args": args}} for name, args in calls.items()]
    script.write_text(json.dumps([steps, "Done."]))
    done = zot("--provider", "scripted", "--script", str(script), "--json", "Go")
    assert done.returncode == 0, done.stderr
    failed = {event["name"] for event in events(done) if event["type"] == "tool_result" and event["is_error"]}
    assert failed == {TOOLS[missing]}


def test_a_strangers_plugins_are_enough(project: Path, tmp_path: Path) -> None:
    (project / "a.txt").write_text("one\n")
    mine = tmp_path / "my_read.py"
    mine.write_text(MY_READ)
    stranger = tmp_path / "my_model.py"
    stranger.write_text((EXAMPLES / "provider_echo.py").read_text())
    done = zot(
        "--no-builtins", "--plugin", str(mine), "--plugin", str(stranger), "--provider", "echo", "-p", "Hi there"
    )
    assert (done.returncode, done.stdout) == (0, "Hi there\n"), done.stderr
    listed = json.loads(zot("plugins", "--json", "--no-builtins", "--plugin", str(mine)).stdout)["plugins"]
    assert [row["name"] for row in listed] == ["my_read"]


def test_a_strangers_tool_takes_the_built_ins_place(project: Path, tmp_path: Path) -> None:
    (project / "a.txt").write_text("one\n")
    mine = tmp_path / "my_read.py"
    mine.write_text(MY_READ)
    script = tmp_path / "script.json"
    script.write_text(json.dumps([[{"tool_call": {"name": "read", "args": {"path": "a.txt"}}}], "Done."]))
    done = zot("--plugin", str(mine), "--provider", "scripted", "--script", str(script), "--json", "Go")
    (result,) = [event for event in events(done) if event["type"] == "tool_result"]
    assert result["content"] == [{"type": "text", "text": "mine: one\n"}]


def test_a_session_grows_by_what_is_new(zot_home: Path, project: Path, tmp_path: Path) -> None:
    """Twice the turns are twice the bytes: nothing is written again."""
    (project / "a.txt").write_text("x" * 5_000 + "\n")

    def size(turns: int) -> int:
        script = tmp_path / f"script{turns}.json"
        script.write_text(
            json.dumps([[{"tool_call": {"name": "read", "args": {"path": "a.txt"}}}]] * turns + ["Done."])
        )
        sessions = tmp_path / f"sessions{turns}"
        done = zot("--provider", "scripted", "--script", str(script), "--session-dir", str(sessions), "-p", "Go")
        assert done.returncode == 0, done.stderr
        (file,) = sessions.rglob("*.jsonl")
        return file.stat().st_size

    small, large = size(20), size(40)
    assert 20 * 5_000 < small < 20 * 8_000
    assert 1.9 < large / small < 2.1

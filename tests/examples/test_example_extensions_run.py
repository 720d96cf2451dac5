"""The example extensions through the command, as their READMEs show it: the real bridge, a scripted model."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EXTENSIONS = Path(__file__).parents[2] / "examples" / "extensions"
Zot = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def zot(isolated: Path, tmp_path: Path) -> Zot:
    """`zot(extension, prompt, *steps)` loads a copy of an example; `steps` is what the model says and calls."""

    def zot(name: str, prompt: str, *steps: Any, flags: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        folder = tmp_path / name
        if not folder.exists():
            shutil.copytree(EXTENSIONS / name, folder, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
        script = tmp_path / "script.json"
        script.write_text(json.dumps(steps or ["Nothing was asked."]))
        line = ["--provider", "scripted", "--script", str(script), "--ext", str(folder), *flags, "-p", prompt]
        command = [sys.executable, "-m", "zot_cli", *line]
        options: dict[str, Any] = {"cwd": isolated / "project", "stdin": subprocess.DEVNULL}
        done = subprocess.run(command, capture_output=True, text=True, **options)
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stderr and "error" not in done.stderr, done.stderr
        return done

    return zot


def call(name: str, /, **args: Any) -> list[Any]:
    return [{"tool_call": {"name": name, "args": args}}]


def results(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The texts of tool results in `--json` output."""
    found = []
    for line in done.stdout.splitlines():
        event = json.loads(line)
        if event["type"] == "tool_result":
            found += [block["text"] for block in event["content"] if block["type"] == "text"]
    return found


@pytest.mark.parametrize(
    ("name", "command"), [("hello", "/hello Ada"), ("hello-py", "/hellopy"), ("hello-py", "/HelloPy")]
)
def test_a_command_asks_the_model(zot: Zot, name: str, command: str) -> None:
    assert zot(name, command, "Good morning.").stdout == "Good morning.\n"


def test_a_command_shows_something(zot: Zot, isolated: Path) -> None:
    assert str(isolated / "project") in "".join((done := zot("hello", "/cwd")).stdout + done.stderr)


@pytest.mark.needs("node")
def test_clock(zot: Zot) -> None:
    done = zot("clock", "/clock UTC")
    assert ":" in done.stdout + done.stderr and "there is no time zone" not in done.stdout + done.stderr


def test_weather_and_a_deferred_tool(zot: Zot) -> None:
    steps = [call("weather", city="Oslo"), call("more_weather"), call("forecast", city="Oslo", days=1), "Take a coat."]
    done = zot("weather", "What is it like in Oslo?", *steps, flags=("--json",))
    assert results(done) == ["Oslo: 9°C, rain", "The tool `forecast` is there now.", "in 1 days: 9°C, rain"]


def test_guard_refuses_and_says_why(zot: Zot, isolated: Path) -> None:
    (isolated / "project" / "build").mkdir()
    done = zot("guard", "Clean up", call("bash", command="rm -rf build"), "I may not.", flags=("--json",))
    (said,) = results(done)
    assert "refused by guard, since it deletes whole trees" in said
    assert (isolated / "project" / "build").exists()


def test_todo_keeps_its_list(zot: Zot, tmp_path: Path) -> None:
    done = zot("todo", "Note it", call("todo", action="add", text="milk"), "Noted.", flags=("--json",))
    assert results(done) == ["1. □ milk"]
    assert json.loads((tmp_path / "todo" / "todos.json").read_text(encoding="utf-8")) == [
        {"text": "milk", "done": False}
    ]
    done = zot("todo", "Read it", call("todo", action="list"), "Milk.", flags=("--json",))
    assert results(done) == ["1. □ milk"]


@pytest.mark.needs("jq", "bash")
def test_shell_jq(zot: Zot, isolated: Path) -> None:
    (isolated / "project" / "a b.txt").write_text("1\n2\n")
    done = zot("shell-jq", "Count", call("count_lines", path="a b.txt"), "Two.", flags=("--json",))
    assert results(done) == ["2"]


def test_sunset_is_among_the_themes(zot: Zot) -> None:
    assert "sunset" in zot("sunset", "/themes").stdout


def test_reviewer_brings_its_skill(zot: Zot) -> None:
    done = zot("reviewer", "Review it", call("skill", name="code-review"), "Fine.", flags=("--json",))
    assert "# Reviewing a change" in results(done)[0]

"""Interrupted, terminated, hung up: the code, the session whole, the children gone."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest


def wait_for(path: Path) -> str:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if path.exists() and (text := path.read_text().strip()):
            return text
        time.sleep(0.02)
    raise AssertionError(f"{path} never came")


def gone(pid: int) -> bool:
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "terminated"),
        (signal.SIGHUP, 129, "terminal is gone"),
    ],
)
def test_a_signal_in_a_tool_ends_everything(zot: Any, project: Path, number: int, code: int, said: str) -> None:
    command = "echo $$ > pid.txt; sleep 300"
    zot.script([{"tool_call": {"id": "c1", "name": "bash", "args": {"command": command}}}], ["never"])
    process = zot.start("--json", "x")
    pid = int(wait_for(project / "pid.txt"))
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == code
    assert said in err and "Traceback" not in err
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["type"] for event in events][-2:] == ["turn_end", "done"]
    assert events[-2]["stop"] == "aborted"
    results = [event for event in events if event["type"] == "tool_result"]
    assert [result["id"] for result in results] == ["c1"]
    assert gone(pid)
    zot.script(["going on"])
    assert zot("-c", "-p", "and now?").out == "going on\n"


def test_print_mode_shows_no_half_answer(zot: Any, project: Path) -> None:
    call = {"tool_call": {"name": "bash", "args": {"command": "echo $$ > pid.txt; sleep 300"}}}
    zot.script(["half", call])
    process = zot.start("-p", "x")
    wait_for(project / "pid.txt")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, "", "zot: interrupted\n")


def test_a_handler_that_hangs_does_not_hold_the_end_up(zot: Any, project: Path) -> None:
    path = project / "hang.py"
    path.write_text(
        "import asyncio, pathlib\n"
        "from zot_core import hookimpl\n"
        "@hookimpl\n"
        "async def input(event, ctx):\n"
        "    pathlib.Path('began').write_text('x')\n"
        "    await asyncio.sleep(300)\n",
        encoding="utf-8",
    )
    zot.script(["ok"])
    process = zot.start("-p", "x", "--plugin", str(path))
    wait_for(project / "began")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert process.returncode == 143


def test_an_ignored_interrupt_stays_ignored(zot: Any, project: Path) -> None:
    call = {
        "tool_call": {"name": "bash", "args": {"command": "echo x > began; while [ ! -e go ]; do sleep 0.02; done"}}
    }
    zot.script([call], ["done"])
    process = zot.start("-p", "x", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    wait_for(project / "began")
    process.send_signal(signal.SIGINT)
    (project / "go").touch()
    out, _ = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, "done\n")

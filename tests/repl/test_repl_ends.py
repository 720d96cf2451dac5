"""However it ends, the terminal is as it was, what was said is kept, and what was typed is not lost."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import termios
from pathlib import Path
from typing import Any

import pytest

WAITS = {"tool_call": {"name": "bash", "args": {"command": "echo began; while [ ! -e go ]; do sleep 0.02; done"}}}
BREAKS = """
from zot_core import CommandSpec, hookimpl

@hookimpl
def commands():
    async def boom(args, ctx):
        raise RuntimeError("boom in the command")
    async def loud(args, ctx):
        print("LOUD words"); import sys; print("to stderr", file=sys.stderr)
        return "said properly"
    return [
        CommandSpec(name="boom", description="breaks", handler=boom),
        CommandSpec(name="loud", description="prints", handler=loud),
    ]

@hookimpl
def turn_start(event):
    raise RuntimeError("boom in the handler")
"""
SWITCHES = {"bracketed paste": "2004", "alternate screen": "1049", "mouse": "1000", "motion": "1003", "held": "2026"}


def balanced(zot: Any) -> None:
    """What was switched on was switched off, and the cursor is shown."""
    for name, number in SWITCHES.items():
        on, off = (zot.raw.rfind(f"\x1b[?{number}{end}".encode()) for end in "hl")
        assert on <= off, f"{name} is still on"
    assert zot.raw.rfind(b"\x1b[?25l") <= zot.raw.rfind(b"\x1b[?25h"), "the cursor is hidden"


def stored(desk: Any) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in (desk.home / "sessions").rglob("*.jsonl"))


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
@pytest.mark.parametrize("working", [False, True])
def test_a_signal_gives_the_terminal_back(desk: Any, name: str, code: int, working: bool) -> None:
    desk.script([WAITS])
    zot = desk.zot()
    before = termios.tcgetattr(zot._fd)
    if working:
        zot.type("go")
        zot.press("enter")
        zot.wait("began")
    os.kill(zot.pid, getattr(signal, name))
    assert zot.wait_end() == code
    balanced(zot)
    assert before[3] & termios.ICANON == 0
    assert termios.tcgetattr(zot._fd)[3] & (termios.ICANON | termios.ECHO) == termios.ICANON | termios.ECHO
    if working:
        assert '"began' in stored(desk) or "began" in stored(desk)


def test_sigint_from_outside_is_ctrl_c(desk: Any) -> None:
    desk.script([WAITS])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("began")
    os.kill(zot.pid, signal.SIGINT)
    zot.wait(lambda screen: "Ctrl-C again leaves" in screen.text and "Working" not in screen.text)
    os.kill(zot.pid, signal.SIGINT)
    assert zot.wait_end() in (0, 130)
    balanced(zot)


def test_the_transcript_is_shown_and_a_signal_comes(desk: Any) -> None:
    desk.script(["Said."])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("Said.")
    zot.press("ctrl+o")
    zot.wait("q close")
    os.kill(zot.pid, signal.SIGTERM)
    assert zot.wait_end() == 143
    balanced(zot)


def test_a_terminal_that_is_closed_ends_it(desk: Any) -> None:
    desk.script(
        [{"tool_call": {"name": "bash", "args": {"command": "echo $$ > pid; while :; do echo x; sleep 0.05; done"}}}]
    )
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait(lambda screen: (desk.project / "pid").exists() and "  x" in screen.text)
    os.close(zot._fd)
    zot._fd = os.open(os.devnull, os.O_RDONLY)
    _, status = os.waitpid(zot.pid, 0)
    zot.code = os.waitstatus_to_exitcode(status)
    child = int((desk.project / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_plugins_that_break_or_print_are_named_and_it_goes_on(desk: Any) -> None:
    (desk.home / "plugins").mkdir()
    (desk.home / "plugins" / "breaks.py").write_text(BREAKS)
    desk.script(["Answered all the same."])
    zot = desk.zot()
    zot.type("/boom")
    zot.press("enter")
    zot.wait("boom in the command")
    zot.type("/loud")
    zot.press("enter")
    zot.wait("said properly")
    zot.type("hello")
    zot.press("enter")
    zot.wait("Answered all the same.")
    assert "boom in the handler" in zot.everything
    assert zot.text.count("scripted/scripted") == 1
    assert "[printed] LOUD words\n  to stderr" in zot.everything
    assert not re.search(r"^(LOUD|to stderr)", zot.everything, re.M)
    zot.press("ctrl+d")
    assert zot.wait_end() == 0
    balanced(zot)


def test_a_child_that_is_killed_is_a_failed_call(desk: Any) -> None:
    desk.script([{"tool_call": {"name": "bash", "args": {"command": "echo begun; kill -9 $$"}}}], ["Noted."])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("Noted.")
    assert "begun" in zot.everything
    assert "failed" in zot.everything


def test_a_tool_cannot_write_to_the_terminal(desk: Any) -> None:
    command = "echo SHOUT > /dev/tty || echo no terminal"
    desk.script([{"tool_call": {"name": "bash", "args": {"command": command}}}], ["Quiet."])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("Quiet.")
    assert "no terminal" in zot.everything
    assert not re.search(r"^SHOUT", zot.everything, re.M)


def test_what_was_typed_survives_a_run_that_ends_and_one_that_fails(desk: Any) -> None:
    desk.script([WAITS], ["Done."], [WAITS], [{"error": {"kind": "bad_request", "message": "no such thing"}}])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("began")
    zot.type("half a thought")
    (desk.project / "go").touch()
    zot.wait("Done.")
    zot.wait("› half a thought")
    (desk.project / "go").unlink()
    zot.press("enter")
    zot.wait(lambda screen: screen.everything.count("began") > 1)
    zot.type("and another")
    (desk.project / "go").touch()
    zot.wait("no such thing")
    zot.wait("› and another")


def test_what_waits_comes_back_when_the_run_fails(desk: Any) -> None:
    desk.script([WAITS], [{"error": {"kind": "bad_request", "message": "no such thing"}}])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("began")
    zot.type("for later")
    zot.press("alt+enter")
    zot.wait("afterwards: for later")
    zot.type("unsent")
    (desk.project / "go").touch()
    zot.wait("no such thing")
    zot.wait(lambda screen: "› for later\n  unsent" in screen.text and "afterwards" not in screen.text)


@pytest.mark.parametrize("command", ["/new", "/clone", "/reload"])
def test_what_was_typed_survives_another_session(desk: Any, command: str) -> None:
    desk.script(["One."])
    zot = desk.zot()
    zot.type("go")
    zot.press("enter")
    zot.wait("One.")
    zot.type(command)
    zot.press("enter")
    zot.type("typed early")
    zot.wait("› typed early")
    zot.press("enter")
    zot.wait(lambda screen: "› typed early" in screen.everything and "Working" not in screen.text)


@pytest.mark.parametrize("end", ["SIGKILL", "SIGTERM", "SIGHUP"])
def test_a_draft_is_offered_at_the_next_start(desk: Any, end: str) -> None:
    zot = desk.zot()
    zot.type("a long and careful question")
    zot.wait("careful question")
    zot.wait(lambda screen: any((desk.home / "drafts").glob("*")) if (desk.home / "drafts").exists() else False)
    os.kill(zot.pid, getattr(signal, end))
    zot.wait_end()
    again = desk.zot()
    again.wait("› a long and careful question")
    again.press("ctrl+c", "ctrl+c")
    again.wait_end()
    third = desk.zot()
    third.type("x")
    third.wait("› x")


def test_a_draft_of_a_zot_that_still_runs_is_not_taken(desk: Any) -> None:
    first = desk.zot()
    first.type("mine")
    first.wait(lambda screen: (desk.home / "drafts").exists() and any((desk.home / "drafts").iterdir()))
    second = desk.zot()
    second.type("yours")
    second.wait("› yours")
    first.type(" still")
    first.wait("› mine still")


def test_two_in_one_folder(desk: Any) -> None:
    desk.script(["One."])
    first, second = desk.zot(), desk.zot()
    for zot in (first, second):
        zot.type("hi")
        zot.press("enter")
        zot.wait("One.")
    for zot in (first, second):
        zot.press("ctrl+d")
        assert zot.wait_end() == 0
    files = list((desk.home / "sessions").rglob("*.jsonl"))
    assert len(files) == 2
    assert all(json.loads(line) for path in files for line in path.read_text().splitlines())


def test_a_session_that_another_has_open_is_said(desk: Any) -> None:
    desk.script(["One."])
    first = desk.zot("hi")
    first.wait("One.")
    path: Path = next((desk.home / "sessions").rglob("*.jsonl"))
    second = desk.zot()
    second.type(f"/resume {path}")
    second.press("enter")
    second.wait(lambda screen: re.search(r"open|use|lock", screen.everything))
    second.type("still here")
    second.wait("› still here")


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="the limits of another process cannot be set here")
def test_a_full_disk_is_said_nothing_typed_is_lost_and_it_goes_on_when_there_is_room(desk: Any) -> None:
    desk.script(["First."], ["Second."], ["Third."])
    zot = desk.zot()
    zot.type("one")
    zot.press("enter")
    zot.wait("First.")
    session = next((desk.home / "sessions").rglob("*.jsonl"))
    soft, hard = resource.prlimit(zot.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(zot.pid, resource.RLIMIT_FSIZE, (session.stat().st_size + 100, hard))  # no file may grow beyond
    long = "two " + "word " * 60
    zot.type(long)
    zot.press("enter")
    zot.wait(lambda screen: "File too large" in screen.text and "Working" not in screen.text)
    zot.wait(lambda screen: "› two word" in screen.text.rpartition("File too large")[2])
    resource.prlimit(zot.pid, resource.RLIMIT_FSIZE, (soft, hard))
    zot.press("enter")
    zot.wait(lambda screen: "Second." in screen.text or "Third." in screen.text)
    assert "Traceback" not in zot.everything
    zot.press("ctrl+d")
    assert zot.wait_end() == 0
    users = [line for line in stored(desk).splitlines() if '"role": "user"' in line or '"role":"user"' in line]
    assert sum("two word" in line for line in users) == 1
    assert all(json.loads(line) for line in stored(desk).splitlines())

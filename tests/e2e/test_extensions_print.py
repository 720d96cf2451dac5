"""Extensions under the installed command: print and JSON mode, the end of zot however it comes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.extension_scripts import script

HELLO_PY = Path(__file__).parents[2] / "examples" / "extensions" / "hello-py"
SAYER = """
hello(); emit("register_command", name="say"); emit("ready")
for frame in frames():
    if frame["type"] == "command_invoked":
        for level in ("info", "warn"):
            emit("notify", level=level, message="\\x1b[31m" + level + "\\x1b]0;t\\x07")
        emit("clear_notes")
        emit("command_response", id=frame["id"], **json.loads(frame["args"]))
"""


def running(mark: str) -> list[int]:
    """The processes whose command line has `mark`, those that have ended aside."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            line = (folder / "cmdline").read_bytes()
        except (OSError, NotADirectoryError):
            continue
        if folder.name.isdigit() and mark.encode() in line and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


def until(condition: Any, seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_the_quick_start_greets(zot: Any) -> None:
    zot.script([{"text": "Hello to you."}])
    done = zot("-p", "--ext", str(HELLO_PY), "/hellopy")
    assert (done.code, done.out, done.err) == (0, "Hello to you.\n", "")


def test_notes_go_to_stderr_without_control_sequences(zot: Any, tmp_path: Path) -> None:
    ext = script(tmp_path, "sayer", SAYER)
    done = zot("-p", "-e", str(ext.folder), '/say {"action": "display", "display": "shown \\u001b[2Jnow"}')
    assert done.code == 0, done.err
    assert "\x1b" not in done.err + done.out and "\x07" not in done.err + done.out
    assert "sayer] info" in done.err and "sayer] warning: warn" in done.err
    assert "shown now" in done.out  # its answer to a command


def test_notes_are_events_in_json(zot: Any, tmp_path: Path) -> None:
    ext = script(tmp_path, "sayer", SAYER)
    done = zot("--json", "-e", str(ext.folder), '/say {"action": "display", "display": "shown"}')
    kinds = [event["type"] for event in done.events if event["type"].startswith("ext_")]
    assert kinds == ["ext_notify", "ext_notify", "ext_clear_notes", "ext_display"]


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        ({"action": "noop", "error": "no \x1b[31mluck"}, 1, "the extension sayer says: no luck"),
        ({"action": "insert", "insert": "x"}, 2, "print mode has none"),
        ({"action": "open_panel", "open_panel": {"id": "p"}}, 2, "print mode shows none"),
    ],
)
def test_a_command_that_fails_says_so(zot: Any, tmp_path: Path, answer: Any, code: int, words: str) -> None:
    ext = script(tmp_path, "sayer", SAYER)
    done = zot("-p", "-e", str(ext.folder), f"/say {json.dumps(answer)}")
    assert done.code == code
    assert words in done.err and "\x1b" not in done.err
    assert "Traceback" not in done.err


def test_a_path_on_the_line_begins_where_zot_was_started(zot: Any, project: Path) -> None:
    script(project, "near", "hello(); emit('register_command', name='near'); emit('ready')\nfor f in frames(): pass")
    zot.script([{"text": "Yes."}])
    done = zot("-p", "-e", "./near", "Hi")
    assert (done.code, done.out, done.err) == (0, "Yes.\n", "")
    assert (project / "near" / "seen.jsonl").exists()


def test_one_that_is_broken_costs_only_itself(zot: Any, tmp_path: Path, zot_home: Path) -> None:
    broken = script(tmp_path, "broken", "sys.stderr.write('why\\n'); sys.exit(3)")
    fine = script(tmp_path, "fine", "hello(); emit('ready')\nfor f in frames(): pass")
    zot.script([{"text": "Yes."}])
    done = zot("-p", "-e", str(broken.folder), "-e", str(fine.folder), "Hi")
    assert (done.code, done.out) == (0, "Yes.\n")
    log = zot_home / "logs" / "ext-broken.log"
    assert "it exited with status 3 before its hello" in done.err and str(log) in done.err.replace("\n", "")
    assert "why" in log.read_text()
    assert fine.of("shutdown")


def test_the_projects_are_skipped_with_a_word_until_it_is_trusted(zot: Any, project: Path) -> None:
    ext = script(project / ".zot" / "extensions", "local", "hello(); emit('ready')\nfor f in frames(): pass")
    zot.script([{"text": "Yes."}])
    done = zot("-p", "Hi")
    assert (done.code, done.out) == (0, "Yes.\n")
    assert ".zot/extensions" in done.err
    assert not ext.seen
    assert zot("-p", "--trust", "Hi").code == 0
    assert ext.of("hello_ack")


def test_no_extension_is_no_work(zot: Any, zot_home: Path) -> None:
    zot.script([{"text": "Yes."}])
    command = [sys.executable, "-X", "importtime", "-m", "zot_cli", "--provider", "scripted", "-p", "Hi"]
    for _ in range(2):  # the first start makes the boot snapshot
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert done.stdout == "Yes.\n"
    assert not [
        name for name in modules if name.startswith(("pydantic", "zot_plugins.extension_bridge.", "zot_core.wire.fram"))
    ]


STUBBORN = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-S", "-c", "import signal, time; signal.signal(15, 1); time.sleep(600)", HERE],
                 start_new_session=True)
hello(); emit("ready"); note(up=True)
while True: time.sleep(1)
"""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found in /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_nothing_is_left_however_zot_ends(zot: Any, tmp_path: Path, number: int) -> None:
    ext = script(tmp_path, "stubborn", STUBBORN)
    zot.script([{"hang": True}])
    process = zot.start("-p", "-e", str(ext.folder), "Hi")
    assert until(lambda: any("up" in row for row in ext.seen))
    assert len(running(str(ext.folder))) >= 2
    process.send_signal(number)
    process.wait(15)
    assert until(lambda: not running(f"{ext.folder}"), 8.0)


def test_ten_holdouts_are_ended_side_by_side(zot: Any, tmp_path: Path) -> None:
    many = [script(tmp_path, f"h{n}", STUBBORN) for n in range(10)]
    zot.script([{"text": "Yes."}])
    began = time.monotonic()
    done = zot("-p", *(arg for one in many for arg in ("-e", str(one.folder))), "Hi")
    assert (done.code, done.out) == (0, "Yes.\n")
    assert time.monotonic() - began < 9.0
    assert until(lambda: not running(str(tmp_path)), 2.0)

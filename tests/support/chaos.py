"""What the chaos suite shares: a misbehaving program as a row, its run under the installed command, and what is checked
of every such run.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from support.extension_scripts import Extension, script
from support.marked import MARK, left_over

from zot_core.testing import Script

needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found in /proc")

TOOL = 'emit("register_tool", name="weather", description="w", schema={"type": "object"})'
GREETED = f"hello(); {TOOL}; emit('ready')\n"
ANSWER = 'emit("tool_result", id=frame["id"], content=[{"type": "text", "text": "fog"}])'
FINE = f"{GREETED}for frame in frames():\n    if frame['type'] == 'tool_call': {ANSWER}\n"
SLEEPER = "[sys.executable, '-S', '-c', 'import signal, time; signal.signal(15, 1); time.sleep(600)']"
SHORT = {"plugins": {"extension_bridge": {"tool_timeout_s": 0.3}}}
NO_COMPACTION = {"plugins": {"compaction": {"enabled": False}}}
SLACK = 12.0
"""Seconds that a run may take beyond the clocks that it has to sit out. It takes less than one; but a machine that is
busy with other things must not fail it."""


def one_call(**args: Any) -> Script:
    return Script().tool_call("weather", call_id="c1", **args).then().text("Done.")


def on_call(act: str, head: str = GREETED) -> str:
    """A program that does `act` when its tool is called."""
    return f"{head}for frame in frames():\n    if frame['type'] == 'tool_call':\n        {act}\n"


def on_ask(event: str, act: str, head: str = "") -> str:
    """A program that does `act` when it is asked about an event, and answers its tool's calls."""
    return (
        f"{head}hello(); {TOOL}; emit('subscribe', intercept=[{event!r}]); emit('ready')\n"
        "def answer(**fields): emit('event_intercept_response', id=frame['id'], **fields)\n"
        "for frame in frames():\n"
        f"    if frame['type'] == 'tool_call': {ANSWER}\n"
        f"    if frame['type'] == 'event_intercept':\n        {act}\n"
    )


@dataclass
class Chaos:
    """A program, and what must come of it. Each text of `log`, `err` and `result` has to be somewhere in there; without
    `err` nothing may be told. `{log}` in a text is the path of the log."""

    name: str
    body: str
    log: Sequence[str] = ()
    err: Sequence[str] = ()
    result: Sequence[str] = ()
    """In the results of the calls; without it, they are no errors."""
    replies: Script = field(default_factory=one_call)
    prompt: str = "Go"
    code: int = 0
    answer: str = "Done."
    settings: dict[str, Any] = field(default_factory=dict)
    argv: Sequence[str] = ()
    clocks: float = 0.0
    """Seconds of the limits that the run has to sit out."""
    seen: Callable[[Extension], bool] = lambda extension: True
    manifest: dict[str, Any] = field(default_factory=dict)


@dataclass
class Run:
    """A run of `zot --json` that was started."""

    row: Chaos
    extension: Extension
    process: subprocess.Popen[str]
    home: Path
    mark: str
    began: float


def start(zot: Any, row: Chaos, folder: Path) -> Run:
    """Starts the command with the program, in a home of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    extension = script(folder, "wild", row.body, **row.manifest)
    home, mark = folder / "home", str(folder)
    home.mkdir(mode=0o700)
    (home / "settings.json").write_text(json.dumps(row.settings))
    replies = row.replies.write(folder / "script.json")
    line = ["--json", "--script", str(replies), "--ext", str(extension.folder), *row.argv, row.prompt]
    began = time.monotonic()
    process = zot.start(*line, env={**os.environ, "ZOT_HOME": str(home), MARK: mark})
    return Run(row, extension, process, home, mark, began)


def finish(run: Run) -> str:
    """Waits for the end and checks all that a row promises; gives stderr."""
    row = run.row
    out, err = run.process.communicate(timeout=row.clocks + SLACK + 5)
    taken = time.monotonic() - run.began
    events = [json.loads(line) for line in out.split("\n") if line]
    shown = [e for e in events if e["type"] == "assistant_message"]
    answer = "".join(block.get("text", "") for block in shown[-1]["content"]) if shown else ""
    assert "Traceback" not in err, err
    assert (run.process.returncode, answer) == (row.code, row.answer), (err, events[-4:])
    assert events[-1]["type"] == "done" or row.code == 2, events[-1]
    assert row.clocks <= taken < row.clocks + SLACK, f"it took {taken:.2f} s"
    left = left_over(run.mark)
    assert left == [], f"still running: {left}"

    log_path = run.home / "logs" / "ext-wild.log"
    log = log_path.read_text(encoding="utf-8", errors="replace") if log_path.exists() else ""
    results = [event for event in events if event["type"] == "tool_result"]
    texts = "\n".join(block.get("text", "") for result in results for block in result["content"])
    assert all(result["is_error"] is bool(row.result) for result in results), results
    told = err.replace("\n", " ")
    assert "wild" in told if row.err else err == "", f"stderr: {err!r}"
    for words, where in ((row.log, log), (row.err, told), (row.result, texts)):
        for text in words:
            assert text.replace("{log}", str(log_path)) in where, (text, where)
    assert sum(path.stat().st_size for path in (run.home / "logs").glob("ext-*")) <= 2 << 20, "the log is not bounded"
    assert row.seen(run.extension), run.extension.seen
    return str(err)


def exts(*extensions: Extension) -> list[str]:
    """The flags for them."""
    return [word for one in extensions for word in ("--ext", str(one.folder))]


def logged(name: str, home: Path) -> str:
    """What is in the log of an extension."""
    return (home / "logs" / f"ext-{name}.log").read_text(encoding="utf-8", errors="replace")

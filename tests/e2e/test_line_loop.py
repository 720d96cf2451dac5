"""`zot` alone on a terminal, for now: a prompt, the answer, again."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

Spawn = Callable[..., pexpect.spawn]


@pytest.fixture
def terminal() -> Iterator[Spawn]:
    """Starts the command on a pseudo-terminal; what it wrote is in `logfile_read`."""
    running: list[pexpect.spawn] = []

    def spawn(*argv: str, **options: Any) -> pexpect.spawn:
        line = ["-m", "zot_cli", "--provider", "scripted", *argv]
        child = pexpect.spawn(sys.executable, line, encoding="utf-8", timeout=15, **options)
        child.logfile_read = io.StringIO()
        running.append(child)
        return child

    yield spawn
    for child in running:
        child.close(force=True)


def hang_up(child: pexpect.spawn) -> None:
    """The terminal goes away, as when its window is closed."""
    child.ptyproc.fileobj.close()
    child.closed = child.ptyproc.closed = True


def code(child: pexpect.spawn) -> int | None:
    child.expect(pexpect.EOF)
    child.wait()
    child.close()
    return child.exitstatus if child.exitstatus is not None else 128 + (child.signalstatus or 0)


def test_prompts_and_answers_until_ctrl_d(zot: Any, terminal: Spawn) -> None:
    zot.script(["first answer"], ["second answer"])
    child = terminal("hello")
    child.expect("Ctrl-D")
    child.expect("first answer\r\n> ")
    child.sendline("again")
    child.expect("second answer\r\n> ")
    child.sendeof()
    assert code(child) == 0


def test_typing_meanwhile_steers_and_queues(zot: Any, terminal: Spawn, project: Path) -> None:
    call = {"tool_call": {"name": "bash", "args": {"command": "while [ ! -e go ]; do sleep 0.02; done"}}}
    zot.script([call], ["steered"], ["followed"])
    child = terminal("begin")
    child.expect("· bash")
    child.sendline("look here")
    child.sendline("> and then this")
    child.expect("and then this")
    # Queued lines are in the run before the tool may end.
    child.sendline("/nothing-of-this-name")
    child.expect("nothing-of-this-name")
    (project / "go").touch()
    child.expect("steered")
    child.expect("followed\r\n")
    child.sendeof()
    assert code(child) == 0


def test_ctrl_c_ends_the_answer_and_twice_leaves(zot: Any, terminal: Spawn) -> None:
    zot.script(["begun\n", {"hang": True}], ["ok"])
    child = terminal("x")
    child.expect("begun")
    child.sendintr()
    child.expect("> ")
    child.sendintr()
    assert code(child) == 130


def test_control_sequences_do_not_reach_the_terminal(zot: Any, terminal: Spawn, isolated: Path) -> None:
    """UI-05, on the byte stream: text, tool arguments, errors and notes."""
    evil = "\x1b]52;c;cm0=\x07\x1b[2J\x9b5A\x1bP+q\x1b\\\u202e"
    path = isolated / "evil.py"
    path.write_text(
        "from zot_core import hookimpl\n"
        "@hookimpl\n"
        f"def session_start(event, ctx):\n    ctx.ui.notify({'note ' + evil!r})\n",
        encoding="utf-8",
    )
    call = {"tool_call": {"name": "bash", "args": {"command": f"echo '{evil}'; exit 3 #"}}}
    zot.script(
        [{"text": [f"one {evil[:3]}", f"{evil[3:]} two\n"]}, call], [{"error": {"kind": "auth", "message": evil}}]
    )
    child = terminal("x", "--plugin", str(path))
    child.expect("failed")
    child.expect("zot: ")
    child.expect("> ")
    child.sendeof()
    assert code(child) == 0
    assert not set("\x1b\x9b\u202e\x07") & set(child.logfile_read.getvalue())


def test_a_terminal_that_goes_away_ends_the_run(zot: Any, terminal: Spawn, project: Path) -> None:
    """UI-07: the master side is closed while a tool runs."""
    call = {
        "tool_call": {"name": "bash", "args": {"command": "echo $$ > pid.txt; while :; do echo x; sleep 0.05; done"}}
    }
    zot.script([call])
    child = terminal("x")
    child.expect("· bash")
    hang_up(child)
    assert child.wait() == 129
    tool = int((project / "pid.txt").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(tool, 0)


def test_a_terminal_that_goes_away_unheard_ends_the_loop(zot: Any, terminal: Spawn) -> None:
    """UI-07 with a parent that ignores SIGHUP: the end of input is noticed all the same."""
    child = terminal(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    child.expect("> ")
    hang_up(child)
    assert child.wait() == 0


def test_sigterm_ends_it(zot: Any, terminal: Spawn) -> None:
    child = terminal()
    child.expect("> ")
    child.kill(signal.SIGTERM)
    assert code(child) == 143


def test_print_mode_in_a_terminal_shows_progress(zot: Any, terminal: Spawn) -> None:
    zot.script([{"tool_call": {"name": "bash", "args": {"command": "echo hi"}}}], ["the answer"])
    child = terminal("-p", "x")
    child.expect("· bash  echo hi")
    child.expect("the answer\r\n")
    assert code(child) == 0


@pytest.mark.parametrize(("answered", "listed"), [("2", True), ("1", False)])
def test_whether_a_project_is_trusted_is_asked(
    zot: Any, terminal: Spawn, project: Path, answered: str, listed: bool
) -> None:
    folder = project / ".zot" / "plugins"
    folder.mkdir(parents=True)
    source = (
        "from zot_core import hookimpl\n@hookimpl\ndef session_start(event, ctx):\n    ctx.ui.notify('I am here')\n"
    )
    (folder / "local.py").write_text(source, encoding="utf-8")
    child = terminal()
    child.expect("Trust .*Which\\? ")
    child.sendline(answered)
    child.expect("Ctrl-D leaves")
    child.sendeof()
    assert code(child) == 0
    assert ("I am here" in child.logfile_read.getvalue()) is listed

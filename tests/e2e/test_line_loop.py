"""`zot` on a terminal that cannot move its cursor: a prompt, the answer, again."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

Spawn = Callable[..., pexpect.spawn]
OURS = re.compile("\r\x1b\\[K|\x1b\\[2m|\x1b\\[0m")
"""What zot itself tells a terminal: wipe this line, dim, plain."""


@pytest.fixture
def terminal() -> Iterator[Spawn]:
    """Starts the command on a pseudo-terminal; what it wrote is in `logfile_read`."""
    running: list[pexpect.spawn] = []

    def spawn(*argv: str, **options: Any) -> pexpect.spawn:
        line = ["-m", "zot_cli", "--provider", "scripted", *argv]
        env = {**os.environ, "TERM": "dumb", **options.pop("env", {})}
        child = pexpect.spawn(sys.executable, line, encoding="utf-8", timeout=15, env=env, **options)
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
    child.expect("first answer\r\nzot> ")
    child.sendline("again")
    child.expect("second answer\r\nzot> ")
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
    assert not set("\x1b\x9b\u202e\x07") & set(OURS.sub("", child.logfile_read.getvalue()))


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


def test_an_answer_that_is_not_understood_is_asked_for_again(zot: Any, terminal: Spawn, project: Path) -> None:
    """Finding 8: a typed `y` is no silent no; the default is shown, and Enter takes it."""
    (project / ".zot" / "plugins").mkdir(parents=True)
    (project / ".zot" / "plugins" / "local.py").write_text("", encoding="utf-8")
    child = terminal()
    child.expect(r"Which\? \[1\] ")
    child.sendline("y")
    child.expect("'y' is not understood; a number from 1 to 4, or Enter for 1: ")
    child.sendline("")
    child.expect("not trusted \\(you\\)")
    child.expect("zot> ")
    child.sendeof()
    assert code(child) == 0


def test_an_aborted_run_gives_back_what_waited_for_it(zot: Any, terminal: Spawn) -> None:
    zot.script(["begun\n", {"hang": True}], ["the next answer"], ["too much"])
    child = terminal("x")
    child.expect("begun")
    child.sendline("> and then this")
    child.expect("taken; it follows when the answer is over")
    child.sendline("but also this")
    child.expect("taken; it joins at the next step")
    child.sendintr()
    child.expect("\\(2 lines were not sent:\\)\r\n  but also this\r\n  and then this\r\nzot> ")
    child.sendline("next")
    child.expect("the next answer\r\nzot> ")
    child.sendeof()
    assert code(child) == 0
    assert "too much" not in child.logfile_read.getvalue()


def test_a_failed_run_gives_back_what_waited_for_it(zot: Any, terminal: Spawn, project: Path) -> None:
    call = {"tool_call": {"name": "bash", "args": {"command": "while [ ! -e go ]; do sleep 0.02; done"}}}
    zot.script([call], [{"error": {"kind": "auth", "message": "refused"}}])
    child = terminal("x")
    child.expect("· bash")
    child.sendline("> and then this")
    child.expect("taken")
    (project / "go").touch()
    child.expect("refused")
    child.expect("\\(1 line was not sent:\\)\r\n  and then this\r\nzot> ")
    child.sendeof()
    assert code(child) == 0


def test_what_came_of_an_unfinished_line_is_shown_when_it_is_aborted(zot: Any, terminal: Spawn) -> None:
    zot.script([{"tool_call": {"name": "ls", "args": {"path": "."}}}], ["no end of the line yet", {"hang": True}])
    child = terminal("x")
    child.expect("· ls")
    child.sendintr()
    child.expect("zot> ")
    child.sendeof()
    assert code(child) == 0


def test_the_banner_names_model_and_session(zot: Any, terminal: Spawn) -> None:
    zot.script(["ok"], ["ok"])
    child = terminal("hello there")
    child.expect("scripted/scripted · new session\r\n")
    child.expect("ok\r\nzot> ")
    child.sendeof()
    assert code(child) == 0
    child = terminal("-c")
    child.expect('scripted/scripted · session [0-9a-f]+ goes on: 2 messages, "hello there"\r\n')
    child.sendeof()
    assert code(child) == 0
    child = terminal("--no-session")
    child.expect("no session is kept")
    child.sendeof()
    assert code(child) == 0


def test_a_missing_key_is_said_before_the_first_line(zot: Any, terminal: Spawn, zot_home: Path) -> None:
    child = terminal("--provider", "openai", dimensions=(24, 300))
    child.expect(f"no API key for openai: .*OPENAI_API_KEY.*{zot_home / 'auth.json'}.*\r\nzot> ")
    child.sendeof()
    assert code(child) == 0


@pytest.mark.parametrize(("word", "near"), [("plugin", "plugins"), ("doctr", "doctor"), ("sesions", "sessions")])
def test_one_word_near_a_command_is_no_prompt(zot: Any, terminal: Spawn, word: str, near: str) -> None:
    zot.script(["never"])
    child = terminal(word)
    child.expect(f"no command '{word}'; did you mean zot {near}\\?")
    assert code(child) == 2


def test_a_word_after_two_dashes_is_a_prompt(zot: Any, terminal: Spawn) -> None:
    zot.script(["as you like"])
    child = terminal("--", "plugin")
    child.expect("as you like\r\nzot> ")
    child.sendeof()
    assert code(child) == 0


def test_one_word_near_a_plugins_command_is_no_prompt(zot: Any, terminal: Spawn, isolated: Path) -> None:
    path = isolated / "mine.py"
    path.write_text(
        "import click\nfrom zot_core import CliSpec, hookimpl\n@click.command()\ndef greet(): ...\n"
        "@hookimpl\ndef cli():\n    return [CliSpec(name='greet', help='Greets.', command=greet)]\n",
        encoding="utf-8",
    )
    child = terminal("--plugin", str(path), "gret")
    child.expect("did you mean zot greet")
    assert code(child) == 2


def test_notices_break_at_blanks(zot: Any, terminal: Spawn, zot_home: Path) -> None:
    (zot_home / "settings.json").write_text('{"max_stepps": 1}', encoding="utf-8")
    for argv in (["-p", "x"], ["--no-session"]):
        child = terminal(*argv, dimensions=(24, 80))
        child.expect("ignored\r\n")
        rows = child.before.replace("\r", "").split("\n")
        assert len(rows) > 1 and all(len(row) < 80 or " " not in row.strip() for row in rows)
        assert "'max_steps'?" in child.before and "did you" in " ".join(child.before.split())
        child.close(force=True)


@pytest.mark.parametrize("typed", ["/nosuch thing", "/skill:zot-plugins"])
def test_a_line_with_a_slash_that_is_no_command_waits_like_any_other(zot: Any, terminal: Spawn, typed: str) -> None:
    zot.script(["begun\n", {"hang": True}], ["too much"])
    child = terminal("x")
    child.expect("begun")
    child.sendline(typed)
    child.expect("taken")
    child.sendintr()
    child.expect("\\(1 line was not sent:\\)")
    child.expect("zot> ")
    child.sendeof()
    assert code(child) == 0
    assert "too much" not in child.logfile_read.getvalue()

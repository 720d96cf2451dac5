"""`bash`: it ends when the shell does, never waits for a person, and keeps no more than it shows. BT-01 to BT-07."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.tool_context import FakeToolContext, call, descriptors, run, said, until

from zot_core.toolkit import spool
from zot_core.types.specs import ToolResult


def bash(folder: Path, command: str, **args: Any) -> ToolResult:
    return run("bash", FakeToolContext(folder), command=command, **args)


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def test_output_of_both_streams_in_order(tmp_path: Path) -> None:
    result = bash(tmp_path, "echo one; echo two >&2; pwd")
    assert said(result) == f"one\ntwo\n{tmp_path}"
    assert not result.is_error
    assert result.details is not None and result.details["exit_code"] == 0


def test_no_output_is_said(tmp_path: Path) -> None:
    assert said(bash(tmp_path, "true")) == "(no output)"


def test_a_failure_is_an_error_with_its_code(tmp_path: Path) -> None:
    result = bash(tmp_path, "echo before; exit 3")
    assert result.is_error
    assert said(result) == "before\n\n[Exit code 3]"
    assert said(bash(tmp_path, "false")) == "[Exit code 1]"
    assert said(bash(tmp_path, "kill -SEGV $$")) == "[Ended by signal 11 (SIGSEGV)]"


def test_a_command_that_cannot_start_says_why(tmp_path: Path) -> None:
    assert "does not exist" in said(bash(tmp_path / "gone", "true"))
    assert "NUL" in said(bash(tmp_path, "echo a\0b")) or "null" in said(bash(tmp_path, "echo a\0b"))
    assert "too long" in said(bash(tmp_path, ": " + "x" * 3_000_000))
    assert said(bash(tmp_path, "  \n")) == "command is empty"


# --- BT-01: the end is the shell's end ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "sleep 300 & echo hi",
        "sleep 300 >/dev/null & echo hi",
        "sleep 300 >/dev/null 2>&1 & echo hi",
        "(while true; do sleep 0.01; echo tick; done) >&2 & sleep 0.05; echo hi",
        "setsid sleep 3 & echo hi",
    ],
)
def test_it_returns_when_the_shell_has_ended(tmp_path: Path, command: str) -> None:
    began = time.monotonic()
    result = bash(tmp_path, command)
    assert time.monotonic() - began < 2
    assert "hi" in said(result).split("\n")
    assert not result.is_error


def test_a_background_child_lives_on_until_the_owner_ends(tmp_path: Path) -> None:
    async def main() -> None:
        ctx = FakeToolContext(tmp_path)
        command = "(while true; do echo tick; echo x >> beats; sleep 0.01; done) & echo $!"
        result = await call("bash", {"command": command}, ctx)
        pid = int(said(result).split("\n")[0])
        assert f"process group {result.details['background_group']}" in said(result)
        beats = (tmp_path / "beats").stat().st_size
        # It writes on: nobody closed its pipe, and what it prints does not fill it.
        await until(lambda: (tmp_path / "beats").stat().st_size > beats + 20)
        other = await call("bash", {"command": "echo other"}, ctx)
        assert said(other) == "other"
        assert exists(pid)
        await ctx.processes.close(grace=0.5)
        await until(lambda: not exists(pid))
        assert ctx.processes.live() == []

    asyncio.run(main())


def test_a_helper_of_the_shell_may_finish_its_lines(tmp_path: Path) -> None:
    assert said(bash(tmp_path, "exec > >(sed s/a/b/); echo aa; echo aa")) == "ba\nba"


@pytest.mark.parametrize(
    "command",
    [
        "echo $$ > pid; sleep 300",
        "trap '' TERM; echo $$ > pid; sleep 300; sleep 300",
        "(trap '' TERM; echo $BASHPID > pid; while true; do sleep 1; done) & wait",
        "setsid sh -c 'echo $$ > pid; sleep 300' & wait",
        "echo $$ > pid; kill -STOP $$",
    ],
)
def test_a_time_out_ends_everyone(tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zot_core.toolkit.process.ProcessGroup.end.__defaults__", (0.3,), raising=True)
    monkeypatch.setenv("SHELL", "/bin/bash")
    began = time.monotonic()
    result = bash(tmp_path, f"echo begun; {command}", timeout=0.5)
    assert time.monotonic() - began < 3
    assert result.is_error
    assert said(result).startswith("begun\n\n[Timed out after 0.5 s and was ended.")
    pid = int((tmp_path / "pid").read_text())
    asyncio.run(until(lambda: not exists(pid)))


@pytest.mark.parametrize("how", ["signal", "cancel", "both"])
def test_an_abort_ends_the_group(tmp_path: Path, how: str) -> None:
    async def main() -> None:
        ctx = FakeToolContext(tmp_path)
        task = asyncio.ensure_future(call("bash", {"command": "echo begun; sleep 300 & echo $! > pid; wait"}, ctx))
        await until(lambda: (tmp_path / "pid").exists() and bool(ctx.updates))
        if how != "cancel":
            ctx.signal.abort()
        if how != "signal":
            task.cancel()
        if how == "cancel":
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            result = await task
            assert result.is_error
            assert said(result) == "begun\n\n[Aborted]"
        pid = int((tmp_path / "pid").read_text())
        await until(lambda: not exists(pid))
        ctx.processes.prune()
        assert ctx.processes.live() == []

    asyncio.run(main())


def test_nothing_starts_after_an_abort(tmp_path: Path) -> None:
    ctx = FakeToolContext(tmp_path)
    ctx.signal.abort()
    assert run("bash", ctx, command="touch made").is_error
    assert not (tmp_path / "made").exists()


# --- BT-03: nobody is asked -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "cat",
        "read x; echo read $?",
        "python3 -c 'input()'",
        "exec 3</dev/tty",
        "python3 -c \"open('/dev/tty')\"",
        "seq 1000 | ${PAGER} | tail -1",
        "seq 1000 > long; less long | tail -1",
    ],
)
def test_interactive_commands_end_at_once(tmp_path: Path, command: str) -> None:
    began = time.monotonic()
    result = bash(tmp_path, command)
    assert time.monotonic() - began < 5
    assert result.details is not None and result.details["ended_by"] == "exit"


@pytest.mark.needs("git")
def test_git_waits_for_nobody(tmp_path: Path) -> None:
    result = bash(
        tmp_path,
        "git init -q . && git config user.email a@b && git config user.name n && touch x && git add x && git commit",
    )
    assert result.is_error
    assert "empty commit message" in said(result)
    began = time.monotonic()
    assert bash(tmp_path, "git commit -q -m m && git log && git rev-parse -q HEAD").is_error is False
    assert time.monotonic() - began < 5


def test_no_controlling_terminal_and_a_session_of_its_own(tmp_path: Path) -> None:
    text = said(bash(tmp_path, "ps -o sid=,tty= -p $$ 2>/dev/null || awk '{print $6, $7}' /proc/$$/stat; echo $$"))
    session, terminal, pid = text.split()
    assert session == pid
    assert terminal in ("?", "0")


# --- BT-05: huge output ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "yes | head -c 2000000000",
        "head -c 300000000 /dev/zero | tr '\\0' x",
        "head -c 300000000 /dev/zero | tr '\\0' y >&2",
    ],
)
@pytest.mark.time_limit(90)
def test_huge_output_is_bounded(tmp_path: Path, command: str) -> None:
    async def main() -> tuple[ToolResult, float]:
        ctx = FakeToolContext(tmp_path)
        task = asyncio.ensure_future(call("bash", {"command": command}, ctx))
        worst, last = 0.0, time.monotonic()
        while not task.done():
            await asyncio.sleep(0.005)
            now = time.monotonic()
            worst, last = max(worst, now - last), now
        return await task, worst

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result, worst = asyncio.run(main())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40 * 1024
    assert worst < 0.5
    text = said(result)
    assert len(text.encode()) < 52 * 1024
    assert not result.is_error
    assert re.search(r"The first 6[34]\.\d MB of it: ", text)
    assert result.details is not None
    path = Path(result.details["full_output"])
    assert str(path) in text
    assert 60 << 20 < path.stat().st_size <= spool.FILE_BYTES
    path.unlink()


@pytest.mark.time_limit(60)
def test_the_output_of_earlier_commands_is_released(tmp_path: Path) -> None:
    async def main() -> None:
        ctx = FakeToolContext(tmp_path)
        for _ in range(10):
            result = await call("bash", {"command": "yes 'a line of output' | head -c 50000000"}, ctx)
            assert result.details is not None
            Path(result.details["full_output"]).unlink()

    asyncio.run(main())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    asyncio.run(main())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 * 1024


def test_long_output_shows_its_end_and_a_file_has_the_whole(tmp_path: Path) -> None:
    result = bash(tmp_path, "seq 5000; echo end")
    lines = said(result).split("\n")
    assert lines[0] == "3002"
    assert lines[1999] == "end"
    assert lines[-1].startswith("[Shown: the last 2000 of 5001 lines; the output was 23.3 KB. All of it: ")
    assert result.details is not None
    path = Path(result.details["full_output"])
    assert path.read_text() == "".join(f"{n}\n" for n in range(1, 5001)) + "end\n"
    assert path.stat().st_mode & 0o077 == 0
    path.unlink()


def test_a_long_last_line_is_shown_in_part(tmp_path: Path) -> None:
    result = bash(tmp_path, "python3 -c \"print('é' * 100000)\"")
    body = said(result).split("\n\n[")[0]
    assert set(body) == {"é"}
    assert len(body.encode()) == 50 * 1024
    assert "[Shown: a part of the last line (50.0 KB); the output was 195.3 KB." in said(result)
    Path(result.details["full_output"]).unlink()  # type: ignore[index]


def test_an_abort_works_while_output_floods(tmp_path: Path) -> None:
    async def main() -> float:
        ctx = FakeToolContext(tmp_path)
        task = asyncio.ensure_future(call("bash", {"command": "yes"}, ctx))
        await until(lambda: len(ctx.updates) > 2)
        began = time.monotonic()
        ctx.signal.abort()
        result = await task
        Path(result.details["full_output"]).unlink()  # type: ignore[index]
        return time.monotonic() - began

    assert asyncio.run(main()) < 1


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: Any, **_more: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkstemp", full)
    assert "The whole could not be saved: the disk is full" in said(bash(tmp_path, "seq 5000"))


# --- BT-07: progress and control sequences --------------------------------------------------------------------------


def test_progress_and_control_sequences_leave_what_is_seen(tmp_path: Path) -> None:
    result = bash(
        tmp_path,
        "for i in $(seq 200); do printf '%s%%\\r' $i; done; "
        "printf '\\033[31mred\\033[0m\\n\\033[A\\033[2J\\033[?1049h'; printf '\\033]0;title\\007done\\n'",
    )
    assert said(result) == "red\ndone"


def test_invalid_utf_8_is_replaced(tmp_path: Path) -> None:
    assert said(bash(tmp_path, "printf 'a\\377b\\n'")) == "a\ufffdb"


# --- progress -------------------------------------------------------------------------------------------------------


def test_progress_is_throttled_and_bounded(tmp_path: Path) -> None:
    ctx = FakeToolContext(tmp_path)
    result = run("bash", ctx, command="for i in $(seq 300); do echo line $i; sleep 0.002; done")
    assert result.details is not None
    assert 2 <= len(ctx.updates) <= result.details["duration_s"] * 10 + 1
    assert all(len(text.rstrip("\n").split("\n")) <= 40 for text, _ in ctx.updates)
    text, details = ctx.updates[0]
    assert text.startswith("line 1\n")
    assert details["lines"] >= 1


# --- environment ----------------------------------------------------------------------------------------------------


def test_credentials_of_zot_are_not_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    monkeypatch.setenv("ZOTCORE_RPC_TOKEN", "secret")
    monkeypatch.setenv("OTHER", "kept")
    ctx = FakeToolContext(tmp_path, secret_env=frozenset({"SOME_API_KEY"}))
    text = said(run("bash", ctx, command="env"))
    assert "secret" not in text
    assert "OTHER=kept" in text
    assert {"TERM=dumb", "PAGER=cat", "GIT_TERMINAL_PROMPT=0", "AI_AGENT=zot", "ZOT_AGENT=1"} <= set(text.split("\n"))


def test_a_command_may_know_its_session(tmp_path: Path) -> None:
    ctx = FakeToolContext(
        tmp_path,
        session=SimpleNamespace(id="s1", file="/s1.jsonl"),
        models=SimpleNamespace(current=SimpleNamespace(provider="p", id="m"), thinking="low"),
    )
    command = "echo $ZOT_SESSION_ID $ZOT_SESSION_FILE $PI_SESSION_ID $ZOT_PROVIDER/$ZOT_MODEL:$ZOT_REASONING_LEVEL"
    assert said(run("bash", ctx, command=command)) == "s1 /s1.jsonl s1 p/m:low"
    ctx.settings = {"expose_session_environment": False}
    assert said(run("bash", ctx, command="echo .$ZOT_SESSION_ID.$PI_MODEL.")) == "..."


@pytest.mark.parametrize(
    ("shell", "used"),
    [("/bin/sh", "/bin/sh"), ("/usr/bin/fish", "/bin/bash"), ("/none/bash", "/bin/bash"), ("", "/bin/bash")],
)
def test_the_users_shell(shell: str, used: str) -> None:
    from zot_core.toolkit.shell import user_shell

    assert user_shell({"SHELL": shell}) == used


# --- the gate and other shells --------------------------------------------------------------------------------------


def test_the_gate_may_rewrite_and_block(tmp_path: Path) -> None:
    class Gated(FakeToolContext):
        async def shell_spawn(self, command: str, cwd: str, env: Any) -> Any:
            if command == "bad":
                raise PermissionError("not that")
            return SimpleNamespace(command=f"{command}; echo $MORE", cwd="/", env={**env, "MORE": "more"})

    assert said(run("bash", Gated(tmp_path), command="pwd")) == "/\nmore"
    result = run("bash", Gated(tmp_path), command="bad")
    assert result.is_error
    assert said(result) == "Blocked: not that"


def test_a_plugins_shell_takes_the_place_of_this_machine(tmp_path: Path) -> None:
    from zot_core.toolkit.operations import ShellExit

    class Elsewhere:
        async def run(self, command: str, **options: Any) -> ShellExit:
            options["on_data"](f"{command} in {options['cwd']}\n".encode())
            return ShellExit(code=None if options["timeout"] is None else 7)

    ctx = FakeToolContext(tmp_path, supplied={"bash": Elsewhere()})
    assert said(run("bash", ctx, command="x")) == f"x in {tmp_path}\n\n[Exit code 7]"


# --- leaks ----------------------------------------------------------------------------------------------------------


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "_folder", [tmp_path / "scratch"])
    (tmp_path / "scratch").mkdir()

    async def main() -> None:
        ctx = FakeToolContext(tmp_path)
        await call("bash", {"command": "true"}, ctx)
        before = descriptors()
        for n in range(40):
            await call("bash", {"command": f"sleep 60 & echo {n}"}, ctx)
        assert len(ctx.processes.live()) == 40
        await call("bash", {"command": "sleep 60", "timeout": 0.01}, ctx)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await call("bash", {"command": "seq 100000; sleep 60"}, ctx)
        await call("bash", {"command": "for i in $(seq 20000); do printf '%s\\r' $i; done"}, ctx)
        await ctx.processes.close()
        assert ctx.processes.live() == []
        assert descriptors() == before

    asyncio.run(main())
    assert list((tmp_path / "scratch").iterdir()) == []


def test_the_end_of_the_interpreter_kills_what_is_left(tmp_path: Path) -> None:
    import subprocess
    import sys

    script = (
        "import sys, asyncio\n"
        "from pathlib import Path\n"
        f"sys.path[:0] = {sys.path!r}\n"
        "from support.tool_context import FakeToolContext, call, said\n"
        "from zot_core.toolkit.process import shared\n"
        "ctx = FakeToolContext(Path(sys.argv[1]), processes=shared)\n"
        "print(said(asyncio.run(call('bash', {'command': 'sleep 300 & echo $!'}, ctx))))\n"
    )
    out = subprocess.run([sys.executable, "-W", "error", "-c", script, str(tmp_path)], capture_output=True, text=True)
    assert out.stderr == ""
    pid = int(out.stdout.split()[0])
    asyncio.run(until(lambda: not exists(pid)))

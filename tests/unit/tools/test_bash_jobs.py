"""Background commands: started, looked at, given input, ended; they die with their session, however it ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from support.tool_context import FakeToolContext, call, descriptors, said, schema_of, spec_of, until

from zot_core.toolkit import jobs, spool
from zot_core.toolkit.operations import ShellExit
from zot_core.toolkit.process import ProcessGroups
from zot_core.types.specs import ToolResult, resolve


def exists(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def pid_in(path: Path) -> int:
    return int(path.read_text())


async def start(ctx: FakeToolContext, command: str, **more: Any) -> tuple[str, ToolResult]:
    """A job's id, and what its start told."""
    result = await call("bash", {"command": command, "background": True, **more}, ctx)
    assert result.details is not None
    return result.details["job"], result


async def job(ctx: FakeToolContext, id: str = "", **args: Any) -> ToolResult:
    return await call("bash_job", {"id": id, **args}, ctx)


def in_session(folder: Path, main: Callable[[FakeToolContext], Awaitable[None]]) -> FakeToolContext:
    """Runs `main` with a context, and ends its session."""
    ctx = FakeToolContext(folder)

    async def whole() -> None:
        try:
            await main(ctx)
        finally:
            await ctx.processes.close(grace=0.3)

    asyncio.run(whole())
    return ctx


def test_what_models_are_told_is_small() -> None:
    specs = [spec_of("bash"), spec_of("bash_job")]
    told = [{"name": s.name, "description": s.description, "parameters": s.parameters} for s in specs]
    assert sum(len(json.dumps(one, separators=(",", ":"))) for one in told) < 1024
    assert all(spec.parameters == schema_of(resolve(spec.arguments)) for spec in specs)


def test_previews() -> None:
    def shown(name: str, **args: Any) -> str:
        spec = spec_of(name)
        text: str = resolve(spec.preview)(resolve(spec.arguments).model_validate(args))
        return text

    assert shown("bash", command="make", background=True) == "make (in the background)"
    assert shown("bash_job") == "peek"
    assert shown("bash_job", id="j1", action="kill") == "kill j1"
    assert shown("bash_job", id="j1", action="input", text="rm x") == "input j1\nrm x"


def test_a_job_is_looked_at_and_its_end_is_noted(tmp_path: Path) -> None:
    async def main(ctx: FakeToolContext) -> None:
        id, begun = await start(ctx, "echo one; until [ -e go ]; do sleep 0.02; done; echo two; exit 3")
        assert said(begun).startswith(f"one\n\n[{id} runs since 0 s]")
        assert begun.activate_tools == ("bash_job",)
        assert not begun.is_error
        quiet = await job(ctx, id)
        assert said(quiet).startswith(f"[{id} runs since")
        (tmp_path / "go").touch()
        end = await job(ctx, id, wait=10)
        assert said(end).startswith(f"two\n\n[{id} ended after ")
        assert said(end).endswith("exit code 3]")
        assert end.is_error
        assert end.details is not None and end.details["exit_code"] == 3
        again = await job(ctx, id)
        assert said(again).startswith(f"[{id} ended after ")

    in_session(tmp_path, main)


def test_a_job_that_fails_at_once_says_so(tmp_path: Path) -> None:
    async def main(ctx: FakeToolContext) -> None:
        _, result = await start(ctx, "no-such-program-at-all")
        assert result.is_error
        assert "not found" in said(result) and "exit code 127" in said(result)
        _, result = await start(ctx, "echo a\0b")
        assert result.is_error
        assert "cannot be passed" in said(result)

    in_session(tmp_path, main)


def test_input_reaches_the_job_line_by_line(tmp_path: Path) -> None:
    async def main(ctx: FakeToolContext) -> None:
        id, _ = await start(ctx, 'while read -r line; do echo "got $line"; done; echo over')
        assert said(await job(ctx, id, action="input", text="one")).startswith("got one\n\n[")
        assert said(await job(ctx, id, action="input", text="two\nthree\n")).startswith("got two\ngot three\n\n[")
        end = await job(ctx, id, action="input", wait=5)
        assert said(end).startswith(f"over\n\n[{id} ended after ")
        assert not end.is_error
        assert "ended after" in said(await job(ctx, id, action="input", text="late"))

    in_session(tmp_path, main)


def test_a_program_that_does_not_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_INPUT_S", 0.2)

    async def main(ctx: FakeToolContext) -> None:
        id, _ = await start(ctx, "sleep 60")
        result = await job(ctx, id, action="input", text="x" * 200_000)
        assert result.is_error
        assert "does not read its input" in said(result)
        deaf, _ = await start(ctx, "exec <&-; sleep 60")
        result = await job(ctx, deaf, action="input", text="x")
        assert said(result) == f"{deaf} has closed its input"

    in_session(tmp_path, main)


def test_a_python_prompt_can_be_talked_to(tmp_path: Path) -> None:
    async def main(ctx: FakeToolContext) -> None:
        id, _ = await start(ctx, "python3 -i -q -u")
        assert said(await job(ctx, id, action="input", text="print(6 * 7)", wait=0.5)).count("42") == 1
        assert (await job(ctx, id, action="input", text="exit()", wait=5)).details["running"] is False  # type: ignore[index]

    in_session(tmp_path, main)


def test_kill_ends_everyone(tmp_path: Path) -> None:
    async def main(ctx: FakeToolContext) -> None:
        id, _ = await start(ctx, "echo up; setsid sh -c 'echo $$ > pid; sleep 300' & wait")
        await until(lambda: (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text()))
        result = await job(ctx, id, action="kill")
        assert said(result).startswith(f"[{id} killed after ")
        assert not result.is_error
        await until(lambda: not exists(pid_in(tmp_path / "pid")))
        assert "killed" in said(await job(ctx, id, action="kill"))

    in_session(tmp_path, main)


def test_jobs_are_listed(tmp_path: Path) -> None:
    async def main(ctx: FakeToolContext) -> None:
        assert said(await job(ctx)) == "No background jobs"
        one, _ = await start(ctx, "sleep 60;\n true")
        two, _ = await start(ctx, "true")
        lines = said(await job(ctx)).split("\n")
        assert lines[0].startswith(f"{one} runs since") and lines[0].endswith(": sleep 60; true")
        assert lines[1].startswith(f"{two} ended after") and lines[1].endswith("exit code 0: true")
        missing = await job(ctx, "j0")
        assert missing.is_error
        assert f"Known: {one}, {two}" in said(missing)
        assert (await job(ctx, action="kill")).is_error

    in_session(tmp_path, main)


def test_an_end_is_told_with_the_next_command(tmp_path: Path) -> None:
    async def main(ctx: FakeToolContext) -> None:
        id, _ = await start(ctx, "sleep 0.5; echo late; exit 4")
        await jobs.jobs_of(ctx.processes).get(id).done.wait()
        text = said(await call("bash", {"command": "echo now"}, ctx))
        assert text.startswith(f"now\n\n[{id} ended after ")
        assert "late" not in text
        assert said(await call("bash", {"command": "echo now"}, ctx)) == "now"
        assert said(await job(ctx, id)).startswith("late\n\n[")

    in_session(tmp_path, main)


def test_a_time_limit_holds_only_when_it_is_named(tmp_path: Path) -> None:
    async def main(ctx: FakeToolContext) -> None:
        ctx.settings = {"timeout": 0.1}
        free, _ = await start(ctx, "sleep 60")
        limited, _ = await start(ctx, "sleep 60", timeout=0.4)
        end = await job(ctx, limited, wait=10)
        assert "timed out after 0.4 s" in said(end)
        assert end.is_error
        assert "runs since" in said(await job(ctx, free))

    in_session(tmp_path, main)


def test_output_is_bounded_and_whole_in_a_file(tmp_path: Path) -> None:
    async def main(ctx: FakeToolContext) -> None:
        id, _ = await start(ctx, "read x; seq 100000; echo end; sleep 60")
        work = jobs.jobs_of(ctx.processes).get(id)
        await work.write("go\n")
        await until(lambda: work._spool.lines == 100_001)
        text = said(await job(ctx, id))
        assert len(text.encode()) < 52 * 1024
        assert "\nend\n\n[Shown: the end of " in text
        path = Path(text.partition("All of the output: ")[2].partition("]")[0])
        assert path.read_text().endswith("99999\n100000\nend\n")
        assert said(await job(ctx, id)).startswith(f"[{id} runs")

    in_session(tmp_path, main)


def test_a_character_in_two_pieces_stays_whole(tmp_path: Path) -> None:
    async def main(ctx: FakeToolContext) -> None:
        id, first = await start(ctx, "printf 'caf\\303'; read x; printf '\\251\\n'; cat")
        assert said(first).startswith("caf\n\n[")
        assert said(await job(ctx, id, action="input", text="x")).startswith("é\n\n[")

    in_session(tmp_path, main)


def test_too_many_jobs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MAX_RUNNING", 2)

    async def main(ctx: FakeToolContext) -> None:
        for _ in range(2):
            await start(ctx, "sleep 60")
        result = await call("bash", {"command": "sleep 60", "background": True}, ctx)
        assert result.is_error
        assert "kill one first" in said(result)

    in_session(tmp_path, main)


def test_waiting_ends_with_the_run_and_the_job_goes_on(tmp_path: Path) -> None:
    async def main(ctx: FakeToolContext) -> None:
        id, _ = await start(ctx, "sleep 60")
        waiting = asyncio.ensure_future(job(ctx, id, wait=500))
        await asyncio.sleep(0)
        ctx.signal.abort()
        assert "runs since" in said(await waiting)

    in_session(tmp_path, main)


def test_a_plugins_shell_runs_jobs_without_input(tmp_path: Path) -> None:
    class Elsewhere:
        async def run(self, command: str, *, on_data: Any, signal: Any, **options: Any) -> ShellExit:
            on_data(b"far away\n")
            await signal.wait()
            return ShellExit(code=None, ended_by="abort")

    async def main(ctx: FakeToolContext) -> None:
        ctx.supplied = {"bash": Elsewhere()}
        id, begun = await start(ctx, "x")
        assert said(begun).startswith("far away\n")
        assert said(await job(ctx, id, action="input", text="x")) == f"{id} takes no input (any more)"
        assert "killed after" in said(await job(ctx, id, action="kill"))

    in_session(tmp_path, main)


# --- the end of the session -----------------------------------------------------------------------------------------

ORPHANS = [
    "sleep 300 & echo $! > pid",
    "setsid sh -c 'echo $$ > pid; exec sleep 300' & until [ -s pid ]; do sleep 0.01; done",
    "(setsid sh -c 'trap : TERM; echo $$ > pid; while :; do sleep 1; done' &); until [ -s pid ]; do sleep 0.01; done",
    "nohup sh -c '(echo $BASHPID > pid; sleep 300)' >/dev/null 2>&1 & until [ -s pid ]; do sleep 0.01; done",
]


@pytest.mark.parametrize("command", ORPHANS)
@pytest.mark.parametrize("background", [False, True])
def test_all_end_with_the_session(
    tmp_path: Path, command: str, background: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/bash")
    command = command.replace("sh -c", "bash -c")

    async def main(ctx: FakeToolContext) -> None:
        await call("bash", {"command": command, "background": background}, ctx)
        await until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "")
        assert exists(pid_in(tmp_path / "pid"))

    before = descriptors()
    in_session(tmp_path, main)
    asyncio.run(until(lambda: not exists(pid_in(tmp_path / "pid"))))
    assert descriptors() <= before + 1  # the watcher's pipe, in the first test that starts a command


def test_another_session_keeps_its_own(tmp_path: Path) -> None:
    async def main(ctx: FakeToolContext) -> None:
        other = FakeToolContext(tmp_path, processes=ProcessGroups())
        command = "(setsid sh -c 'echo $$ > pid; exec sleep 300' &); until [ -s pid ]; do sleep 0.01; done"
        await call("bash", {"command": command}, ctx)
        await other.processes.close()
        assert exists(pid_in(tmp_path / "pid"))

    in_session(tmp_path, main)


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT])
def test_a_killed_zot_leaves_nobody(tmp_path: Path, background: bool, number: int) -> None:
    script = (
        "import sys, asyncio\n"
        "from pathlib import Path\n"
        f"sys.path[:0] = {sys.path!r}\n"
        "from support.tool_context import FakeToolContext, call\n"
        "async def main():\n"
        "    ctx = FakeToolContext(Path(sys.argv[1]))\n"
        "    command = 'sleep 300 & echo $! > one; (setsid sh -c \"echo \\\\$\\\\$ > two; exec sleep 300\" &); wait'\n"
        f"    await call('bash', {{'command': command, 'background': {background}}}, ctx)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    child = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stderr=subprocess.DEVNULL)
    files = [tmp_path / "one", tmp_path / "two"]
    asyncio.run(until(lambda: all(file.exists() and file.read_text() for file in files), 10))
    assert all(exists(pid_in(file)) for file in files)
    os.kill(child.pid, number)
    child.wait()
    asyncio.run(until(lambda: not any(exists(pid_in(file)) for file in files)))


# --- leaks ----------------------------------------------------------------------------------------------------------


@pytest.mark.time_limit(120)
def test_a_thousand_commands_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Background children, time-outs, aborts, jobs and floods, twenty at a time."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(spool, "_folder", [scratch])
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("true", {}),
        ("sleep 300 & echo $! >> pids", {}),
        ("(setsid sleep 300 & echo $! >> pids)", {}),
        ("echo $$ >> pids; sleep 300", {"timeout": 0.02}),
        ("trap '' TERM; echo $$ >> pids; sleep 300", {"timeout": 0.02}),
        ("abort", {}),
        ("cancel", {}),
        ("echo $$ >> pids; cat", {"background": True}),
        ("seq 30000", {}),
        ("true", {"background": True}),
    ]
    monkeypatch.setattr("zot_core.toolkit.process.ProcessGroup.end.__defaults__", (0.1,), raising=True)
    monkeypatch.setattr("zot_core.toolkit.jobs.MAX_RUNNING", 1000)
    monkeypatch.setattr("zot_plugins.tool_bash.bash._FIRST_LOOK_S", 0.02)

    async def one(number: int, processes: ProcessGroups) -> None:
        command, more = kinds[number % len(kinds)]
        ctx = FakeToolContext(tmp_path, call_id=f"c{number}", processes=processes)
        loop = asyncio.get_running_loop()
        if command == "abort":
            loop.call_later(0.02, ctx.signal.abort)
        running = asyncio.ensure_future(
            call("bash", {"command": "sleep 300" if command in ("abort", "cancel") else command, **more}, ctx)
        )
        if command == "cancel":
            loop.call_later(0.02, running.cancel)
            await asyncio.wait([running])
            return
        path = ((await running).details or {})["full_output"]
        if path is not None:
            Path(path).unlink()

    async def main() -> None:
        for rounds in range(10):
            processes = ProcessGroups()
            for batch in range(5):
                numbers = range(rounds * 100 + batch * 20, rounds * 100 + batch * 20 + 20)
                await asyncio.gather(*(one(number, processes) for number in numbers))
            await processes.close(grace=0.2)
            assert processes.live() == []

    async def first() -> None:
        ctx = FakeToolContext(tmp_path)
        await call("bash", {"command": "true"}, ctx)

    asyncio.run(first())
    before = descriptors()
    asyncio.run(main())
    assert descriptors() == before
    assert list(scratch.iterdir()) == []
    pids = [int(line) for line in (tmp_path / "pids").read_text().split()]
    assert len(pids) > 300
    asyncio.run(until(lambda: not any(map(exists, pids))))
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    assert len(children) <= 1  # the watcher

"""The whole tool `powershell`, from the call to the result, through a stand-in for the program, or the real one where
it is installed; and the ways that Windows takes where Unix has process groups, here with stand-ins for its programs."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support import pwsh, sandboxes
from support.tool_context import FakeToolContext, said, until

from zot_core.toolkit import process, shell
from zot_core.toolkit.jobs import Jobs
from zot_core.toolkit.process import ProcessGroups
from zot_core.types.specs import FilesystemPolicy, ToolResult
from zot_plugins.tool_powershell import powershell


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Puts the stand-in on the PATH; the file where it tells how it was called."""
    folder = tmp_path / "bin"
    folder.mkdir()
    file = tmp_path / "report.json"
    program(folder, "pwsh", f'exec {sys.executable} {pwsh.__file__} {file} "$@"')
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return file


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def windows(report: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Processes are started and ended as on Windows; `taskkill` is a stand-in. The file where that notes its calls."""
    calls = report.with_name("taskkill")
    kill = 'for p in $(ps -o pid= --ppid "$1"); do tree "$p"; done; kill -9 "$1"'
    program(report.parent / "bin", "taskkill", f'tree() {{ {kill}; }}\necho "$@" >> {calls}\ntree "$4" 2>/dev/null')
    monkeypatch.setattr(process, "_WINDOWS", True)
    monkeypatch.setattr(process, "_ALONE", {})
    return calls


def run(folder: Path, command: str, ctx: FakeToolContext | None = None, **args: Any) -> ToolResult:
    async def main() -> ToolResult:
        context = ctx or FakeToolContext(folder)
        try:
            return await powershell.execute(powershell.PowerShellArgs(command=command, **args), context)
        finally:
            await context.processes.close(grace=0.2)

    return asyncio.run(main())


def test_it_is_called_as_the_documentation_wants(report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "secret")
    ctx = FakeToolContext(tmp_path, secret_env=frozenset({"SOME_KEY"}))
    result = run(tmp_path, "echo \"it's\" '50% & more' ^ | cat", ctx)
    assert (said(result), result.is_error) == ("it's 50% & more ^", False)
    told = json.loads(report.read_text())
    assert told["stdin"] == ""
    assert told["cwd"] == str(tmp_path)
    assert told["session"]
    assert "SOME_KEY" not in told["env"]
    assert told["env"]["PYTHONIOENCODING"] == "utf-8"
    assert told["env"]["TERM"] == "dumb"
    assert told["script"].splitlines()[1] == "echo \"it's\" '50% & more' ^ | cat"


@pytest.mark.parametrize("text", ["é — 日本 🙂", "tab\tand 'quotes' \"both\"", "x" * 9000])
def test_text_arrives_as_it_was_printed(report: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "text").write_text(text)
    assert said(run(tmp_path, "cat text # é")).startswith(text[:40])


@pytest.mark.parametrize(("command", "code"), [("exit 3", 3), ("false", 1), ("parse error {", 1), ("exit 255", 255)])
def test_exit_codes(report: Path, tmp_path: Path, command: str, code: int) -> None:
    result = run(tmp_path, command)
    assert result.is_error
    assert said(result).endswith(f"[Exit code {code}]")
    assert "CLIXML" not in said(result)


def test_a_time_out_ends_it_with_its_children(report: Path, tmp_path: Path) -> None:
    result = run(tmp_path, "echo begun; sleep 300 & echo $! > pid; sleep 300", timeout=1.0)
    assert said(result).startswith("begun\n\n[Timed out after 1 s")
    pid = int((tmp_path / "pid").read_text())
    asyncio.run(until(lambda: ended(pid)))


def ended(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.parametrize("cancelled", [False, True])
def test_an_abort_ends_it(report: Path, tmp_path: Path, cancelled: bool) -> None:
    async def main() -> None:
        ctx = FakeToolContext(tmp_path)
        command = powershell.PowerShellArgs(command="echo $$ > pid; sleep 300")
        running = asyncio.ensure_future(powershell.execute(command, ctx))
        await until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "")
        if cancelled:
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
        else:
            ctx.signal.abort()
            assert said(await running) == "[Aborted]"
        await until(lambda: ended(int((tmp_path / "pid").read_text())))

    asyncio.run(main())


def test_the_longest_command_that_is_taken_fits_the_systems_command_line(report: Path, tmp_path: Path) -> None:
    def fits(size: int) -> bool:
        return not said(run(tmp_path, "#" * size)).startswith("The command is too long")

    low, high = 1, 20_000
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    result = run(tmp_path, "#" * low)
    assert (said(result), result.is_error) == ("(no output)", False)
    assert low > 11_000


@pytest.mark.parametrize("kind", ["bwrap", "landlock"])
def test_a_jail_holds_for_it(report: Path, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sandboxes.only(monkeypatch, kind)
    (tmp_path / "project").mkdir()
    (tmp_path / "secret").write_text("secret")
    program(tmp_path / "bin", "pwsh", f'eval "exec cat {tmp_path}/secret"')
    jail = FilesystemPolicy(
        name="jail",
        check=lambda request: None,
        roots=(str(tmp_path / "project"),),
        readable_roots=(str(tmp_path / "bin"),),
    )
    result = run(tmp_path, "x", FakeToolContext(tmp_path / "project", policies=(jail,)))
    assert result.is_error and "secret\n" not in said(result) and not said(result).startswith("secret\n")


# --- as on Windows --------------------------------------------------------------------------------------------------


def test_a_tree_is_ended_by_taskkill(windows: Path, tmp_path: Path) -> None:
    began = time.monotonic()
    result = run(tmp_path, "echo begun; sleep 300 & echo $! > pid; sleep 300", timeout=1.0)
    assert said(result).startswith("begun\n\n[Timed out after 1 s")
    assert time.monotonic() - began < 5
    assert windows.read_text().startswith("/T /F /PID ")
    asyncio.run(until(lambda: ended(int((tmp_path / "pid").read_text()))))


@pytest.mark.parametrize("how", ["missing", "failing", "hanging"])
def test_without_a_working_taskkill_the_program_itself_is_ended(
    windows: Path, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_KILLING_S", 0.2)
    if how == "missing":
        (tmp_path / "bin" / "taskkill").unlink()
    else:
        program(tmp_path / "bin", "taskkill", "exit 1" if how == "failing" else "exec sleep 5")
    result = run(tmp_path, "echo begun; echo $PPID > pid; exec sleep 3", timeout=1.0)
    assert "[Timed out after 1 s" in said(result)
    asyncio.run(until(lambda: ended(int((tmp_path / "pid").read_text()))))


def test_what_holds_the_pipe_does_not_hold_the_call(windows: Path, tmp_path: Path) -> None:
    began = time.monotonic()
    assert said(run(tmp_path, "sleep 4 & echo hi")) == "hi"
    assert time.monotonic() - began < 3


def test_names_of_keys_have_no_case_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "secret")
    with monkeypatch.context() as patch:
        patch.setattr(shell.os, "name", "nt")
        environment = shell.shell_environment(["My_Key"])
    assert "MY_KEY" not in environment


def test_a_job_takes_no_input_where_pipes_cannot_be_told_not_to_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from zot_core.toolkit.command import Gated
    from zot_core.toolkit.operations import ShellExit

    class Shell:
        async def run(self, command: str, **options: Any) -> ShellExit:
            return ShellExit(code=0)

    async def main() -> None:
        monkeypatch.delattr("os.set_blocking")
        job = Jobs(ProcessGroups()).start(Gated("x", str(tmp_path), {}), lambda stdin: Shell())
        await job.done.wait()
        assert job.state.startswith("ended")

    asyncio.run(main())


# --- the real one ---------------------------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("pwsh") is None, reason="PowerShell is not installed")
@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("Write-Output 'é — 日本'", "é — 日本"),
        ("Write-Error 'oh'", "[Exit code 1]"),
        ("exit 7", "[Exit code 7]"),
        ("python3 -c 'print(\"ü\")'", "ü"),
        ("if (", "[Exit code 1]"),
    ],
)
def test_powershell_itself(tmp_path: Path, command: str, text: str) -> None:
    assert text in said(run(tmp_path, command))
    assert "CLIXML" not in said(run(tmp_path, command))

"""`powershell`: how its command line is made, and that it exists on Windows alone. Nothing here runs PowerShell; see
test_powershell_whole.py for the whole tool."""

from __future__ import annotations

import asyncio
import base64
import os
import time
from pathlib import Path
from typing import Any

import pytest
from support.tool_context import FakeToolContext, said, schema_of

from zot_core.toolkit.errors import ToolError
from zot_core.toolkit.operations import ShellExit
from zot_core.toolkit.piped import PipedShell
from zot_core.toolkit.process import ProcessGroups
from zot_core.types.specs import resolve
from zot_plugins.tool_powershell import plugin, powershell


def script_of(argv: list[str]) -> str:
    return base64.b64decode(argv[-1]).decode("utf-16-le")


def test_it_is_contributed_on_windows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert plugin.tools() == []
    monkeypatch.setattr(plugin.os, "name", "nt")
    assert [spec.name for spec in plugin.tools()] == ["powershell"]


def test_the_literal_schema_is_the_models() -> None:
    assert plugin.SPEC.parameters == schema_of(resolve(plugin.SPEC.arguments))


@pytest.mark.parametrize(
    "command", ["Get-ChildItem", "echo \"a 'b'\" | % { $_ }", "Write-Output 'é—日本'\nexit 3", "a & b ^ %PATH%"]
)
def test_no_quoting_touches_the_command(command: str) -> None:
    argv = powershell.argv("pwsh.exe", command)
    assert argv[0] == "pwsh.exe"
    assert argv[-2] == "-EncodedCommand"
    assert {"-NoProfile", "-NonInteractive", "-NoLogo"} <= set(argv)
    assert all(part.isascii() and " " not in part and '"' not in part for part in argv[1:])
    lines = script_of(argv)
    assert f"\n{command}\n" in lines
    assert lines.startswith("$ProgressPreference='SilentlyContinue';$OutputEncoding=[Text.UTF8Encoding]::new($false);")
    assert lines.endswith("exit $LASTEXITCODE\n")


def test_a_command_that_is_too_long_is_refused() -> None:
    with pytest.raises(ToolError, match="write it to a"):
        powershell.argv("powershell", "x" * 20_000)


def test_the_newer_one_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"pwsh": "C:/7/pwsh.exe", "powershell": "C:/5/powershell.exe"}
    monkeypatch.setattr(powershell.shutil, "which", there.get)
    assert powershell.program() == "C:/7/pwsh.exe"
    del there["pwsh"]
    assert powershell.program() == "C:/5/powershell.exe"
    there.clear()
    with pytest.raises(ToolError, match="not installed"):
        powershell.program()


def test_the_tool_runs_what_a_plugin_supplies(tmp_path: Path) -> None:
    class Elsewhere:
        async def run(self, command: str, *, on_data: Any, **options: Any) -> ShellExit:
            on_data(f"{command} for {options['timeout']:g} s".encode())
            return ShellExit(code=0)

    ctx = FakeToolContext(tmp_path, supplied={"powershell": Elsewhere()})
    result = asyncio.run(powershell.execute(powershell.PowerShellArgs(command="dir"), ctx))
    assert said(result) == "dir for 120 s"


# --- the shell behind it, which runs anywhere -----------------------------------------------------------------------


def run_piped(folder: Path, command: str, **options: Any) -> tuple[ShellExit, str]:
    async def main() -> tuple[ShellExit, str]:
        groups, out = ProcessGroups(), bytearray()
        shell = PipedShell(groups, lambda text: ["/bin/sh", "-c", text])
        ended = await shell.run(command, cwd=str(folder), env=dict(os.environ), on_data=out.extend, **options)
        assert groups.live() == []
        return ended, out.decode()

    return asyncio.run(main())


def test_a_piped_shell_gives_output_and_code(tmp_path: Path) -> None:
    ended, text = run_piped(tmp_path, "echo one; echo two >&2; cat; exit 3")
    assert (ended.code, ended.ended_by, text) == (3, "exit", "one\ntwo\n")


@pytest.mark.parametrize("command", ["sleep 300 & echo hi", "setsid sleep 300 & echo hi"])
def test_a_piped_shell_ends_what_is_left(tmp_path: Path, command: str) -> None:
    began = time.monotonic()
    ended, text = run_piped(tmp_path, command)
    assert (ended.code, text) == (0, "hi\n")
    assert time.monotonic() - began < 4


def test_a_piped_shell_times_out(tmp_path: Path) -> None:
    ended, text = run_piped(tmp_path, "echo begun; sleep 300", timeout=0.3)
    assert (ended.code, ended.ended_by, text) == (None, "timeout", "begun\n")


def test_a_piped_shell_that_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="does not exist"):
        run_piped(tmp_path / "gone", "true")

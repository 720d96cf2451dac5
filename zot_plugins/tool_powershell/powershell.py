"""Runs one PowerShell command for a model. Its output is asked for as UTF-8; its exit code is the last program's."""

from __future__ import annotations

import base64
import shutil
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from zot_core.toolkit.command import DEFAULT_TIMEOUT_S, MAX_TIMEOUT_S, gated, run_command
from zot_core.toolkit.confine import confined
from zot_core.toolkit.errors import ToolError, tool_errors
from zot_core.toolkit.operations import ShellOps, supplied
from zot_core.toolkit.piped import PipedShell
from zot_core.toolkit.process import shared
from zot_core.toolkit.shell import shell_environment
from zot_core.types.specs import ToolResult

if TYPE_CHECKING:
    from zot_core.ctx.protocols import ToolContext

_BEFORE = (
    "$ProgressPreference='SilentlyContinue';$OutputEncoding=[Text.UTF8Encoding]::new($false);"
    "try{[Console]::OutputEncoding=$OutputEncoding}catch{};"  # without a console: the handle is invalid
    "$global:LASTEXITCODE=0\n"
)
_AFTER = "\nif (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE } exit 1 }\nexit $LASTEXITCODE\n"
_LONGEST = 32_000
"""How many characters a command line of Windows may have."""


UTF8 = {"PYTHONIOENCODING": "utf-8"}
"""What lets programs print as PowerShell is told to read them, where they would take the system's code page."""


class PowerShellArgs(BaseModel):
    """Arguments of `powershell`."""

    model_config = ConfigDict(extra="forbid")

    command: str
    timeout: float = Field(DEFAULT_TIMEOUT_S, gt=0, le=MAX_TIMEOUT_S, description="seconds")


def preview(args: PowerShellArgs) -> str:
    """The command itself."""
    return args.command


def program() -> str:
    """PowerShell 7 where it is installed, else the one that Windows brings. Raises ToolError where there is none."""
    for name in ("pwsh", "powershell"):
        if found := shutil.which(name):
            return found
    raise ToolError("PowerShell is not installed: neither pwsh nor powershell is on the PATH")


def argv(shell: str, command: str) -> list[str]:
    """The command line that runs `command`. Encoded, so that no quoting rule of Windows touches it.

    Raises ToolError when it is longer than Windows allows.
    """
    script = f"{_BEFORE}{command}{_AFTER}"
    encoded = base64.b64encode(script.encode("utf-16-le")).decode("ascii")
    if len(encoded) > _LONGEST - len(shell) - 100:
        raise ToolError("The command is too long for the system: write it to a .ps1 file and run that")
    return [
        shell,
        "-NoLogo",
        "-NoProfile",
        "-NonInteractive",
        "-ExecutionPolicy",
        "Bypass",
        "-OutputFormat",
        "Text",
        "-EncodedCommand",
        encoded,
    ]


@tool_errors
async def execute(args: PowerShellArgs, ctx: ToolContext) -> ToolResult:
    """Runs the command; see the tool's description."""
    env = {**UTF8, **shell_environment(getattr(ctx, "secret_env", ()))}
    allowed = await gated(ctx, args.command, env)
    shell: ShellOps | None = supplied(ctx, "powershell")
    notice = ""
    if shell is None:
        wrapper, notice, allowed = await confined(ctx, allowed)
        path = program()
        shell = PipedShell(getattr(ctx, "processes", shared), lambda command: [*wrapper, *argv(path, command)])
    return await run_command(ctx, shell, allowed, timeout=args.timeout, name="powershell", notice=notice)

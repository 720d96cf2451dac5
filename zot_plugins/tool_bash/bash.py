"""Runs one shell command for a model and tells how it ended.

Where and how it runs is the shell operations' matter; here are its environment, its progress and its result's words.
"""

from __future__ import annotations

import asyncio
import signal as signals
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from zot_core.toolkit.errors import ToolError, tool_errors
from zot_core.toolkit.operations import ShellExit, ShellOps, supplied
from zot_core.toolkit.process import shared
from zot_core.toolkit.shell import LocalShell, shell_environment
from zot_core.toolkit.spool import Spool
from zot_core.types.specs import ToolResult
from zot_plugins.tool_bash.environment import session_variables

if TYPE_CHECKING:
    from zot_core.ctx.protocols import ToolContext

DEFAULT_TIMEOUT_S = 120
MAX_TIMEOUT_S = 600
_UPDATE_S = 0.1
_UPDATE_LINES = 40
_UPDATE_BYTES = 4096


class BashArgs(BaseModel):
    """Arguments of `bash`."""

    model_config = ConfigDict(extra="forbid")

    command: str
    timeout: float = Field(DEFAULT_TIMEOUT_S, gt=0, le=MAX_TIMEOUT_S, description="seconds")


def preview(args: BashArgs) -> str:
    """The command itself."""
    return args.command


@tool_errors
async def execute(args: BashArgs, ctx: ToolContext) -> ToolResult:
    """Runs the command; see the tool's description."""
    if not args.command.strip():
        raise ToolError("command is empty")
    if ctx.signal.aborted:
        raise ToolError("Aborted before it started")
    secrets = tuple(getattr(ctx, "secret_env", ()))
    command, cwd, env = await _gated(ctx, args.command, shell_environment(secrets, session_variables(ctx)))
    shell: ShellOps = supplied(ctx, "bash") or LocalShell(getattr(ctx, "processes", shared))
    spool = Spool(f"bash-{ctx.call_id}")
    progress = _Progress(ctx, spool)
    began = time.monotonic()
    try:
        ended = await shell.run(
            command, cwd=cwd, env=env, on_data=progress.feed, signal=ctx.signal, timeout=args.timeout
        )
    except BaseException:
        spool.discard()
        raise
    finally:
        progress.stop()
    return _result(spool, ended, args.timeout, time.monotonic() - began)


async def _gated(ctx: ToolContext, command: str, env: Mapping[str, str]) -> tuple[str, str, Mapping[str, str]]:
    """Command, folder and environment as the hook `shell_spawn` leaves them. Raises ToolError for a Block."""
    ask = getattr(ctx, "shell_spawn", None)
    if ask is None:
        return command, str(ctx.cwd), env
    try:
        answer: Any = await ask(command, str(ctx.cwd), env)
    except PermissionError as error:
        raise ToolError(f"Blocked: {error}") from error
    return answer.command, answer.cwd, answer.env


class _Progress:
    """Passes output on to the spool, and at most ten times a second its end to the person."""

    def __init__(self, ctx: ToolContext, spool: Spool) -> None:
        self._ctx = ctx
        self._spool = spool
        self._timer: asyncio.TimerHandle | None = None

    def feed(self, data: bytes) -> None:
        self._spool.feed(data)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_UPDATE_S, self._tell)

    def _tell(self) -> None:
        self._timer = None
        end = self._spool.shown(max_lines=_UPDATE_LINES, max_bytes=_UPDATE_BYTES)
        self._ctx.update(end.text, {"lines": self._spool.lines, "bytes": self._spool.bytes})

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _result(spool: Spool, ended: ShellExit, timeout: float, seconds: float) -> ToolResult:
    text, notice = spool.finish()
    notices = [notice, _ending(ended, timeout), _background(ended)]
    body = text.rstrip("\n") if text.strip("\n") else ""
    if not body and not any(notices):
        body = "(no output)"
    return ToolResult(
        content="\n\n".join(filter(None, [body, *notices])),
        is_error=ended.ended_by != "exit" or ended.code != 0,
        details={
            "exit_code": ended.code,
            "ended_by": ended.ended_by,
            "duration_s": round(seconds, 3),
            "truncated": bool(notice),
            "full_output": str(spool.path) if spool.path is not None else None,
            "background_group": ended.group if ended.lingering else None,
        },
    )


def _ending(ended: ShellExit, timeout: float) -> str:
    if ended.ended_by == "timeout":
        more = f"give a longer timeout (at most {MAX_TIMEOUT_S}) or " if timeout < MAX_TIMEOUT_S else ""
        return (
            f"[Timed out after {timeout:g} s and was ended. If it needs longer, {more}run it in the background with &]"
        )
    if ended.ended_by == "abort":
        return "[Aborted]"
    if ended.code is not None and ended.code < 0:
        try:
            name = signals.Signals(-ended.code).name
        except ValueError:
            name = "a signal"
        return f"[Ended by signal {-ended.code} ({name})]"
    return f"[Exit code {ended.code}]" if ended.code else ""


def _background(ended: ShellExit) -> str:
    if not ended.lingering:
        return ""
    return (
        f"[Still running in the background: process group {ended.group}. It ends with zot; what it prints is not kept. "
        f"End it with: kill -- -{ended.group}]"
    )

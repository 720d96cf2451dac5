"""One command that a model runs, whatever the shell: the gate before it, its progress, and the words of its result.

Knows neither which shell it is nor where it runs; that is the shell operations' matter.
"""

from __future__ import annotations

import asyncio
import re
import signal as signals
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from zot_core.toolkit.errors import ToolError
from zot_core.toolkit.operations import ShellExit, ShellOps
from zot_core.toolkit.spool import Spool
from zot_core.types.specs import ToolResult

if TYPE_CHECKING:
    from zot_core.ctx.protocols import ToolContext

DEFAULT_TIMEOUT_S = 120
MAX_TIMEOUT_S = 600
_AS_IF_CLOSED = re.compile(
    r"permission denied|no such file|cannot access|read-only file system|not permitted|cannot find|not found|"
    r"unreachable|name resolution|could not resolve|E(?:ACCES|PERM|ROFS|NOENT)\b",
    re.I,
)
"""How programs complain of what is closed to them."""
_UPDATE_S = 0.1
_UPDATE_LINES = 40
_UPDATE_BYTES = 4096


class Gated(NamedTuple):
    """A command as it may run."""

    command: str
    cwd: str
    env: Mapping[str, str]
    closed: str = ""
    """What to say when it fails as if something were closed to it, because something is."""


async def gated(ctx: ToolContext, command: str, env: Mapping[str, str]) -> Gated:
    """Command, folder and environment as the hook `shell_spawn` leaves them.

    Raises ToolError for an empty command, a run that was aborted, and a Block, with its reason.
    """
    if not command.strip():
        raise ToolError("command is empty")
    if ctx.signal.aborted:
        raise ToolError("Aborted before it started")
    ask = getattr(ctx, "shell_spawn", None)
    if ask is None:
        return Gated(command, str(ctx.cwd), env)
    try:
        answer: Any = await ask(command, str(ctx.cwd), env)
    except PermissionError as error:
        raise ToolError(f"Blocked: {error}") from error
    return Gated(answer.command, answer.cwd, answer.env)


async def run_command(
    ctx: ToolContext, shell: ShellOps, allowed: Gated, *, timeout: float, name: str = "bash", notice: str = ""
) -> ToolResult:
    """Runs the command to its end and tells how it ended; `notice` is said at the end. Raises ToolError and OSError."""
    spool = Spool(f"{name}-{ctx.call_id}")
    progress = _Progress(ctx, spool)
    began = time.monotonic()
    try:
        ended = await shell.run(
            allowed.command,
            cwd=allowed.cwd,
            env=allowed.env,
            on_data=progress.feed,
            signal=ctx.signal,
            timeout=timeout,
        )
    except BaseException:
        spool.discard()
        raise
    finally:
        progress.stop()
    return _result(spool, ended, timeout, time.monotonic() - began, (allowed.closed, notice))


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


def _result(spool: Spool, ended: ShellExit, timeout: float, seconds: float, said: tuple[str, str]) -> ToolResult:
    text, cut = spool.finish()
    ending = f"[{how_it_ended(ended, timeout)}]" if ended.ended_by != "exit" or ended.code else ""
    notices = [cut, ending, _left_behind(ended)]
    body = text.rstrip("\n") if text.strip("\n") else ""
    if not body and not any(notices):
        body = "(no output)"
    closed, notice = said
    if ended.ended_by != "exit" or not ended.code or not _AS_IF_CLOSED.search(body):
        closed = ""
    return ToolResult(
        content="\n\n".join(filter(None, [body, *notices, closed, notice])),
        is_error=ended.ended_by != "exit" or ended.code != 0,
        details={
            "exit_code": ended.code,
            "ended_by": ended.ended_by,
            "duration_s": round(seconds, 3),
            "truncated": bool(cut),
            "full_output": str(spool.path) if spool.path is not None else None,
            "background_group": ended.group if ended.lingering else None,
        },
    )


def how_it_ended(ended: ShellExit, timeout: float | None = None) -> str:
    """The end of a command in words, for a model."""
    if ended.ended_by == "timeout":
        more = f"give a longer timeout (at most {MAX_TIMEOUT_S}) or " if (timeout or 0) < MAX_TIMEOUT_S else ""
        return f"Timed out after {timeout:g} s and was ended. If it needs longer, {more}run it in the background"
    if ended.ended_by == "abort":
        return "Aborted"
    if ended.code is not None and ended.code < 0:
        try:
            name = signals.Signals(-ended.code).name
        except ValueError:
            name = "a signal"
        return f"Ended by signal {-ended.code} ({name})"
    return f"Exit code {ended.code}"


def _left_behind(ended: ShellExit) -> str:
    if not ended.lingering:
        return ""
    where = f"process group {ended.group}" if ended.group is not None else "its children"
    end = f" End it with: kill -- -{ended.group}" if ended.group is not None else ""
    return f"[Still running in the background: {where}. It ends with zot; what it prints is not kept.{end}]"

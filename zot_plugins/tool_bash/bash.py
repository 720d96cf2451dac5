"""Runs one shell command for a model and tells how it ended, or starts it in the background.

Where and how it runs is the shell operations' matter, the words of the result the toolkit's; here is what is bash's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from subprocess import DEVNULL
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from zot_core.toolkit.command import DEFAULT_TIMEOUT_S, MAX_TIMEOUT_S, Gated, gated, run_command
from zot_core.toolkit.confine import confined
from zot_core.toolkit.errors import tool_errors
from zot_core.toolkit.jobs import jobs_of
from zot_core.toolkit.operations import ShellOps, supplied
from zot_core.toolkit.process import shared
from zot_core.toolkit.shell import local_shell, shell_environment, user_shell
from zot_core.types.specs import ToolResult
from zot_plugins.tool_bash.environment import session_variables
from zot_plugins.tool_bash.job import ended_meanwhile, report
from zot_plugins.tool_bash.settings import read_settings

if TYPE_CHECKING:
    from zot_core.ctx.protocols import ToolContext

_FIRST_LOOK_S = 0.3
"""How long a background command has to fail at once, so that its start tells of it."""


class BashArgs(BaseModel):
    """Arguments of `bash`."""

    model_config = ConfigDict(extra="forbid")

    command: str
    timeout: float = Field(DEFAULT_TIMEOUT_S, gt=0, le=MAX_TIMEOUT_S, description="seconds")
    background: bool = Field(False, description="give a job id for bash_job")


def preview(args: BashArgs) -> str:
    """The command itself."""
    return f"{args.command} (in the background)" if args.background else args.command


@tool_errors
async def execute(args: BashArgs, ctx: ToolContext) -> ToolResult:
    """Runs the command; see the tool's description."""
    settings = read_settings(ctx.settings)
    groups = getattr(ctx, "processes", shared)
    env = shell_environment(getattr(ctx, "secret_env", ()), session_variables(ctx, settings))
    allowed = await gated(ctx, args.command, env)
    elsewhere: ShellOps | None = supplied(ctx, "bash")
    wrapper: tuple[str, ...] = ()
    notice = ""
    if elsewhere is None:
        wrapper, notice, allowed = await confined(ctx, allowed)

    def shell(stdin: int = DEVNULL) -> ShellOps:
        return elsewhere or local_shell(groups, settings.shell or user_shell(), wrapper, stdin)

    named = args.timeout if "timeout" in args.model_fields_set else None
    if args.background:
        return await _start(ctx, allowed, named, shell, takes_input=elsewhere is None, notice=notice)
    ran = await run_command(ctx, shell(), allowed, timeout=named or settings.timeout, notice=notice)
    return ended_meanwhile(ran, jobs_of(groups))


async def _start(
    ctx: ToolContext,
    allowed: Gated,
    timeout: float | None,
    shell: Callable[[int], ShellOps],
    *,
    takes_input: bool,
    notice: str,
) -> ToolResult:
    """Starts a job. It outlives the call and its abort, and ends with the session."""
    jobs = jobs_of(getattr(ctx, "processes", shared))
    job = jobs.start(allowed, shell, timeout=timeout, takes_input=takes_input)
    await job.wait(_FIRST_LOOK_S)
    told = report(job, jobs, notice)
    return replace(told, activate_tools=("bash_job",))

"""Looks at, talks to and ends the background commands that `bash` started."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

from zot_core.toolkit.command import MAX_TIMEOUT_S
from zot_core.toolkit.errors import ToolError, tool_errors
from zot_core.toolkit.jobs import Job, Jobs, jobs_of
from zot_core.toolkit.process import GRACE_S, shared
from zot_core.types.specs import ToolResult

if TYPE_CHECKING:
    from zot_core.ctx.protocols import ToolContext

_AFTER_INPUT_S = 1.0
_SHOWN = 200


class JobArgs(BaseModel):
    """Arguments of `bash_job`."""

    model_config = ConfigDict(extra="forbid")

    # A default from a function is none in the schema, which every request carries.
    id: str = Field(default_factory=str)
    action: Literal["peek", "input", "kill"] = "peek"
    text: str = Field(default_factory=str)
    wait: float = Field(default_factory=float, description="seconds to wait for its end")


def preview(args: JobArgs) -> str:
    """The action, and what is typed."""
    return f"{args.action} {args.id}".strip() + (f"\n{args.text}" if args.action == "input" else "")


@tool_errors
async def execute(args: JobArgs, ctx: ToolContext) -> ToolResult:
    """Does what the action says; see the tool's description."""
    jobs = jobs_of(getattr(ctx, "processes", shared))
    if not args.id:
        if args.action != "peek":
            raise ToolError(f"{args.action} needs the id of a job")
        return _listing(jobs)
    job = jobs.get(args.id)
    if args.action == "kill" and job.running:
        job.signal.abort()
        await job.wait(2 * GRACE_S)
    elif args.action == "input":
        if not job.running:
            told = report(job, jobs, "The input was not taken: it has ended" if args.text else "")
            return replace(told, is_error=told.is_error or bool(args.text))
        await _input(job, args.text)
    if args.wait > 0:
        await _wait(job, min(args.wait, MAX_TIMEOUT_S), ctx)
    return report(job, jobs)


async def _input(job: Job, text: str) -> None:
    if text:
        await job.write(text if text.endswith("\n") else f"{text}\n")
    else:
        job.close_input()
    await job.wait(_AFTER_INPUT_S, output=True)


async def _wait(job: Job, seconds: float, ctx: ToolContext) -> None:
    """Waits for the job's end, the time or the abort of the run; the job goes on whatever comes first."""
    import asyncio

    ended = asyncio.ensure_future(job.wait(seconds))
    aborted = asyncio.ensure_future(ctx.signal.wait())
    try:
        await asyncio.wait([ended, aborted], return_when=asyncio.FIRST_COMPLETED)
    finally:
        ended.cancel()
        aborted.cancel()


def report(job: Job, jobs: Jobs, notice: str = "") -> ToolResult:
    """What a job printed since the last report, and how it stands."""
    text = job.news()
    state = f"[{job.id} {job.state}]"
    jobs.told(job)
    return ToolResult(
        content="\n\n".join(filter(None, [text, state, notice])),
        is_error=job.failed,
        details={
            "job": job.id,
            "running": job.running,
            "exit_code": job.ended.code if job.ended is not None else None,
            "full_output": job.output_file,
        },
    )


def ended_meanwhile(result: ToolResult, jobs: Jobs) -> ToolResult:
    """`result` with a line for each job that ended without anybody having been told."""
    lines = [f"[{job.id} {job.state}]" for job in jobs.untold() if not job.mentioned]
    for job in jobs.untold():
        job.mentioned = True
    return replace(result, content="\n\n".join([result.content, *lines])) if lines else result


def _listing(jobs: Jobs) -> ToolResult:
    rows = [f"{job.id} {job.state}: {_one_line(job.command)}" for job in jobs.all()]
    return ToolResult(content="\n".join(rows) or "No background jobs", details={"jobs": [job.id for job in jobs.all()]})


def _one_line(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"

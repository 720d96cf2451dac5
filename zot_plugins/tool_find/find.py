"""Finds files and folders by glob for a model. Where it looks is the find operations' matter; here are the words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from zot_core.toolkit import globs
from zot_core.toolkit.errors import ToolError, about, shown, tool_errors
from zot_core.toolkit.finding import LocalFind
from zot_core.toolkit.operations import FindOps, FoundPaths, guard_of, supplied
from zot_core.toolkit.paths import Found, find_for_reading, locate_elsewhere
from zot_core.toolkit.process import shared
from zot_core.toolkit.ripgrep import TIMEOUT_S, Runner, search_environment
from zot_core.toolkit.shell import shell_environment
from zot_core.toolkit.spelling import below, joined, spelled
from zot_core.toolkit.threads import run_to_end
from zot_core.toolkit.truncation import head
from zot_core.types.specs import ToolResult

if TYPE_CHECKING:
    from zot_core.ctx.protocols import ToolContext


class FindArgs(BaseModel):
    """Arguments of `find`."""

    model_config = ConfigDict(extra="forbid")

    pattern: str = Field(description="*.py: names at any depth; src/**/*.py: paths")
    path: str = "."
    hidden: bool = False
    limit: int = Field(500, ge=1, le=2000)


def preview(args: FindArgs) -> str:
    """The call in a line."""
    return f"find {args.pattern}" + (f" in {args.path}" if args.path != "." else "")


@tool_errors
async def execute(args: FindArgs, ctx: ToolContext) -> ToolResult:
    """Finds the paths; see the tool's description."""
    globs.compiled(args.pattern)  # a glob that means nothing is said so before anything is looked at
    guard = guard_of(ctx, "find")
    given: FindOps | None = supplied(ctx, "find")
    if given is None:
        found = await run_to_end(find_for_reading, ctx.cwd, args.path, guard.may_list)
        env = search_environment(shell_environment(tuple(getattr(ctx, "secret_env", ()))))
        runner = Runner(env=env, groups=getattr(ctx, "processes", shared), signal=ctx.signal)
        files: FindOps = LocalFind(runner, guard)
    else:
        found = Found(locate_elsewhere(ctx.cwd, args.path))
        files = given
    try:
        info = await files.info(found.path)
        if info.kind == "missing":
            raise ToolError(f"Not found: {shown(args.path)}")
        if info.kind != "folder":
            raise ToolError(f"{shown(args.path)} is a {info.kind}, not a folder; name the folder to look in")
        paths = await files.find(found.path, args.pattern, hidden=args.hidden, limit=args.limit, signal=ctx.signal)
    except OSError as error:
        raise about("search", shown(args.path), error) from error
    return _result(found, paths, args, below(ctx.cwd, found.path))


def _result(found: Found, paths: FoundPaths, args: FindArgs, base: str) -> ToolResult:
    cut = head("\n".join(spelled(joined(base, path)) for path in paths.paths))
    notices = [found.note, _ending(paths), _rest(cut.lines, paths, args)]
    if paths.left_out:
        notices.append(f"Left out by policy: {paths.left_out}")
    if paths.unreadable:
        notices.append(f"Not readable: {len(paths.unreadable)}, such as {paths.unreadable[0]}")
    body = cut.text
    if not paths.total and not paths.ended_by:
        body = f"Nothing found for {args.pattern}"
        notices.append(_hint(args))
    return ToolResult(
        content="\n\n".join(filter(None, [body, *(f"[{notice}]" for notice in notices if notice)])),
        is_error=bool(paths.ended_by) and not paths.total,
        details={
            "path": found.path,
            "total": paths.total,
            "shown": cut.lines,
            "left_out": paths.left_out,
            "truncated": cut.lines < paths.total,
        },
    )


def _ending(paths: FoundPaths) -> str:
    if paths.ended_by == "timeout":
        return f"Timed out after {TIMEOUT_S:g} s; not everything was looked at. Name a smaller folder as path"
    return "Aborted" if paths.ended_by == "abort" else ""


def _rest(lines: int, paths: FoundPaths, args: FindArgs) -> str:
    if lines >= paths.total:
        return ""
    way = "raise limit, or " if lines == args.limit < 2000 else ""
    return f"{lines} of {paths.total}, {paths.total - lines} more: {way}narrow the pattern or path"


def _hint(args: FindArgs) -> str:
    if args.pattern.startswith(("/", "../", "~/")):
        return "patterns are relative to path; name a folder elsewhere as path"
    plain = not any(char in args.pattern for char in "*?[{/")
    ways = [f"*{args.pattern}* finds names that contain it"] if plain else []
    ways.append("names in .gitignore are left out" + ("" if args.hidden else ", and hidden ones without hidden=true"))
    return "; ".join(ways)

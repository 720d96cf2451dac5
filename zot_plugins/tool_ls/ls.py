"""Lists one folder for a model: sorted, names as they can be given back, a word for what is no plain file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from zot_core.toolkit.errors import ToolError, about, shown, tool_errors
from zot_core.toolkit.listing import Entry
from zot_core.toolkit.operations import Listing, LocalFiles, LsOps, guard_of, supplied
from zot_core.toolkit.paths import Found, find_for_reading, locate_elsewhere
from zot_core.toolkit.spelling import spelled
from zot_core.toolkit.threads import run_to_end
from zot_core.toolkit.truncation import head
from zot_core.types.specs import ToolResult

if TYPE_CHECKING:
    from zot_core.ctx.protocols import ToolContext


class LsArgs(BaseModel):
    """Arguments of `ls`."""

    model_config = ConfigDict(extra="forbid")

    path: str = "."
    limit: int = Field(500, ge=1, le=2000)


def preview(args: LsArgs) -> str:
    """The call in a line."""
    return f"ls {args.path}"


@tool_errors
async def execute(args: LsArgs, ctx: ToolContext) -> ToolResult:
    """Lists the folder; see the tool's description."""
    guard = guard_of(ctx, "ls")
    given: LsOps | None = supplied(ctx, "ls")
    if given is None:
        found = await run_to_end(find_for_reading, ctx.cwd, args.path, guard.may_list)
    else:
        found = Found(locate_elsewhere(ctx.cwd, args.path))
    files = given if given is not None else LocalFiles(guard, "enumerate")
    try:
        info = await files.info(found.path)
        if info.kind == "missing":
            raise ToolError(f"Not found: {shown(args.path)}")
        if info.kind != "folder":
            raise ToolError(f"{shown(args.path)} is a {info.kind}, not a folder; name its folder, or read it")
        listing = await files.list(found.path)
    except OSError as error:
        raise about("list", shown(args.path), error) from error
    return _result(found, listing, args.limit)


def _result(found: Found, listing: Listing, limit: int) -> ToolResult:
    entries = sorted(listing.entries, key=lambda entry: (entry.name.casefold(), entry.name))
    cut = head("\n".join(map(_line, entries[:limit])))
    notices = [found.note]
    if cut.lines < len(entries):
        rest = len(entries) - cut.lines
        way = "raise limit, or " if cut.lines == limit < 2000 and not cut.truncated else ""
        notices.append(f"{cut.lines} of {len(entries)} entries, {rest} more: {way}use find with a pattern")
    if listing.left_out:
        notices.append(f"Left out by policy: {listing.left_out}")
    if not entries and not any(notices):
        notices.append("The folder is empty")
    return ToolResult(
        content="\n\n".join(filter(None, [cut.text, *(f"[{notice}]" for notice in notices if notice)])),
        details={
            "path": found.path,
            "entries": len(entries),
            "shown": cut.lines,
            "left_out": listing.left_out,
            "truncated": cut.lines < len(entries),
        },
    )


def _line(entry: Entry) -> str:
    name = spelled(entry.name)
    slash = "/" if entry.kind == "folder" else ""
    if entry.target is not None:
        gone = " (missing)" if entry.kind == "missing" else ""
        return f"{name} -> {spelled(entry.target)}{gone}" + ("" if entry.target.endswith("/") else slash)
    if entry.kind in ("file", "folder"):
        # A slash inside the quotes, so that the whole can be copied.
        return name[:-1] + '/"' if slash and name.startswith('"') else name + slash
    return f"{name} ({'gone' if entry.kind == 'missing' else entry.kind})"

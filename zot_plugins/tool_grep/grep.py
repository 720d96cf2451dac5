"""Searches file contents for a model: arguments, the place, and the words of the result."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from zot_core.toolkit import filesystem
from zot_core.toolkit.errors import ToolError, about, shown, tool_errors
from zot_core.toolkit.operations import guard_of
from zot_core.toolkit.paths import Found, find_for_reading, real_path
from zot_core.toolkit.process import shared
from zot_core.toolkit.ripgrep import TIMEOUT_S, Runner, search_environment
from zot_core.toolkit.shell import shell_environment
from zot_core.toolkit.spelling import below, joined, spelled
from zot_core.toolkit.threads import run_to_end
from zot_core.toolkit.truncation import MAX_BYTES, MAX_LINES, size_of
from zot_core.types.specs import ToolResult
from zot_plugins.tool_grep.encodings import label
from zot_plugins.tool_grep.hits import LINE_CHARS
from zot_plugins.tool_grep.search import Outcome, Query, Search

if TYPE_CHECKING:
    from zot_core.ctx.protocols import ToolContext

_MAX_LIMIT = 2000
_LINE_END = re.compile(r"\n|(?<!\\)(?:\\\\)*\\n")
"""A pattern with a line end in it can only mean more than one line."""


class GrepArgs(BaseModel):
    """Arguments of `grep`."""

    model_config = ConfigDict(extra="forbid")

    pattern: str
    path: str = "."
    glob: str = Field("", description="only files like *.ts or src/**/*.py; !x leaves out")
    ignore_case: bool = False
    literal: bool = False
    multiline: bool = Field(False, description="matches may span lines, . too")
    context: int = Field(0, ge=0, le=50, description="lines around")
    hidden: bool = False
    limit: int = Field(100, ge=1, le=_MAX_LIMIT)


def preview(args: GrepArgs) -> str:
    """The call in a line."""
    where = f" in {args.path}" if args.path != "." else ""
    return f"grep {json.dumps(args.pattern, ensure_ascii=False)}{where}" + (f" ({args.glob})" if args.glob else "")


@tool_errors
async def execute(args: GrepArgs, ctx: ToolContext) -> ToolResult:
    """Searches; see the tool's description."""
    if not args.pattern:
        raise ToolError("pattern is empty: say what to search for, or use find to list files")
    guard = guard_of(ctx, "grep")
    try:
        found, root, file = await run_to_end(_place, ctx, args.path, guard)
        env = search_environment(shell_environment(tuple(getattr(ctx, "secret_env", ()))))
        search = Search(
            query=Query(
                pattern=args.pattern,
                glob=args.glob,
                ignore_case=args.ignore_case,
                literal=args.literal,
                multiline=args.multiline or _LINE_END.search(args.pattern) is not None,
                dotall=args.multiline,
                context=args.context,
                hidden=args.hidden,
            ),
            root=root,
            file=file,
            runner=Runner(env=env, groups=getattr(ctx, "processes", shared), signal=ctx.signal),
            guard=guard,
            limit=args.limit,
        )
        outcome = await search.run()
    except OSError as error:
        raise about("search", shown(args.path), error) from error
    return await run_to_end(_result, found, outcome, args, str(ctx.cwd), bool(file))


def _place(ctx: ToolContext, written: str, guard: filesystem.Guard) -> tuple[Found, str, str]:
    """What `written` is, the real folder to search, and the file's name in it if it is one."""
    found = find_for_reading(ctx.cwd, written, guard.may_list)
    info = filesystem.info(found.path, guard, "enumerate")
    real = real_path(found.path)
    if info.kind == "folder":
        return found, real, ""
    filesystem.refuse_special(info.kind, written)
    guard.check("read", real)
    folder, name = os.path.split(real)
    return found, folder, name


def _result(found: Found, outcome: Outcome, args: GrepArgs, cwd: str, one_file: bool) -> ToolResult:
    base = below(cwd, found.path)
    body, lines, files, cut = _body(outcome, lambda name: base if one_file else joined(base, name), args.context)
    hits = outcome.hits
    notices = [
        found.note,
        _ending(outcome),
        _rest(outcome, lines, files, args),
        f"Lines over {LINE_CHARS} characters are shown in part, with … where they go on" if cut else "",
        *_encodings(outcome, lambda name: joined(base, name) if not one_file else base),
        _binaries([joined(base, name) if not one_file else base for name in hits.binaries]),
        f"Left out by policy: {outcome.left_out}" if outcome.left_out else "",
        f"Not readable: {len(outcome.unreadable)}, such as {outcome.unreadable[0]}" if outcome.unreadable else "",
    ]
    if not body and not hits.binaries and not outcome.ended_by:
        body = "No matches"
        notices.append("" if one_file else _hint(args))
    return ToolResult(
        content="\n\n".join(filter(None, [body, *(f"[{notice}]" for notice in notices if notice)])),
        is_error=bool(outcome.ended_by) and not lines,
        details={
            "path": found.path,
            "matches": hits.matches if outcome.counted else None,
            "files": hits.matching_files if outcome.counted else None,
            "shown": lines,
            "left_out": outcome.left_out,
            "truncated": not outcome.counted or lines < hits.matches,
            "engine": "python" if outcome.stand_in else "rg",
        },
    )


def _body(outcome: Outcome, name_of: Callable[[str], str], context: int) -> tuple[str, int, int, bool]:
    """The text within the limits of all tools, and what is in it: matching lines, files, whether a line is cut."""
    out: list[str] = []
    size = matches = files = 0
    cut = False
    for name, lines in outcome.hits.first(context):
        rows = [("\n" if out else "") + spelled(name_of(name))]
        before, counted = 0, False
        for at, line in enumerate(lines):
            rows += ["--"] if context and at and line.number > before + 1 else []
            text = line.text()
            rows.append(f"{line.number}{':' if line.column else '-'}" + (f" {text}" if text else ""))
            before = line.number
            needed = sum(size_of(row) + 1 for row in rows)
            if size + needed > MAX_BYTES or len(out) + len(rows) + files > MAX_LINES:
                return "\n".join(out), matches, files, cut
            if line.column:
                files += not counted
                counted = True
                matches += 1
            cut = cut or line.is_cut
            out += rows
            size += needed
            rows = []
    return "\n".join(out), matches, files, cut


def _ending(outcome: Outcome) -> str:
    if outcome.ended_by == "timeout":
        return f"Timed out after {TIMEOUT_S:g} s; not everything was searched. Narrow with path or glob"
    return "Aborted" if outcome.ended_by == "abort" else ""


def _rest(outcome: Outcome, lines: int, files: int, args: GrepArgs) -> str:
    hits = outcome.hits
    if outcome.counted and lines >= hits.matches:
        return ""
    way = "raise limit, or " if lines == args.limit < _MAX_LIMIT else ""
    narrow = f"{way}narrow with path, glob or pattern"
    if not outcome.counted:
        return f"The first {lines} matching lines; there are very many more: {narrow}"
    rest = f"{lines} of {hits.matches} matching lines, in {files} of {hits.matching_files} files"
    return f"{rest}, {hits.matches - lines} more: {narrow}"


def _binaries(names: list[str]) -> str:
    if not names:
        return ""
    return f"Binary files that match: {_some(sorted(names))}"


def _encodings(outcome: Outcome, name_of: Callable[[str], str]) -> list[str]:
    """What to say of files that are not UTF-8: as what those with matches were taken, and which were not searched."""
    codecs = outcome.others.codec_of()
    taken: dict[str, list[str]] = {}
    for name, _ in outcome.hits.first() if codecs else ():
        if name in codecs:
            taken.setdefault(label(codecs[name]), []).append(name_of(name))
    said = [f"Not UTF-8, taken as {encoding}: {_some(names)}" for encoding, names in taken.items()]
    if unknown := outcome.others.unknown:
        names = _some([name_of(name) for name in unknown])
        said.append(f"Not UTF-8, so only ASCII is found in them: {names}. Narrow with path or glob")
    if outcome.others.unfinished:
        said.append(
            "In files that are not UTF-8 only ASCII is found: there was too much to tell. Narrow with path or glob"
        )
    return said


def _some(names: list[str]) -> str:
    rest = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{', '.join(map(spelled, names[:5]))}{rest}"


def _hint(args: GrepArgs) -> str:
    files = "files in .gitignore" + ("" if args.hidden else " and, without hidden=true, hidden ones")
    return f"Not searched: {files}. An ignored folder is searched when it is named as path"

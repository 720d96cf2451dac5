"""Replaces exact texts in a file: all of them or none, and nothing else changes by a byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from zot_core.toolkit import encoding, sniff
from zot_core.toolkit.diff import unified
from zot_core.toolkit.encoding import Decoded
from zot_core.toolkit.errors import ToolError, about, shown, tool_errors
from zot_core.toolkit.filesystem import refuse_special
from zot_core.toolkit.mutation import mutations
from zot_core.toolkit.operations import files_for, guard_of, supplied
from zot_core.toolkit.paths import locate, locate_elsewhere, lookalikes, missing
from zot_core.toolkit.threads import run_aside
from zot_core.toolkit.truncation import DIFF_BYTES, DIFF_LINES, format_size, head
from zot_core.types.specs import ToolResult
from zot_plugins.tool_edit.replace import Replacement, Span, apply, lines_of_spans, plan, regions

if TYPE_CHECKING:
    from zot_core.ctx.protocols import ToolContext

_MAX_BYTES = 64 << 20
_SHOWN_LINES = 5


class Edit(BaseModel):
    """One replacement."""

    model_config = ConfigDict(extra="forbid")

    old_text: str
    new_text: str
    replace_all: bool = False


class EditArgs(BaseModel):
    """Arguments of `edit`."""

    model_config = ConfigDict(extra="forbid")

    path: str
    edits: list[Edit] = Field(min_length=1)


def preview(args: EditArgs) -> str:
    """The file's name and each replacement as removed and added lines."""
    out = [f"edit {args.path}"]
    for edit in args.edits:
        out += [f"-{line}" for line in edit.old_text.split("\n")] + [f"+{line}" for line in edit.new_text.split("\n")]
    return "\n".join(out)


@tool_errors
async def execute(args: EditArgs, ctx: ToolContext) -> ToolResult:
    """Edits the file; see the tool's description."""
    files = files_for(ctx, "edit", "write")
    here = supplied(ctx, "edit") is None
    path = locate(ctx.cwd, args.path) if here else locate_elsewhere(ctx.cwd, args.path)
    async with mutations.hold(path) as real:
        # A link on the way may lead elsewhere at any moment: what is read and what is written has to be one file.
        target = real if here else path
        try:
            info = await files.info(target)
            if info.kind == "missing":
                may_list = guard_of(ctx, "edit").may_list
                words = (
                    missing(args.path, path, lookalikes(path, may_list), may_list)
                    if here
                    else f"Not found: {shown(args.path)}."
                )
                raise ToolError(f"{words} Nothing was changed; to create a file use write.")
            refuse_special(info.kind, args.path)
            if info.size > _MAX_BYTES:
                raise ToolError(
                    f"{shown(args.path)} has {format_size(info.size)}; edit takes {format_size(_MAX_BYTES)} at most"
                )
            data = await files.read(target)
            new, result = await run_aside(len(data), _edited, data, args, path)
            if (await files.info(target)).version != info.version:
                raise ToolError(
                    f"{shown(args.path)} was changed by another program meanwhile: read it again. Nothing was changed."
                )
            await files.write(target, new)
            return result
        except OSError as error:
            raise about("edit", shown(args.path), error) from error


def _edited(data: bytes, args: EditArgs, path: str) -> tuple[bytes, ToolResult]:
    """The file's new bytes and the result that tells of them. Pure but for time: it runs in a thread."""
    decoded = _decoded(data, args.path)
    spans = plan(decoded.text, [Replacement(edit.old_text, edit.new_text, edit.replace_all) for edit in args.edits])
    text = apply(decoded.text, spans)
    new = _encoded(decoded, text, args)
    if new == data:
        raise ToolError("The edits change nothing: the file has these line ends already. Nothing was changed.")
    diff = unified(decoded.text, text, shown(args.path), regions(spans))
    lines = lines_of_spans(decoded.text, spans, _SHOWN_LINES + 1)
    where = ", ".join(map(str, lines[:_SHOWN_LINES])) + (", …" if len(lines) > _SHOWN_LINES else "")
    said = f"\n[{decoded.encoding.said}; kept as it is]" if decoded.encoding.said else ""
    change = f"+{diff.added} -{diff.removed} lines"
    printable = head(diff.text, max_lines=DIFF_LINES, max_bytes=DIFF_BYTES)
    return new, ToolResult(
        content=f"Edited {shown(args.path)}: {_count(spans)}, {change}, at line {where}{said}",
        details={
            "path": path,
            "diff": _printable(printable.text),
            "diff_truncated": printable.truncated,
            "added": diff.added,
            "removed": diff.removed,
            "first_changed_line": diff.first_line,
            "replacements": len(spans),
        },
    )


def _printable(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _count(spans: list[Span]) -> str:
    return "1 replacement" if len(spans) == 1 else f"{len(spans)} replacements"


def _decoded(data: bytes, written: str) -> Decoded:
    if kind := sniff.binary_kind(data[: sniff.HEAD_BYTES]):
        raise ToolError(f"{shown(written)} is {kind}; edit takes text only. Nothing was changed.")
    try:
        return encoding.decode(data)
    except UnicodeError as error:
        raise ToolError(f"{shown(written)} {error}; change it with a shell command. Nothing was changed.") from error


def _encoded(decoded: Decoded, text: str, args: EditArgs) -> bytes:
    for number, edit in enumerate(args.edits, 1):
        try:
            edit.new_text.encode("utf-8")
            edit.new_text.encode(decoded.encoding.name)
        except UnicodeEncodeError as error:
            raise ToolError(
                f"Edit {number}: new_text holds {error.object[error.start : error.end]!a}, which the file's encoding "
                f"({decoded.encoding.name}) cannot write. Nothing was changed."
            ) from error
    return decoded.encode(text)

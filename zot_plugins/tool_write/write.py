"""Writes a whole file, or changes nothing.

What an existing file keeps: its mark and encoding (UTF-16 with mark; Latin-1 while the new text fits, said in the
result), and CR LF if all its lines end so and the new text has no CR. Everything else is written as given, in UTF-8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from zot_core.toolkit import encoding, sniff
from zot_core.toolkit.diff import Diff, unified
from zot_core.toolkit.encoding import Decoded, Encoding
from zot_core.toolkit.errors import ToolError, about, shown, tool_errors
from zot_core.toolkit.filesystem import refuse_special
from zot_core.toolkit.mutation import mutations
from zot_core.toolkit.operations import WriteOps, files_for, supplied
from zot_core.toolkit.paths import locate, locate_elsewhere
from zot_core.toolkit.truncation import format_size, head, lines_of
from zot_core.types.specs import ToolResult

if TYPE_CHECKING:
    from zot_core.ctx.protocols import ToolContext

_COMPARED_BYTES = 4 << 20
"""An old file larger than this is replaced without a diff."""


class WriteArgs(BaseModel):
    """Arguments of `write`."""

    model_config = ConfigDict(extra="forbid")

    path: str
    content: str


def preview(args: WriteArgs) -> str:
    """The file's name and the beginning of its content."""
    return f"write {args.path}\n{head(args.content, max_lines=40, max_bytes=4000).text}"


@tool_errors
async def execute(args: WriteArgs, ctx: ToolContext) -> ToolResult:
    """Writes the file; see the tool's description."""
    files: WriteOps = files_for(ctx, "write", "write")
    here = supplied(ctx, "write") is None
    path = locate(ctx.cwd, args.path) if here else locate_elsewhere(ctx.cwd, args.path)
    async with mutations.hold(path):
        try:
            return await _write(files, path, args)
        except OSError as error:
            raise about("write", shown(args.path), error) from error


async def _write(files: WriteOps, path: str, args: WriteArgs) -> ToolResult:
    info = await files.info(path)
    refuse_special(info.kind, args.path)
    old = None
    if info.kind == "file" and info.size <= _COMPARED_BYTES:
        old = await files.read(path)
    elif info.kind == "file":
        old = await files.read(path, 0, sniff.HEAD_BYTES)
    data, remark = _bytes_for(args.content, old)
    whole_old = old if old is not None and len(old) >= info.size else None
    if whole_old == data:
        return ToolResult(
            content=f"{shown(args.path)} already has exactly this content", details={"path": path, "diff": ""}
        )
    await files.write(path, data)
    diff = _diff(whole_old, data, args.path)
    what = "Replaced" if info.kind == "file" else "Created"
    size = f"{len(lines_of(args.content))} lines, {format_size(len(data))}"
    change = f", +{diff.added} -{diff.removed} lines" if diff is not None and whole_old is not None else ""
    return ToolResult(
        content=f"{what} {shown(args.path)} ({size}{change})" + (f"\n[{remark}]" if remark else ""),
        details={"path": path, "created": info.kind != "file", "bytes": len(data), "diff": diff.text if diff else None},
    )


def _bytes_for(content: str, old: bytes | None) -> tuple[bytes, str]:
    """The new bytes by the rule above, and what is to be said of their encoding."""
    mark, body = _encoding_of(old)
    if body is not None and "\r" not in content and encoding.line_ending(body) == "\r\n":
        content = content.replace("\n", "\r\n")
    if mark.mark and content.startswith("\ufeff"):
        content = content[1:]
    try:
        return Decoded("", mark).encode(content), f"kept in {mark.said}" if mark.said else ""
    except UnicodeEncodeError:
        pass  # a character that the old encoding does not have
    try:
        return content.encode("utf-8"), "the file was not UTF-8; it is now, because the new text needs it"
    except UnicodeEncodeError as error:
        raise ToolError(
            f"content holds half of a surrogate pair at character {error.start}; send the whole character"
        ) from error


def _encoding_of(old: bytes | None) -> tuple[Encoding, str | None]:
    """An existing file's encoding and text; plain UTF-8 and no text for what is missing, empty or binary."""
    if not old or (sniff.binary_kind(old[: sniff.HEAD_BYTES]) is not None):
        return Encoding(), None
    mark = encoding.marked(old)
    found = mark or encoding.guess(old)
    text = old[len(found.mark) :].decode(found.name, "replace")
    return (Encoding() if found.errors != "strict" else found), text


def _diff(old: bytes | None, new: bytes, name: str) -> Diff | None:
    if len(new) > _COMPARED_BYTES:
        return None
    try:
        before = encoding.decode(old).text if old else ""
        return unified(before, encoding.decode(new).text, shown(name))
    except UnicodeError:
        return None  # the old content was no text

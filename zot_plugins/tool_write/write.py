"""Writes a whole file, or changes nothing.

What an existing file keeps: its mark and encoding (UTF-16 with mark; Latin-1 and others while the new text fits, said
in the result), and CR LF if all its lines end so and the new text has no CR. Everything else is written as given, in
UTF-8.
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
from zot_core.toolkit.threads import run_aside
from zot_core.toolkit.truncation import DIFF_BYTES, DIFF_LINES, format_size, head, lines_of
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
    """The file's name and its content, of a very long one the beginning."""
    return f"write {args.path}\n{head(args.content, max_lines=2000, max_bytes=50_000).text}"


@tool_errors
async def execute(args: WriteArgs, ctx: ToolContext) -> ToolResult:
    """Writes the file; see the tool's description."""
    files: WriteOps = files_for(ctx, "write", "write")
    here = supplied(ctx, "write") is None
    path = locate(ctx.cwd, args.path) if here else locate_elsewhere(ctx.cwd, args.path)
    if args.path.endswith("/"):
        raise ToolError(f"{shown(args.path)} names a folder; give the file's name too. Folders are made as needed")
    async with mutations.hold(path) as real:
        try:
            # A link on the way may lead elsewhere at any moment: the file that was looked at is the one to write.
            return await _write(files, real if here else path, path, args)
        except OSError as error:
            raise about("write", shown(args.path), error) from error


async def _write(files: WriteOps, target: str, path: str, args: WriteArgs) -> ToolResult:
    info = await files.info(target)
    refuse_special(info.kind, args.path)
    old = None
    if info.kind == "file":
        old = await files.read(target, 0, None if info.size <= _COMPARED_BYTES else sniff.HEAD_BYTES)
    whole = old is None or len(old) >= info.size
    size = len(args.content) + len(old or b"")
    data, remark = await run_aside(size, _bytes_for, args.content, old, whole)
    if whole and old == data:
        return ToolResult(
            content=f"{shown(args.path)} already has exactly this content", details={"path": path, "diff": ""}
        )
    await files.write(target, data)
    diff = await run_aside(size, _diff, old, data, args.path) if whole else None
    told = head(diff.text, max_lines=DIFF_LINES, max_bytes=DIFF_BYTES) if diff is not None else None
    count = len(lines_of(args.content))
    written = f"{count} line{'' if count == 1 else 's'}, {format_size(len(data))}"
    change = f", +{diff.added} -{diff.removed} lines" if diff is not None and old is not None else ""
    return ToolResult(
        content=f"{'Created' if old is None else 'Replaced'} {shown(args.path)} ({written}{change})"
        + (f"\n[{remark}]" if remark else ""),
        details={
            "path": path,
            "created": old is None,
            "bytes": len(data),
            "diff": told.text if told else None,
            "diff_truncated": told.truncated if told else False,
        },
    )


def _bytes_for(content: str, old: bytes | None, whole: bool) -> tuple[bytes, str]:
    """The new bytes by the rule above, and what is to be said of their encoding."""
    found, body = _encoding_of(old, whole)
    if body is not None and "\r" not in content and encoding.line_ending(body) == "\r\n":
        content = content.replace("\n", "\r\n")
    if found.mark and content.startswith("\ufeff"):
        content = content[1:]
    try:
        return Decoded("", found).encode(content), f"kept in {found.label}" if found.name != "utf-8" else ""
    except UnicodeEncodeError:
        pass  # a character that the old encoding does not have
    try:
        return content.encode("utf-8"), f"the file was not UTF-8 but {found.label}; it is now, as the new text needs it"
    except UnicodeEncodeError as error:
        raise ToolError(
            f"content holds half of a surrogate pair at character {error.start}; send the whole character"
        ) from error


def _encoding_of(old: bytes | None, whole: bool) -> tuple[Encoding, str | None]:
    """An existing file's encoding and text; plain UTF-8 and no text for what is missing, empty or binary."""
    if not old or (sniff.binary_kind(old[: sniff.HEAD_BYTES]) is not None):
        return Encoding(), None
    found = encoding.marked(old) or encoding.guess_beginning(old, whole=whole)
    text = old[len(found.mark) :].decode(found.name, "replace")
    # Stray bytes in UTF-8 were damage that the new text does not have.
    return Encoding(found.name, found.mark), text


def _diff(old: bytes | None, new: bytes, name: str) -> Diff | None:
    if len(new) > _COMPARED_BYTES:
        return None
    try:
        before = encoding.decode(old).text if old else ""
        return unified(before, encoding.decode(new).text, shown(name))
    except UnicodeError:
        return None  # the old content was no text

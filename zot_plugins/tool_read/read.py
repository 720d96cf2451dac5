"""Reads a file for a model: text by lines, pictures as blocks, and a useful word for everything else."""

from __future__ import annotations

import base64
import codecs
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from zot_core.toolkit import encoding, sniff
from zot_core.toolkit.errors import ToolError, about, shown, tool_errors
from zot_core.toolkit.filesystem import FileInfo, refuse_special
from zot_core.toolkit.operations import ReadOps, files_for, guard_of, supplied
from zot_core.toolkit.paths import Found, find_for_reading, locate_elsewhere
from zot_core.toolkit.threads import run_to_end
from zot_core.toolkit.truncation import MAX_BYTES, MAX_LINES, format_size
from zot_core.types.content import Image, Text
from zot_core.types.specs import ToolResult
from zot_plugins.tool_read.window import Window, window

if TYPE_CHECKING:
    from zot_core.ctx.protocols import ToolContext

_CHUNK = 1 << 20
_COUNTED_BYTES = 256 << 20
"""Up to this size a file's lines are counted for the notice."""
_IMAGE_BYTES = 3_750_000
"""What is 5 MB in base64, the least that providers take."""


class ReadArgs(BaseModel):
    """Arguments of `read`."""

    model_config = ConfigDict(extra="forbid")

    path: str
    offset: int = Field(1, ge=1, description="first line")
    limit: int = Field(MAX_LINES, ge=1, description="lines")
    skip: int = Field(0, ge=0, description="bytes of the first line to leave out, as a notice says for very long lines")


def preview(args: ReadArgs) -> str:
    """The call in a line."""
    return f"read {args.path}" + (f" from line {args.offset}" if args.offset > 1 else "")


@tool_errors
async def execute(args: ReadArgs, ctx: ToolContext) -> ToolResult:
    """Reads the file or a part of it; see the tool's description."""
    files = files_for(ctx, "read", "read")
    if supplied(ctx, "read") is None:
        found = await run_to_end(find_for_reading, ctx.cwd, args.path, guard_of(ctx, "read").may_list)
    else:
        found = Found(locate_elsewhere(ctx.cwd, args.path))
    try:
        info = await files.info(found.path)
        refuse_special(info.kind, args.path)
        if info.kind == "missing":
            raise ToolError(f"Not found: {shown(args.path)}")
        head = await files.read(found.path, 0, sniff.HEAD_BYTES)
        if mime_type := sniff.image_type(head):
            return await _picture(files, found, args.path, mime_type, info)
        if kind := sniff.binary_kind(head):
            raise ToolError(f"{shown(args.path)} is {kind}. It was not read ({format_size(info.size)}).")
        return await _text(files, found, args, info, head)
    except OSError as error:
        raise about("read", shown(args.path), error) from error


async def _picture(files: ReadOps, found: Found, written: str, mime_type: str, info: FileInfo) -> ToolResult:
    if info.size > _IMAGE_BYTES:
        raise ToolError(
            f"{shown(written)} is a picture of {format_size(info.size)}; models take {format_size(_IMAGE_BYTES)} "
            "at most. Make a smaller copy with a shell command and read that."
        )
    data = await files.read(found.path)
    said = f"{shown(written)}: {mime_type}, {format_size(len(data))}" + (f"\n[{found.note}]" if found.note else "")
    return ToolResult(
        content=(Text(said), Image(mime_type, base64.b64encode(data).decode("ascii"))),
        details={"path": found.path, "mime_type": mime_type, "bytes": len(data)},
    )


async def _text(files: ReadOps, found: Found, args: ReadArgs, info: FileInfo, head: bytes) -> ToolResult:
    mark = encoding.marked(head)
    part = await window(
        _chunks(files, found.path, mark),
        first=args.offset,
        skip=args.skip,
        max_lines=min(args.limit, MAX_LINES),
        max_bytes=MAX_BYTES,
        count_rest=info.size <= _COUNTED_BYTES,
    )
    if part.past_end and not (part.total == 0 and args.offset == 1):
        raise ToolError(f"{shown(args.path)} has {part.total} lines; line {args.offset} is past its end")
    text, remark = encoding.for_reading(_whole_characters(part.data) if args.skip else part.data)
    remark = mark.said if mark is not None and mark.name != "utf-8" else remark
    text = text.replace("\r\n", "\n").removesuffix("\r")
    if "\x00" in text:
        text, remark = text.replace("\x00", "\u2400"), "NUL characters show as \u2400"
    notices = [note for note in (found.note, remark, _rest(part, args)) if note]
    if not text and not notices:
        notices = ["The file is empty" if part.past_end or info.size == 0 else "An empty line"]
    content = "\n\n".join(filter(None, [text, *(f"[{notice}]" for notice in notices)]))
    details = {
        "path": found.path,
        "first_line": args.offset,
        "lines": part.lines,
        "total_lines": part.total,
        "truncated": bool(part.next_line),
        "next": {"offset": part.next_line, "skip": part.next_skip} if part.next_line else None,
    }
    return ToolResult(content=content, details=details)


def _rest(part: Window, args: ReadArgs) -> str:
    """How to go on, where something is left."""
    if not part.next_line:
        return ""
    if part.next_skip:
        begin = part.next_skip - len(part.data)
        return (
            f"Line {args.offset} is too long to show whole: this is its bytes {begin + 1} to {part.next_skip}. "
            f"Go on with offset={part.next_line} skip={part.next_skip}, or with offset={part.next_line + 1} after it"
        )
    of = f" of {part.total}" if part.total is not None else ""
    return f"Lines {args.offset} to {part.next_line - 1}{of}. Go on with offset={part.next_line}"


def _whole_characters(data: bytes) -> bytes:
    """`data` from its first whole character on, where `skip` fell into one."""
    aligned = data[:3].lstrip(bytes(range(0x80, 0xC0))) + data[3:]
    return aligned if encoding.guess(aligned).errors == "strict" and encoding.guess(aligned).name == "utf-8" else data


async def _chunks(files: ReadOps, path: str, mark: encoding.Encoding | None) -> AsyncIterator[bytes]:
    """The file without its mark, as UTF-8 where the mark says that it is something else."""
    at = len(mark.mark) if mark is not None else 0
    decoder = None
    if mark is not None and mark.name != "utf-8":
        decoder = codecs.getincrementaldecoder(mark.name)("replace")
    while data := await files.read(path, at, _CHUNK):
        at += len(data)
        yield decoder.decode(data).encode("utf-8", "replace") if decoder is not None else data
    if decoder is not None and (rest := decoder.decode(b"", True)):
        yield rest.encode("utf-8", "replace")

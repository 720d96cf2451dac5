"""Reads a file for a model: text by lines, pictures as blocks, PDFs and notebooks as text, else a useful word."""

from __future__ import annotations

import base64
import codecs
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from zot_core.toolkit import encoding, filesystem, sniff
from zot_core.toolkit.encoding import JUDGED_BYTES, Encoding
from zot_core.toolkit.errors import ToolError, about, shown, tool_errors
from zot_core.toolkit.filesystem import FileInfo, Guard, refuse_special
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
_CONTINUATION = bytes(range(0x80, 0xC0))


class ReadArgs(BaseModel):
    """Arguments of `read`."""

    model_config = ConfigDict(extra="forbid")

    path: str
    offset: int = Field(1, ge=1, description="first line")
    limit: int = Field(MAX_LINES, ge=1, description="lines")
    skip: int = Field(0, ge=0, description="bytes of the first line to leave out, as a notice says for very long lines")


@dataclass(frozen=True, slots=True)
class _File:
    """The file of one call: its operations, what was found, its first `JUDGED_BYTES`, and what the call asked for."""

    ops: ReadOps
    found: Found
    info: FileInfo
    first: bytes
    args: ReadArgs

    @property
    def name(self) -> str:
        return shown(self.args.path)

    async def whole(self, what: str, most: int) -> bytes:
        """All bytes; raises ToolError if they are more than `most`."""
        if self.info.size > most:
            raise ToolError(
                f"{self.name} is {what} of {format_size(self.info.size)}; at most {format_size(most)} are opened. "
                "Take a part of it, or make a smaller copy, with a shell command and read that."
            )
        return await self.all(most)

    async def all(self, most: int) -> bytes:
        """The first `most` bytes, most often without asking for them again."""
        return self.first if len(self.first) < JUDGED_BYTES else await self.ops.read(self.found.path, 0, most)


def preview(args: ReadArgs) -> str:
    """The call in a line."""
    return f"read {args.path}" + (f" from line {args.offset}" if args.offset > 1 else "")


@tool_errors
async def execute(args: ReadArgs, ctx: ToolContext) -> ToolResult:
    """Reads the file or a part of it; see the tool's description."""
    try:
        file = await _opened(args, ctx)
        head = file.first[: sniff.HEAD_BYTES]
        if sniff.image_type(head):
            return await _picture(file)
        if sniff.is_pdf(head):
            return await _pdf(file)
        if kind := sniff.binary_kind(head):
            raise ToolError(f"{file.name} is {kind}. It was not read ({format_size(max(file.info.size, len(head)))}).")
        return await _notebook(file) or await _text(file)
    except OSError as error:
        raise about("read", shown(args.path), error) from error


async def _opened(args: ReadArgs, ctx: ToolContext) -> _File:
    """The file with its beginning. Here that is one visit to a thread, which costs more than what is done there."""
    ops = files_for(ctx, "read", "read")
    if supplied(ctx, "read") is None:
        return _File(ops, *await run_to_end(_beginning, ctx.cwd, args.path, guard_of(ctx, "read")), args)
    found = Found(locate_elsewhere(ctx.cwd, args.path))
    info = await ops.info(found.path)
    _refuse(info, args.path)
    return _File(ops, found, info, await ops.read(found.path, 0, JUDGED_BYTES), args)


def _beginning(cwd: str | os.PathLike[str], written: str, guard: Guard) -> tuple[Found, FileInfo, bytes]:
    found = find_for_reading(cwd, written, guard.may_list)
    info = filesystem.info(found.path, guard, "read")
    _refuse(info, written)
    return found, info, filesystem.read(found.path, 0, JUDGED_BYTES, guard, "read")


def _refuse(info: FileInfo, written: str) -> None:
    refuse_special(info.kind, written)
    if info.kind == "missing":
        raise ToolError(f"Not found: {shown(written)}")


async def _picture(file: _File) -> ToolResult:
    from zot_plugins.tool_read import picture  # Pillow is slow to import

    data = await file.whole("a picture", picture.FILE_BYTES)
    fit = await run_to_end(picture.fitted, data, file.name)
    said = f"{file.name}: {fit.mime_type}, {fit.width}x{fit.height}, {format_size(len(fit.data))}"
    notices = [f"\n[{note}]" for note in (fit.said, file.found.note) if note]
    return ToolResult(
        content=(Text(said + "".join(notices)), Image(fit.mime_type, base64.b64encode(fit.data).decode("ascii"))),
        details={
            "path": file.found.path,
            "mime_type": fit.mime_type,
            "bytes": len(fit.data),
            "width": fit.width,
            "height": fit.height,
        },
    )


async def _pdf(file: _File) -> ToolResult:
    from zot_plugins.tool_read import pdf  # pypdf is slow to import

    data = await file.whole("a PDF", pdf.PDF_BYTES)
    texts = pdf.pages(data, file.name)
    return await _shown(file, (text.encode() async for text in texts), "The text of a PDF", count_rest=False)


async def _notebook(file: _File) -> ToolResult | None:
    """The cells of a notebook; None if it is none."""
    if not file.found.path.endswith(".ipynb"):
        return None
    from zot_plugins.tool_read import notebook

    if file.info.size > notebook.NOTEBOOK_BYTES:
        return None
    text = await run_to_end(notebook.cells_as_text, await file.all(notebook.NOTEBOOK_BYTES))
    if text is None:
        return None

    async def chunks() -> AsyncIterator[bytes]:
        yield text.encode("utf-8", "replace")

    return await _shown(file, chunks(), "A notebook's cells as text; edit changes the file's JSON", count_rest=True)


async def _text(file: _File) -> ToolResult:
    first = file.first
    found = encoding.marked(first) or encoding.guess_beginning(first, whole=len(first) < JUDGED_BYTES)
    remark = found.said if found.name != "utf-8" else ""
    return await _shown(file, _chunks(file, found), remark, count_rest=file.info.size <= _COUNTED_BYTES)


async def _shown(file: _File, chunks: AsyncIterator[bytes], remark: str, *, count_rest: bool) -> ToolResult:
    """The part of a text that was asked for, with what is to be said of it and of the rest."""
    args = file.args
    part = await window(
        chunks,
        first=args.offset,
        skip=args.skip,
        max_lines=min(args.limit, MAX_LINES),
        max_bytes=MAX_BYTES,
        count_rest=count_rest,
    )
    if part.past_end and not (part.total == 0 and args.offset == 1):
        raise ToolError(f"{file.name} has {part.total} lines; line {args.offset} is past its end")
    text, stray = _decoded(_whole_characters(part.data) if args.skip else part.data)
    text = text.replace("\r\n", "\n").removesuffix("\r")
    nul = ""
    if "\x00" in text:
        text, nul = text.replace("\x00", "\u2400"), "NUL characters show as \u2400"
    notices = [note for note in (file.found.note, remark, stray, nul, _rest(part, args)) if note]
    if not text and not notices:
        notices = ["The file is empty" if part.past_end or file.info.size == 0 else "An empty line"]
    content = "\n\n".join(filter(None, [text, *(f"[{notice}]" for notice in notices)]))
    details = {
        "path": file.found.path,
        "first_line": args.offset,
        "lines": part.lines,
        "total_lines": part.total,
        "truncated": bool(part.next_line),
        "next": {"offset": part.next_line, "skip": part.next_skip} if part.next_line else None,
    }
    return ToolResult(content=content, details=details)


def _decoded(data: bytes) -> tuple[str, str]:
    """The shown bytes as text, and a remark if they were not UTF-8 after all."""
    try:
        return data.decode(), ""
    except UnicodeDecodeError:
        found = encoding.guess(data)
    if found.name == "utf-8":
        return data.decode("utf-8", "replace"), f"{found.said} and show as \ufffd"
    return data.decode(found.name, "replace"), f"this part is {found.said}"  # far into a large file that began as UTF-8


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
    aligned = data[:3].lstrip(_CONTINUATION) + data[3:]
    return aligned if encoding.guess(aligned) == Encoding() else data


async def _chunks(file: _File, found: Encoding) -> AsyncIterator[bytes]:
    """The file without its mark, as UTF-8 where it is something else.

    It ends where it ended when it was looked at: a file may grow faster than it is read. Those that do not know their
    size, as in /proc, are read to their end.
    """
    decoder = codecs.getincrementaldecoder(found.name)("replace") if found.name != "utf-8" else None
    at, data = len(file.first), file.first[len(found.mark) :]
    end = file.info.size or sys.maxsize
    while data:
        yield decoder.decode(data).encode("utf-8", "replace") if decoder is not None else data
        more = min(_CHUNK, end - at) if at >= JUDGED_BYTES else 0
        data = await file.ops.read(file.found.path, at, more) if more > 0 else b""
        at += len(data)
    if decoder is not None and (rest := decoder.decode(b"", True)):
        yield rest.encode("utf-8", "replace")

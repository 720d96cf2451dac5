"""The size guard on what a tool's result says to a model: whoever wrote the tool, it is cut to what fits, says so, and
says where the whole is. Knows no tool: one that cuts by itself is under the limit.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Sequence

from zot_core.toolkit.truncation import MAX_BYTES, MAX_LINES, clip, format_size, head, lines_of, size_of
from zot_core.types.content import Image, Text, UserContent

ROOM_LINES = 50
ROOM_BYTES = 4096
"""How much more than the limit passes: a tool that has cut its text to the limit says so below it."""


def fitted(name: str, content: tuple[UserContent, ...]) -> tuple[UserContent, ...] | Awaitable[tuple[UserContent, ...]]:
    """The content as it is, where it fits; else what the first lines and a notice make of it, once all of the text is
    in a temporary file. `name` begins that file's name. Pictures stay."""
    texts = [block.text for block in content if isinstance(block, Text)]
    chars = sum(map(len, texts))
    if chars <= MAX_LINES or (
        sum(text.count("\n") for text in texts) <= MAX_LINES + ROOM_LINES
        and (chars <= MAX_BYTES // 4 or sum(map(size_of, texts)) <= MAX_BYTES + ROOM_BYTES)
    ):
        return content
    return _cut(name, content, texts)


async def _cut(name: str, content: Sequence[UserContent], texts: Sequence[str]) -> tuple[UserContent, ...]:
    where = await asyncio.to_thread(_saved, name, texts)
    lines, size = MAX_LINES, MAX_BYTES
    shown = used = 0
    partial = False
    kept: list[UserContent] = []
    for block in content:
        if isinstance(block, Image):
            kept.append(block)
        elif lines > 0 and size > 0:
            cut = head(block.text, max_lines=lines, max_bytes=size)
            lines, size = (0, 0) if cut.truncated else (lines - cut.lines, size - cut.bytes)
            shown, used, partial = shown + cut.lines, used + cut.bytes, cut.partial
            if cut.text:
                kept.append(Text(cut.text))
    total = sum(len(lines_of(text)) for text in texts)
    what = f"the first {format_size(used)}, up to within a line" if partial else f"the first {shown} of {total} lines"
    whole = format_size(sum(map(size_of, texts)))
    return (*kept, Text(f"[Shown: {what}; the result was {whole}. {where}]"))


def _saved(name: str, texts: Sequence[str]) -> str:
    """Writes the whole text to a file, and says where it is."""
    import tempfile

    from zot_core.toolkit.errors import in_words
    from zot_core.toolkit.spool import FILE_BYTES, scratch_folder

    safe = "".join(char if char.isalnum() or char in "-_" else "-" for char in name)[:60]
    text = "\n".join(texts)
    part = clip(text, FILE_BYTES)
    try:
        descriptor, path = tempfile.mkstemp(prefix=f"{safe}-", suffix=".txt", dir=scratch_folder())
        with os.fdopen(descriptor, "wb") as file:
            file.write(part.encode("utf-8", "replace"))
    except OSError as error:
        return f"The whole could not be saved: {in_words(error)}"
    return f"{'All' if part == text else f'The first {format_size(FILE_BYTES)}'} of it: {path}"

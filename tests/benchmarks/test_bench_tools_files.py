"""`read` and `edit` of large files against plain Python that does the least of the same."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest
from support.tool_context import FakeToolContext, call, said

from zot_core.types.specs import ToolResult

LINE = b"a line of a log file with some text in it, of the usual length 1234\n"


def timed(ctx: FakeToolContext, tool: str, args: dict[str, Any]) -> tuple[float, ToolResult]:
    """Milliseconds of one call within a running loop, as an agent makes it, and its result."""

    async def main() -> tuple[float, ToolResult]:
        start = time.perf_counter()
        result = await call(tool, args, ctx)
        return (time.perf_counter() - start) * 1000, result

    return asyncio.run(main())


@pytest.mark.time_limit(120)
def test_read_the_middle_of_a_large_file(compare: Any, tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    count = (100 << 20) // len(LINE)
    with file.open("wb") as out:
        for _ in range(count // 1000):
            out.write(LINE * 1000)
    count = count // 1000 * 1000
    ctx = FakeToolContext(tmp_path)

    def subject() -> float:
        spent, result = timed(ctx, "read", {"path": "a.log", "offset": count // 2, "limit": 200})
        assert f"of {count}. Go on with offset={count // 2 + 200}" in said(result)
        return spent

    def floor() -> None:
        lines = 0
        with file.open("rb", buffering=0) as source:
            while data := source.read(1 << 20):
                lines += data.count(b"\n")
        assert lines == count

    compare("read: 200 lines in the middle of 100 MB, all counted", subject, floor, ratio=2.5, at_most=150)


@pytest.mark.time_limit(120)
def test_edit_a_file_of_five_megabytes(compare: Any, tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    text = "".join(f"line {number} of a file with some text in it, of usual length\n" for number in range(85_000))
    assert len(text) > 5_000_000
    ctx = FakeToolContext(tmp_path)
    edits = [
        {"old_text": "line 7 of", "new_text": "line seven of"},
        {"old_text": "line 42000 of a file", "new_text": "line\nof two"},
        {"old_text": "line 84999 of", "new_text": "the last of"},
    ]

    def subject() -> float:
        file.write_text(text)
        spent, result = timed(ctx, "edit", {"path": "a.log", "edits": edits})
        assert "3 replacements" in said(result)
        return spent

    def floor() -> float:
        file.write_text(text)
        start = time.perf_counter()
        new = file.read_bytes().decode().replace("line 7 of", "line seven of")
        with (tmp_path / "b.log").open("wb") as out:
            out.write(new.encode())
            os.fsync(out.fileno())
        (tmp_path / "b.log").replace(file)
        return (time.perf_counter() - start) * 1000

    compare("edit: three places in 5 MB, diff included", subject, floor, at_most=100)

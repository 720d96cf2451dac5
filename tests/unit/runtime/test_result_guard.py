"""The guard on results: of whatever tool, a model gets at most 2000 lines or 50 KB; the whole is in a file."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zot_core import ToolResult, hookimpl, tool
from zot_core.testing import Script
from zot_core.types.content import Image, Text

Open = Callable[..., Any]
PICTURE = Image(mime_type="image/png", data="aGVsbG8=")
LIMIT = 50 * 1024


class Big:
    """Brings the tool `big`, which answers `result`."""

    def __init__(self, result: Any) -> None:
        self.result = result
        self.nested: Any = None

    @hookimpl
    def tools(self) -> list[Any]:
        async def big() -> Any:
            """Much."""
            return self.result

        async def outer(ctx: Any) -> str:
            """Calls big."""
            self.nested = await ctx.execute_tool("big", {})
            return "ok"

        return [tool(big), tool(outer)]


def ran(runtime: Open, plugin: Any, *more: Any, call: str = "big") -> Any:
    """The result message of one call, and what the front end was told."""

    async def story() -> Any:
        script = Script().tool_call(call).then().text("Done.")
        async with runtime(script=script, plugins=[plugin, *more]) as app:
            end = await app.prompt("Go")
            result = next(m for m in end.messages if m.role == "tool")
            found = re.search(r"it: (\S+)\]$", result.content[-1].text)
            return result, Path(found[1]).read_text() if found else ""

    return asyncio.run(story())


def test_a_text_of_megabytes_is_cut_and_whole_in_a_file(runtime: Open) -> None:
    whole = "".join(f"line {number} {'x' * 80}\n" for number in range(35_000))
    result, saved = ran(runtime, Big(ToolResult(content=whole, details={"rows": list(range(9))})))
    shown, notice = result.content
    assert len(shown.text.encode()) <= LIMIT and whole.startswith(shown.text)
    lines = shown.text.count("\n") + 1
    assert f"first {lines} of 35000 lines" in notice.text and "MB" in notice.text
    assert saved == whole
    assert result.details == {"rows": list(range(9))}


def test_many_short_lines_are_cut_by_their_number(runtime: Open) -> None:
    result, saved = ran(runtime, Big("\n" * 5000))
    assert result.content[-1].text.startswith("[Shown: the first 2000 of 5000 lines")
    assert len(saved) == 5000


def test_one_long_line_is_cut_between_characters(runtime: Open) -> None:
    result, saved = ran(runtime, Big("é" * 100_000))
    assert set(result.content[0].text) == {"é"} and len(result.content[0].text.encode()) <= LIMIT
    assert "within a line" in result.content[-1].text and saved == "é" * 100_000


def test_pictures_stay_and_blocks_share_the_limit(runtime: Open) -> None:
    block = "word " * 8000
    result, saved = ran(runtime, Big(ToolResult(content=(Text(block), PICTURE, Text(block), Text(block), PICTURE))))
    assert [one for one in result.content if isinstance(one, Image)] == [PICTURE, PICTURE]
    texts = [one.text for one in result.content[:-1] if isinstance(one, Text)]
    assert sum(len(text) for text in texts) <= LIMIT and texts[0] == block
    assert saved.count(block) == 3


@pytest.mark.parametrize("text", ["x" * LIMIT, "\n" * 2000, "short", "y" * LIMIT + "\n[Shown: a part; 50 KB of 9 MB]"])
def test_what_fits_or_was_cut_by_its_tool_is_as_it_was(runtime: Open, text: str) -> None:
    result, saved = ran(runtime, Big(text))
    assert [one.text for one in result.content] == [text] and saved == ""


def test_what_a_plugin_made_of_a_result_is_what_is_measured_and_kept(runtime: Open) -> None:
    class Redactor:
        @hookimpl
        def tool_result(self, event: Any) -> Any:
            return event.replace(content=(Text(event.content[0].text.replace("secret", "******")),))

    result, saved = ran(runtime, Big("secret\n" * 20_000), Redactor())
    assert "secret" not in saved and saved.count("******") == 20_000
    assert "secret" not in result.content[0].text


def test_a_call_by_a_tool_gets_the_whole(runtime: Open) -> None:
    big = Big("z" * 300_000)
    ran(runtime, big, call="outer")
    assert len(big.nested.content[0].text) == 300_000


def test_a_file_that_cannot_be_written_is_said(runtime: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    from zot_core.toolkit import spool

    def full() -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spool, "scratch_folder", full)
    result, _ = ran(runtime, Big("z" * 300_000))
    assert "could not be saved" in result.content[-1].text and len(result.content[0].text) <= LIMIT

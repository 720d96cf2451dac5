"""The tool `bash` against a bare asyncio subprocess of the same shell: what it adds to each command."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from support import sandboxes
from support.tool_context import FakeToolContext, call

from zot_core.toolkit.process import ProcessGroups
from zot_core.toolkit.shell import user_shell
from zot_core.types.specs import FilesystemPolicy

EACH = 20


def timed(one: Callable[[], Awaitable[Any]]) -> float:
    """Milliseconds for one of several."""

    async def main() -> float:
        await one()
        began = time.perf_counter()
        for _ in range(EACH):
            await one()
        return (time.perf_counter() - began) * 1000 / EACH

    return asyncio.run(main())


async def bare() -> None:
    process = await asyncio.create_subprocess_exec(
        user_shell(),
        "-c",
        "true",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    await process.communicate()


def through_the_tool(folder: Path, **more: Any) -> float:
    processes = ProcessGroups()

    async def one() -> None:
        await call("bash", {"command": "true"}, FakeToolContext(folder, processes=processes, **more))

    return timed(one)


def test_bash_true(compare: Any, tmp_path: Path) -> None:
    pairs = [(timed(bare), through_the_tool(tmp_path)) for _ in range(8)]
    floor, value = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
    compare.keep("bash `true` against a bare subprocess", value, floor, at_most=floor + 3)


@pytest.mark.needs("bwrap")
def test_bash_true_in_a_jail(compare: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sandboxes.only(monkeypatch, "bwrap")
    jail = FilesystemPolicy(name="jail", check=lambda request: None, roots=(str(tmp_path),))
    pairs = [(timed(bare), through_the_tool(tmp_path, policies=(jail,))) for _ in range(4)]
    floor, value = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
    compare.keep("the same in a jail of bubblewrap", value, floor)

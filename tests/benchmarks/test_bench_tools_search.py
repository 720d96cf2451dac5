"""What the search tools cost over the bare `rg` that does their work."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from support.tool_context import FakeToolContext, call

from zot_core.toolkit.ripgrep import programs

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("tool", "args", "bare"),
    [
        ("grep", {"pattern": "def test_.*path"}, ["-n", "def test_.*path"]),
        ("grep", {"pattern": "import", "limit": 2000}, ["-n", "import"]),
        ("find", {"pattern": "*.py"}, ["--files", "-g", "*.py"]),
    ],
    ids=["grep", "grep-many", "find"],
)
def test_a_search_of_this_repository_costs_little_more_than_rg(
    compare: Any, tool: str, args: dict[str, Any], bare: list[str]
) -> None:
    rg, *_ = programs(os.environ["PATH"])

    def floor() -> None:
        subprocess.run([rg, *bare, "./"], cwd=ROOT, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=True)

    async def once() -> float:
        ctx = FakeToolContext(ROOT)
        await call(tool, args, ctx)
        start = time.perf_counter()
        result = await call(tool, args, ctx)
        taken = (time.perf_counter() - start) * 1000
        assert not result.is_error
        return taken

    row = compare(f"{tool} {args['pattern']!r} here, against rg", lambda: asyncio.run(once()), floor, rounds=10)
    assert row.value - row.floor <= 15

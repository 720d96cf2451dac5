"""How long commands take to start, against a bare interpreter and against the bare imports they need."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

PASS = [sys.executable, "-c", "pass"]
COMMANDS = [
    pytest.param(("--version",), 30, "pass", id="version"),
    pytest.param(("--help",), 70, "pass", id="help"),
    pytest.param(("plugins",), None, "import pluggy, asyncio", id="plugins"),
    pytest.param(("ext", "list"), 110, "import click, json", id="ext"),
    pytest.param(("sessions", "list"), None, "import pluggy, asyncio", id="sessions"),
    pytest.param(("doctor",), None, "import pluggy, asyncio", id="doctor"),
]


@pytest.mark.time_limit(120)
@pytest.mark.parametrize(("args", "budget", "imports"), COMMANDS)
def test_start(
    args: tuple[str, ...], budget: float | None, imports: str, compare: Any, child: Callable[..., Any], zot: str
) -> None:
    child([zot, *args])  # warms the disk cache and makes the boot snapshot
    bare = min(child([sys.executable, "-c", imports]).wall for _ in range(5))
    row = compare(
        f"start: zot {' '.join(args)}",
        lambda: child([zot, *args]).wall,
        lambda: child(PASS).wall,
        rounds=15,
        at_most=budget,
    )
    compare.keep(f"start: zot {' '.join(args)}, against `{imports}`", row.value, bare)

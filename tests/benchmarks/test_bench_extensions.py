"""Extensions: what zot adds to a bare pipe for a tool call and an intercept, what idle ones cost, and how many start.

The child answers anything at once, so that the floor is the same program, its pipes and nothing else.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from zot_core.events import ToolCallEvent
from zot_core.testing import Script

# Answers every request with what it wants, and every other line with the line itself.
CHILD = """
import json, sys, time
NAME, EVENT, DELAY = sys.argv[1:4]
out = sys.stdout.buffer
def emit(**frame):
    out.write(json.dumps(frame).encode() + b"\\n"); out.flush()
if DELAY: time.sleep(float(DELAY))
emit(type="hello", name=NAME, version="1", capabilities=[])
ANSWERS = {
    "tool_call": {"type": "tool_result", "content": [{"type": "text", "text": "fog"}]},
    "event_intercept": {"type": "event_intercept_response"},
    "ping": {"type": "tool_result", "content": [{"type": "text", "text": "fog"}]},
}
for line in sys.stdin.buffer:
    frame = json.loads(line)
    kind = frame["type"]
    if kind in ANSWERS:
        emit(id=frame["id"], **ANSWERS[kind])
    elif kind == "hello_ack":
        emit(type="register_tool", name=NAME, description="d", schema={"type": "object"})
        emit(type="subscribe", intercept=[EVENT] if EVENT else [], events=[])
        emit(type="ready")
    elif kind == "shutdown":
        emit(type="shutdown_ack")
        break
"""
FRAME = {"id": "12", "name": "bench", "args": {"path": "some/file.txt", "limit": 20}}
TIMES = 300


def extension(folder: Path, name: str, event: str = "", delay: str = "") -> Path:
    """Writes an extension with one tool of its own name."""
    home = folder / name
    home.mkdir(parents=True)
    (home / "main.py").write_text(f"#!{sys.executable} -S\n{CHILD}")
    (home / "main.py").chmod(0o755)
    manifest = {"name": name, "exec": "./main.py", "args": [name, event, delay]}
    (home / "extension.json").write_text(json.dumps(manifest))
    return home


def explicit(*homes: Path) -> tuple[tuple[str, str], ...]:
    return tuple(("ext", str(home)) for home in homes)


class Bare:
    """The same program over the same pipes, with nothing of zot: a line there, a line back."""

    def __init__(self, home: Path) -> None:
        self.process = subprocess.Popen(
            [str(home / "main.py"), "bench", "", ""], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdout
        self.process.stdout.readline()  # hello

    def ping(self, kind: str) -> float:
        """Seconds of one round trip, the writing and reading of JSON on this side left out."""
        assert self.process.stdin and self.process.stdout
        line = json.dumps({"type": kind, **FRAME}).encode() + b"\n"
        began = time.perf_counter()
        self.process.stdin.write(line)
        self.process.stdin.flush()
        self.process.stdout.readline()
        return time.perf_counter() - began

    def end(self) -> None:
        """Ends it."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


async def settled(app: Any) -> None:
    """Waits until all extensions are ready."""
    for plugin in app.runtime.host.plugins.values():
        if hasattr(plugin.plugin, "settled"):
            await plugin.plugin.settled()
            assert plugin.plugin.status().state == "ready"


def median(seconds: list[float]) -> float:
    """In ms, of what came after the first tenth: what only the first imports is no part of a round trip."""
    return statistics.median(seconds[len(seconds) // 10 :]) * 1000


def in_turns(
    runtime: Any, home: Path, kind: str, prepare: Callable[[Any], Callable[[], Awaitable[None]]]
) -> tuple[float, float]:
    """Medians in ms of what `prepare(app)` gives and of a ping over a bare pipe, one after the other."""

    async def measured() -> tuple[float, float]:
        bare, ours, floor = Bare(home), [], []
        try:
            async with runtime(explicit=explicit(home)) as app:
                await settled(app)
                work = prepare(app)
                for _ in range(TIMES):
                    floor.append(bare.ping(kind))
                    began = time.perf_counter()
                    await work()
                    ours.append(time.perf_counter() - began)
        finally:
            bare.end()
        return median(ours), median(floor)

    return asyncio.run(measured())


@pytest.mark.time_limit(60)
def test_a_tool_call(compare: Any, runtime: Any, tmp_path: Path) -> None:
    def prepare(app: Any) -> Callable[[], Awaitable[None]]:
        ctx = app.runtime.context("ext:bench")

        async def call() -> None:
            result = await ctx.execute_tool("bench", FRAME["args"])
            assert result.content[0].text == "fog"

        return call

    home = extension(tmp_path, "bench")
    value, low = in_turns(runtime, home, "tool_call", prepare)
    compare.keep("an extension's tool call, gates and all, over a bare pipe", value, low)
    compare.keep("an extension's tool call, what zot adds", value - low, at_most=0.5)


@pytest.mark.time_limit(60)
def test_an_intercept(compare: Any, runtime: Any, tmp_path: Path) -> None:
    event = ToolCallEvent(call_id="12", tool_name="bench", args=FRAME["args"])

    def prepare(app: Any) -> Callable[[], Awaitable[None]]:
        async def ask() -> None:
            outcome = await app.runtime.host.pipeline.gate(event)
            assert outcome.stop is None

        return ask

    home = extension(tmp_path, "bench", "tool_call")
    value, low = in_turns(runtime, home, "event_intercept", prepare)
    compare.keep("an intercept, over a bare pipe", value, low)
    compare.keep("an intercept, what zot adds", value - low, at_most=0.5)


@pytest.mark.time_limit(60)
def test_ten_idle_ones(compare: Any, runtime: Any, tmp_path: Path) -> None:
    turns = 150
    replies = Script()
    for _ in range(turns):
        replies = replies.text("Yes.").then()
    homes = [extension(tmp_path, f"idle-{number}") for number in range(10)]

    async def measured() -> tuple[float, float]:
        ours, floor = [], []
        async with (
            runtime(explicit=explicit(*homes), script=replies) as app,
            runtime(script=replies) as plain,
        ):
            await settled(app)
            for _ in range(turns):
                for which, taken in ((plain, floor), (app, ours)):
                    began = time.perf_counter()
                    await which.prompt("Go")
                    taken.append(time.perf_counter() - began)
        return median(ours), median(floor)

    value, low = asyncio.run(measured())
    compare.keep("a turn with ten idle extensions, over one with none", value, low)
    compare.keep("a turn with ten idle extensions, added", value - low, at_most=1.0)


@pytest.mark.time_limit(120)
def test_ten_start_side_by_side(compare: Any, child: Callable[..., Any], zot: str, tmp_path: Path) -> None:
    replies = Script().text("Yes.").write(tmp_path / "script.json")
    homes = [extension(tmp_path, f"slow-{number}", delay="0.5") for number in range(10)]

    def run(*started: Path) -> float:
        words = [word for home in started for word in ("--ext", str(home))]
        line = [zot, "-p", "--provider", "scripted", "--script", str(replies), "--no-session", *words, "Go"]
        return float(child(line).wall)

    run(homes[0])
    compare(
        "ten extensions that need 0.5 s each to start, over one",
        lambda: run(*homes),
        lambda: run(homes[0]),
        rounds=4,
        ratio=1.6,
    )

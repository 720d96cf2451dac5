"""What a run says and keeps, scenario by scenario: JSON events and session records against files under goldens/.

A change of these files is a change of what scripts and resumed sessions see. `pytest tests/golden --zot-update` writes
them anew; read the diff.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zot_core import hookimpl, tool
from zot_core.testing import RecordingFrontEnd, Script
from zot_core.testing.golden import compare, normalise
from zot_core.testing.session import open_app

SCENARIOS: dict[str, tuple[str, Script]] = {
    "text": ("Hi", Script().text("Hel", "lo.").usage(input=12, output=3, cost=0.001)),
    "thinking": ("Think", Script().thinking("Well, ", "well.", signature="signed").text("Done.")),
    "one_tool": ("Read", Script().text("Let me see.").tool_call("read", path="a.txt").then().text("It says one.")),
    "parallel_tools": (
        "Read both",
        Script().tool_call("gate", name="first").tool_call("gate", name="second").then().text("Both read."),
    ),
    "error_tool": ("Read", Script().tool_call("read", path="missing.txt").then().text("It is not there.")),
    "unknown_tool": ("Go", Script().tool_call("no_such_tool").then().text("I see.")),
    "broken_arguments": ("Go", Script().raw_call("read", '{"path": "a.t').then().text("Cut.")),
    "retry": ("Hi", Script().text("Par").error("overloaded", "busy").then().text("Whole.")),
    "failure": ("Hi", Script().text("Par").error("bad_request", "this model does not like you")),
    "overflow": ("Hi", Script().error("context_overflow", "prompt is too long")),
    "cut_by_length": ("Write", Script().text("Once").finish("length")),
}


class Gated:
    """A tool whose second call ends before its first, so that the three orders of a batch can be told apart."""

    def __init__(self) -> None:
        self.second_done = asyncio.Event()

    @hookimpl
    def tools(self) -> list[Any]:
        @tool
        async def gate(name: str) -> str:
            """Wait for the second call, unless this is it."""
            if name == "first":
                await self.second_done.wait()
            return name

        return [gate]

    @hookimpl
    def tool_execution_end(self, event: Any) -> None:
        if "second" in str(event.content):
            self.second_done.set()


class Aborting(RecordingFrontEnd):
    """Aborts as soon as text has come."""

    abort: Callable[[], None]

    def event(self, event: Any, stop: Any = None, plugin: str = "") -> None:
        super().event(event, stop, plugin)
        if event.hook == "message_update":
            self.abort()


@pytest.fixture
def hold(request: pytest.FixtureRequest, world: Any) -> Callable[[str, RecordingFrontEnd], None]:
    """Holds a record's events and its session's records against their goldens."""
    update = bool(request.config.getoption("--zot-update"))
    goldens = Path(__file__).with_name("goldens")

    def check(name: str, ran: RecordingFrontEnd) -> None:
        (file,) = (world.home / "sessions").rglob("*.jsonl")
        records = [json.loads(line) for line in file.read_text().splitlines()]
        compare(goldens / f"{name}.events.jsonl", normalise(ran.lines, world.paths), update=update)
        compare(goldens / f"{name}.session.jsonl", normalise(records, world.paths), update=update)

    return check


@pytest.fixture(autouse=True)
def quick_retries(world: Any) -> None:
    settings = {"retry": {"attempts": 2, "base_delay_s": 0.01, "max_delay_s": 1}}
    (world.home / "settings.json").write_text(json.dumps(settings))
    (world.project / "a.txt").write_text("one\n")


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(name: str, hold: Callable[..., None], run_prompt: Callable[..., RecordingFrontEnd]) -> None:
    prompt, script = SCENARIOS[name]
    hold(name, run_prompt(prompt, script=script, plugins=[Gated()], no_session=False))


def test_abort(hold: Callable[..., None]) -> None:
    front = Aborting()

    async def run() -> None:
        async with open_app(script=Script().text("Once upon").hang(), front=front, no_session=False) as app:
            front.abort = app.abort
            await app.prompt("Tell me a story")

    asyncio.run(run())
    hold("abort", front)


def test_resume(hold: Callable[..., None], run_prompt: Callable[..., RecordingFrontEnd]) -> None:
    run_prompt("Remember 7", script=Script().text("I do."), no_session=False)
    hold("resume", run_prompt("Which?", script=Script().text("7."), no_session=False, continue_session=True))

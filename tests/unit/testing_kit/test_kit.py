"""The kit for plugin authors: scripts, records, dialogs, goldens."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zot_core import Block, hookimpl, tool
from zot_core.testing import RecordingFrontEnd, Script, normalise
from zot_core.testing.golden import Normaliser

Run = Callable[..., RecordingFrontEnd]


class Guard:
    """A plugin as an object: refuses one tool unless a person agrees."""

    @hookimpl
    async def tool_call(self, event: Any, ctx: Any) -> Block | None:
        return None if await ctx.ui.confirm("Run it?") else Block("not today")

    @hookimpl
    def tools(self) -> list[Any]:
        @tool
        async def double(number: int) -> str:
            """Double a number."""
            return str(number * 2)

        return [double]


def test_a_script_is_played_reply_by_reply(run_prompt: Run) -> None:
    script = Script().thinking("Hm.").text("Let me ", "see.").tool_call("double", number=21).then().text("It is 42.")
    front = RecordingFrontEnd()
    front.ui.answer("confirm", True)
    ran = run_prompt("What is twice 21?", script=script, plugins=[Guard()], front=front)
    assert ran.shown == ["Let me see.", "It is 42."]
    assert [message.role for message in ran.messages] == ["user", "assistant", "tool", "assistant"]
    assert ran.tool_results()[0].content[0].text == "42"
    assert ran.end is not None and ran.end.stop == "end_turn"
    assert ran.hooks().count("turn_start") == 2


def test_dialogs_answer_no_unless_told(run_prompt: Run) -> None:
    script = Script().tool_call("double", number=1).then().text("No.")
    ran = run_prompt("Go", script=script, plugins=[Guard()])
    assert ran.ui.asked == [("confirm", "Run it?")]
    assert ran.tool_results()[0].is_error
    stopped = [seen for seen in ran.events if seen.stop is not None]
    assert [seen.hook for seen in stopped] == ["tool_call"]
    assert stopped[0].stop == Block("not today")


def test_select_takes_only_what_is_offered() -> None:
    front = RecordingFrontEnd()
    front.ui.answer("select", "green", "blue")
    assert asyncio.run(front.ui.select("Colour?", ["red", "green"])) == "green"
    with pytest.raises(AssertionError, match="'blue' is not among the options"):
        asyncio.run(front.ui.select("Colour?", ["red", "green"]))


def test_a_failing_model_is_a_failed_run(run_prompt: Run) -> None:
    ran = run_prompt("Hi", script=Script().text("Well").error("bad_request", "no such thing"))
    assert ran.end is not None and ran.end.stop == "error"
    assert ran.end.failure is not None and ran.end.failure.kind == "bad_request"
    assert ran.lines[-1] == {"type": "done"}


def test_an_unknown_flag_fails_the_test(run_prompt: Run) -> None:
    with pytest.raises(AssertionError, match="no plugin has a flag greeting"):
        run_prompt("Hi", script=Script().text("Hi"), flags={"greeting": "Hello"})


def test_runtime_gives_the_app(runtime: Any) -> None:
    async def talk() -> list[str]:
        async with runtime(script=Script().text("One.").then().text("Two.")) as app:
            await app.prompt("first")
            await app.prompt("second")
            return list(app.front.shown)

    assert asyncio.run(talk()) == ["One.", "Two."]


def test_nothing_is_left_in_the_home(run_prompt: Run, world: Any) -> None:
    run_prompt("Hi", script=Script().text("Hi"))
    assert not (world.home / "sessions").exists()


def test_normaliser_gives_one_id_one_word() -> None:
    replace = Normaliser({"/home/ada/project": "<project>"})
    line = {
        "type": "x",
        "message_id": "0123456789ab",
        "time": "2026-01-31T12:00:00.250Z",
        "path": "/home/ada/project/a",
    }
    assert replace(line) == {"type": "x", "message_id": "<id-1>", "time": "<time>", "path": "<project>/a"}
    assert replace({"id": "ba9876543210", "call_id": "0123456789ab"}) == {"id": "<id-2>", "call_id": "<id-1>"}
    assert replace({"id": "call_1_1"}) == {"id": "call_1_1"}


def test_normalise_joins_deltas() -> None:
    lines = [{"type": "text_delta", "delta": "a"}, {"type": "text_delta", "delta": "b"}, {"type": "done"}]
    assert [json.loads(line) for line in normalise(lines).splitlines()] == [
        {"type": "text_delta", "delta": "ab"},
        {"type": "done"},
    ]


def test_goldens_are_written_compared_and_differ(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["zot_core.testing.plugin"]\n')
    (tmp_path / "test_it.py").write_text(
        "from zot_core.testing import Script\n\n"
        "def test_it(run_prompt, golden):\n"
        "    golden('hello', run_prompt('Hi', script=Script().text('Hello'), no_session=True))\n"
    )

    def pytest_run(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *args]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    missing = pytest_run()
    assert missing.returncode == 1 and "--zot-update" in missing.stdout
    assert pytest_run("--zot-update").returncode == 0
    again = pytest_run()
    assert again.returncode == 0, again.stdout
    golden = tmp_path / "goldens" / "hello.jsonl"
    golden.write_text(golden.read_text().replace("Hello", "Goodbye"))
    changed = pytest_run()
    assert changed.returncode == 1 and "hello.jsonl differs" in changed.stdout


def test_only_its_plugin_needs_pytest() -> None:
    code = "import sys, zot_core.testing, zot_core.testing.session; print('pytest' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_golden_holds_no_clock(tmp_path: Path) -> None:
    replace = Normaliser()
    assert replace({"details": {"exit_code": 0, "duration_s": 0.017, "truncated": False}}) == {
        "details": {"exit_code": 0, "duration_s": "<time>", "truncated": False}
    }
    assert replace({"type": "retry", "delay_s": 2}) == {"type": "retry", "delay_s": "<time>"}


def test_goldens_of_a_command_are_the_same_each_time(run_prompt: Run, world: Any) -> None:
    script = Script().tool_call("bash", command="sleep 0.0$((RANDOM % 9)); pwd; false").then().text("Done.")
    first, second = (normalise(run_prompt("Go", script=script).lines, world.paths) for _ in range(2))
    assert '"name": "bash"' in first and '"exit_code": 1' in first
    assert first == second

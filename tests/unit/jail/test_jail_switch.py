"""`/jail` and `/unjail`: the jail switched within a process, from the next tool call on."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from support import sandboxes

from zot_core import UsageError, hookimpl
from zot_core.testing import RecordingFrontEnd, Script
from zot_core.types.content import text_of
from zot_core.types.specs import ToolResult, ToolSpec

Open = Callable[..., Any]
READ = {"path": "../outside.txt"}
KINDS = [pytest.param("bwrap", marks=pytest.mark.needs("bwrap")), "landlock"]


@pytest.fixture
def outside(world: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("SHELL", "/bin/bash")
    (world.project.parent / "outside.txt").write_text("the secret\n")
    return world.project.parent / "outside.txt"


def script(*calls: tuple[str, dict[str, Any]]) -> Script:
    """One call a prompt."""
    made = Script()
    for number, (tool, args) in enumerate(calls):
        made = (made.then() if number else made).call(tool, args).then().text("Ok.")
    return made


def play(runtime: Open, calls: Script, *lines: str, mode: Any = "rpc", **how: Any) -> RecordingFrontEnd:
    front = RecordingFrontEnd(mode)

    async def story() -> None:
        async with runtime(script=calls, front=front, **how) as app:
            for line in lines:
                if line == "NEW":
                    await app.new_session()
                elif line == "RELOAD":
                    await app.reload("all")
                elif line == "FORK":
                    await app.fork(app.runtime.session.leaf_id, "at")
                else:
                    await app.prompt(line)

    asyncio.run(story())
    return front


def refused(front: RecordingFrontEnd) -> list[bool]:
    """Of each call whether the jail refused it, told to the model by name."""
    said = [text_of(result.content) for result in front.tool_results()]
    assert all(("(policy jail)" in text) is ("the secret" not in text) for text in said), said
    return ["(policy jail)" in text for text in said]


def answers(front: RecordingFrontEnd) -> list[str]:
    return [note.text for note in front.notes if note.kind == "answer"]


def test_it_is_switched_on_and_off(runtime: Open, outside: Any) -> None:
    front = play(runtime, script(*[("read", READ)] * 3), "one", "/jail", "two", "/unjail", "three")
    assert refused(front) == [False, True, False]
    on, off = answers(front)
    assert on.startswith("The jail is on from the next tool call.") and str(outside.parent / "project") in on
    assert off.startswith("The jail is off from the next tool call")


def test_jail_says_what_is_open_when_it_is_on(runtime: Open, world: Any, outside: Any) -> None:
    section = {"enabled": True, "read": ["~/.cargo"], "network": False}
    (world.home / "settings.json").write_text(json.dumps({"plugins": {"jail": section}}))
    (said,) = answers(play(runtime, Script().text("Ok."), "/jail"))
    assert said.startswith("The jail is on.\n")
    assert "~/.cargo" in said and ("no network" in said or "refused" in said) and ".mcp.json" in said


@pytest.mark.parametrize("way", ["flag", "settings"])
def test_unjail_wins_over_line_and_settings_and_says_who_closes_it_again(
    runtime: Open, world: Any, outside: Any, way: str
) -> None:
    if way == "settings":
        (world.home / "settings.json").write_text('{"plugins": {"jail": {"enabled": true}}}')
    flags = {"jail": True} if way == "flag" else {}
    front = play(runtime, script(*[("read", READ)] * 2), "one", "/unjail", "two", flags=flags)
    assert refused(front) == [True, False]
    again = "--jail" if way == "flag" else "The setting plugins.jail.enabled"
    assert f"{again} closes it again at the next start" in answers(front)[0]


@pytest.mark.parametrize("step", ["NEW", "RELOAD", "FORK"])
def test_the_switch_holds_until_zot_ends(runtime: Open, outside: Any, step: str) -> None:
    calls = script(*[("read", READ)] * 3)
    front = play(runtime, calls, "one", "/jail", step, "two", "/unjail", step, "three")
    assert refused(front) == [False, True, False]


def test_the_next_process_begins_as_line_and_settings_say(runtime: Open, world: Any, outside: Any) -> None:
    line = [sys.executable, "-m", "zot_cli", "--provider", "scripted", "-p"]
    (world.home / "script.json").write_text(
        json.dumps([[{"tool_call": {"name": "read", "args": READ}}], [{"text": "Ok."}]])
    )
    env = {**os.environ, "ZOT_SCRIPT": str(world.home / "script.json")}
    first = subprocess.run([*line, "/jail"], env=env, capture_output=True, text=True, cwd=world.project)
    assert first.returncode == 0 and "The jail is on" in first.stdout + first.stderr
    done = subprocess.run([*line, "--json", "go"], env=env, capture_output=True, text=True, cwd=world.project)
    assert "the secret" in done.stdout


def test_a_call_keeps_the_policies_that_it_began_with(runtime: Open, outside: Any) -> None:
    """It holds from the next call on, in the middle of a run too."""
    held: list[list[str]] = []
    app_of: dict[str, Any] = {}

    async def look(args: Any, ctx: Any) -> ToolResult:
        before = [policy.name for policy in ctx.policies]
        await app_of["app"].run_command("/jail")
        held.append([*before, *(policy.name for policy in ctx.policies)])
        return ToolResult(content="looked")

    class Looks:
        @hookimpl
        def tools(self) -> list[ToolSpec]:
            schema = {"type": "object", "properties": {}}
            return [ToolSpec(name="look", description="Looks.", parameters=schema, execute=look)]

    async def story() -> None:
        calls = Script().call("look", {}).then().call("look", {}).then().text("Ok.")
        async with runtime(script=calls, front=RecordingFrontEnd("rpc"), plugins=[Looks()]) as app:
            app_of["app"] = app
            await app.prompt("go")

    asyncio.run(story())
    assert held == [[], ["jail", "jail"]]


@pytest.mark.parametrize("kind", KINDS)
def test_commands_are_kept_inside_and_the_model_is_told_why(
    runtime: Open, outside: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandboxes.only(monkeypatch, kind)
    command = {"command": f"cat {outside}"}
    front = play(runtime, script(("bash", command), ("bash", command)), "one", "/jail", "two")
    before, after = [text_of(result.content) for result in front.tool_results()]
    assert before == "the secret"
    assert "the secret" not in after
    assert "[Policy jail: commands reach only" in after and str(outside.parent / "project") in after


@pytest.mark.parametrize("kind", KINDS)
def test_what_fails_for_its_own_reasons_is_not_blamed_on_the_jail(
    runtime: Open, outside: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandboxes.only(monkeypatch, kind)
    calls = script(("bash", {"command": "echo wrong; exit 3"}), ("bash", {"command": "echo fine"}))
    front = play(runtime, calls, "one", "two", flags={"jail": True})
    assert all("Policy jail" not in text_of(result.content) for result in front.tool_results())


def test_the_status_says_that_it_is_on(runtime: Open, world: Any, outside: Any) -> None:
    states: list[Any] = []
    front = RecordingFrontEnd("rpc")
    front.ui.set_status = lambda key, text: states.append(text) if key == "jail" else None  # type: ignore[method-assign]

    async def story() -> None:
        async with runtime(script=Script().text("Ok."), front=front, flags={"jail": True}) as app:
            await app.prompt("/unjail")
            await app.new_session()
            await app.prompt("/jail")

    asyncio.run(story())
    assert states == ["jail", None, None, "jail"]


def test_words_are_refused(runtime: Open) -> None:
    with pytest.raises(UsageError, match="/jail takes no words"):
        play(runtime, Script().text("Ok."), "/jail off")

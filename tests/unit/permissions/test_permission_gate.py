"""The gate through the App: who is asked, when, about what, and what the model is told."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zot_core import UsageError, hookimpl
from zot_core.ctx.null_ui import Approved
from zot_core.testing import Script
from zot_core.testing.front import RecordingFrontEnd
from zot_core.types.content import text_of
from zot_plugins.permissions.commands import WORDS

Open = Callable[..., Any]
YES, NO = Approved(allowed=True), Approved(allowed=False, reason="the user refused this call: use make")


def run(runtime: Open, script: Script, answers: list[Any] = [], mode: Any = "rpc", **how: Any) -> Any:  # noqa: B006
    front = RecordingFrontEnd(mode)
    front.ui.answer("approve", *answers)

    async def story() -> None:
        async with runtime(script=script, front=front, **how) as app:
            await app.prompt("Go")

    asyncio.run(story())
    return front


def results(front: Any) -> list[str]:
    return [text_of(message.content) for message in front.tool_results()]


def test_nobody_is_asked_by_default(runtime: Open) -> None:
    front = run(runtime, Script().tool_call("bash", command="echo hi").then().text("Ok."))
    assert front.ui.asked == []
    assert results(front) == ["hi"]
    assert front.of("tool_confirmation_requested") == []


def test_no_yolo_asks_before_each_call_with_what_it_will_do(runtime: Open) -> None:
    script = Script().tool_call("bash", command="echo hi").tool_call("bash", command="echo ho").then().text("Ok.")
    front = run(runtime, script, [YES, NO], flags={"no-yolo": True})
    assert [method for method, _ in front.ui.asked] == ["approve", "approve"]
    told = front.of("tool_confirmation_requested")
    assert ["echo hi" in told[0].preview, "echo ho" in told[1].preview] == [True, True]
    assert results(front) == ["hi", "the user refused this call: use make"]


def test_a_call_that_a_guard_blocked_is_not_asked_about(runtime: Open) -> None:
    from zot_core import Block

    class Guard:
        @hookimpl
        def tool_call(self, event: Any) -> Block:
            return Block("never")

    front = run(runtime, Script().tool_call("bash", command="x").then().text("Ok."), [], plugins=[Guard()],
                flags={"no-yolo": True})  # fmt: skip
    assert front.ui.asked == []
    assert front.of("tool_confirmation_requested") == []


def test_it_judges_the_arguments_that_will_run(runtime: Open) -> None:
    class Rewrites:
        @hookimpl
        def tool_call(self, event: Any) -> Any:
            return event.replace(args={"command": "echo rewritten"})

    front = run(runtime, Script().tool_call("bash", command="echo asked").then().text("Ok."), [YES],
                plugins=[Rewrites()], flags={"no-yolo": True})  # fmt: skip
    assert "rewritten" in front.of("tool_confirmation_requested")[0].preview


@pytest.mark.parametrize(("remember", "asked"), [("once", 3), ("tool", 2), ("session", 1)])
def test_an_answer_may_hold_for_longer(runtime: Open, remember: Any, asked: int) -> None:
    script = Script().tool_call("bash", command="true").tool_call("bash", command="true").tool_call("ls", path=".")
    yes = Approved(allowed=True, remember=remember)
    front = run(runtime, script.then().text("Ok."), [yes] * 3, flags={"no-yolo": True})
    assert len(front.ui.asked) == asked
    assert len(front.of("tool_confirmation_requested")) == asked


def test_read_only_refuses_without_asking(runtime: Open, world: Any) -> None:
    (world.project / "a.txt").write_text("text")
    script = Script().tool_call("read", path="a.txt").tool_call("write", path="b.txt", content="x").then().text("Ok.")
    front = run(runtime, script, [], "print", flags={"permission-preset": "read-only"})
    assert results(front)[0].startswith("text")
    assert "read-only" in results(front)[1]
    assert not (world.project / "b.txt").exists()


def test_where_nobody_can_be_asked_the_model_is_told(runtime: Open) -> None:
    script = Script().tool_call("bash", command="true").then().text("Ok.")
    front = run(runtime, script, [], "print", flags={"permission-preset": "ask"})
    assert "needs a person's approval" in results(front)[0]


def test_rules_of_the_settings_come_after_the_preset(runtime: Open, world: Any) -> None:
    rules = '[{"tool": "bash", "pattern": "git *", "action": "allow"}]'
    (world.home / "settings.json").write_text(
        f'{{"plugins": {{"permissions": {{"preset": "ask", "rules": {rules}}}}}}}'
    )
    script = Script().tool_call("bash", command="git --version").tool_call("bash", command="true").then().text("Ok.")
    front = run(runtime, script, [YES])
    assert len(front.ui.asked) == 1


def test_yolo_turns_asking_off_and_on_for_this_session(runtime: Open) -> None:
    front = RecordingFrontEnd("rpc")
    front.ui.answer("approve", YES)
    script = Script().tool_call("bash", command="true").then().text("Ok.")
    script = script.then().tool_call("bash", command="true").then().text("Ok.")

    async def story() -> None:
        async with runtime(script=script, front=front) as app:
            await app.prompt("/yolo off")
            await app.prompt("Go")
            await app.prompt("/yolo on")
            await app.prompt("Go")

    asyncio.run(story())
    assert len(front.ui.asked) == 1
    assert [note.text for note in front.notes if note.kind == "answer"] == [
        "Each tool call is asked about first.",
        "Tools run without asking.",
    ]


@pytest.mark.parametrize("how", ["new", "reload"])
def test_a_preset_that_was_chosen_holds_in_the_next_session_too(runtime: Open, how: str) -> None:
    front = RecordingFrontEnd("rpc")
    front.ui.answer("approve", Approved(allowed=True, remember="session"), NO)
    script = Script().tool_call("bash", command="true").then().text("Ok.")
    script = script.then().tool_call("bash", command="true").then().text("Ok.")

    async def story() -> None:
        async with runtime(script=script, front=front) as app:
            await app.prompt("/permissions ask")
            await app.prompt("Go")
            await (app.new_session() if how == "new" else app.reload("all"))
            await app.prompt("Go")

    asyncio.run(story())
    # What was allowed "for the session" is allowed for that one.
    assert len(front.ui.asked) == (2 if how == "new" else 1)


def test_permissions_without_a_word_lists_presets_on_a_screen_and_says_what_holds_elsewhere(runtime: Open) -> None:
    def answer(mode: str, *picks: str | None) -> Any:
        front = RecordingFrontEnd(mode)  # type: ignore[arg-type]
        front.ui.answer("select", *picks)

        async def story() -> None:
            async with runtime(script=Script().text("Hi."), front=front) as app:
                await app.prompt("/permissions")

        asyncio.run(story())
        return front, next(note.text for note in front.notes if note.kind == "answer")

    front, said = answer("rpc")
    assert front.ui.asked == [] and said.startswith("Preset: full-access")
    front, said = answer("repl", None)
    assert front.ui.asked == [("select", "What may tools do?")] and said.startswith("Preset: full-access")
    _, said = answer("repl", f"auto  {WORDS['auto']}")
    assert said.startswith("Preset: auto")


@pytest.mark.parametrize(
    ("flags", "settings", "shown"),
    [
        ({}, "{}", []),
        ({"no-yolo": True}, "{}", ["permissions: ask"]),
        ({"permission-preset": "auto"}, '{"preset": "read-only"}', ["permissions: auto"]),
        ({}, '{"preset": "read-only"}', ["permissions: read-only"]),
        ({}, '{"preset": "full-access"}', []),
    ],
)
def test_less_than_full_access_is_shown_from_the_start(
    runtime: Open, world: Any, flags: Any, settings: str, shown: list[str]
) -> None:
    (world.home / "settings.json").write_text(f'{{"plugins": {{"permissions": {settings}}}}}')
    front, states = RecordingFrontEnd("rpc"), list[str | None]()
    front.ui.set_status = lambda key, text: states.append(text)  # type: ignore[method-assign]

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), front=front, flags=flags):
            pass

    asyncio.run(story())
    assert states == shown


def test_an_unknown_preset_is_named(runtime: Open) -> None:
    front = RecordingFrontEnd("rpc")

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), front=front) as app:
            with pytest.raises(UsageError, match="no permission preset 'free'"):
                await app.prompt("/permissions free")

    asyncio.run(story())


@pytest.mark.parametrize("mode", ["-p", "--json"])
def test_no_yolo_is_refused_where_nobody_can_be_asked(world: Any, mode: str) -> None:
    argv = [sys.executable, "-m", "zot_cli", mode, "--provider", "scripted", "--no-yolo", "Hi"]
    done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=Path(world.project))
    assert done.returncode == 2
    assert "--no-yolo" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("mode", ["-p", "--json"])
def test_a_preset_that_there_is_not_is_wrong_usage(world: Any, mode: str) -> None:
    argv = [sys.executable, "-m", "zot_cli", mode, "--provider", "scripted", "--permission-preset", "reed-only"]
    done = subprocess.run([*argv, "Hi"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert "read-only" in done.stderr


def test_a_misspelt_preset_in_the_settings_opens_nothing(runtime: Open, world: Any) -> None:
    (world.home / "settings.json").write_text('{"plugins": {"permissions": {"preset": "reed-only"}}}')
    front = run(runtime, Script().tool_call("bash", command="true").then().text("Ok."), [NO])
    assert len(front.ui.asked) == 1
    assert any("reed-only" in note.text for note in front.notes)


def test_a_reload_leaves_the_gate_where_it_is(runtime: Open) -> None:
    front = RecordingFrontEnd("rpc")
    front.ui.answer("approve", NO)

    async def story() -> None:
        async with runtime(
            script=Script().tool_call("bash", command="true").then().text("Ok."), front=front, flags={"no-yolo": True}
        ) as app:
            await app.reload()
            await app.prompt("Go")

    asyncio.run(story())
    assert len(front.ui.asked) == 1

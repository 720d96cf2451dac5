"""What is asked for while something runs happens in its turn, or somebody is told that it does not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from zot_core import Block, CommandSpec, hookimpl, tool
from zot_core.testing import Script

Open = Callable[..., Any]


def said(app: Any) -> list[str]:
    return [m.content[0].text for m in app.runtime.state.messages if m.role == "user"]


@pytest.mark.parametrize("how", ["reload", "new"])
def test_a_tool_may_queue_a_command_that_replaces_the_session(runtime: Open, how: str) -> None:
    """A tool cannot reload; it may send the command as a follow-up message."""

    @tool
    async def again(ctx: Any) -> str:
        """Asks for it."""
        ctx.send_user_message(f"/{how}-it now", deliver_as="follow_up", expand=True)
        return "asked"

    class Plugin:
        @hookimpl
        def tools(self) -> Any:
            return again

        @hookimpl
        def commands(self) -> list[CommandSpec]:
            async def reload_it(args: str, ctx: Any) -> None:
                await ctx.reload()

            async def new_it(args: str, ctx: Any) -> None:
                await ctx.new_session()

            return [CommandSpec(name="reload-it", handler=reload_it), CommandSpec(name="new-it", handler=new_it)]

    async def story() -> None:
        script = Script().tool_call("again").then().text("Done.")
        async with runtime(script=script, plugins=[Plugin()]) as app:
            before = app.runtime
            await app.prompt("Go")
            assert app.runtime is not before
            assert app.is_idle

    asyncio.run(story())


def test_an_expanded_message_that_steers_joins_the_run(runtime: Open) -> None:
    class Steers:
        @hookimpl
        def tool_execution_start(self, ctx: Any) -> None:
            ctx.send_user_message("over here", deliver_as="steer", expand=True)

    async def story() -> None:
        script = Script().tool_call("bash", command="true").then().text("Ok.")
        async with runtime(script=script, plugins=[Steers()]) as app:
            end = await app.prompt("Go")
            assert said(app) == ["Go", "over here"]
            assert [m.text for m in end.messages if m.role == "assistant"] == ["", "Ok."]

    asyncio.run(story())


def test_a_steering_message_that_a_plugin_refuses_is_told(runtime: Open) -> None:
    class Refuses:
        @hookimpl
        def input(self, event: Any) -> Block | None:
            return Block("no steering") if event.delivery else None

    async def story() -> None:
        async with runtime(script=Script().hang(), plugins=[Refuses()]) as app:
            running = asyncio.create_task(app.prompt("Go"))
            while app.runtime.runs.signal is None:
                await asyncio.sleep(0)
            await app.steer("left")
            assert any("'left' was not sent: no steering" in note.text for note in app.front.notes)
            app.abort()
            await running

    asyncio.run(story())


def test_what_was_queued_is_told_when_the_session_is_replaced(runtime: Open) -> None:
    async def story() -> None:
        async with runtime(script=Script().hang()) as app:
            running = asyncio.create_task(app.prompt("Go"))
            while app.runtime.runs.signal is None:
                await asyncio.sleep(0)
            await app.follow_up("and then this")
            assert await app.new_session()
            await running
            assert any(note.text.endswith("and then this") for note in app.front.notes)

    asyncio.run(story())


def test_a_project_may_switch_plugins_off(runtime: Open, world: Any) -> None:
    folder = world.project / ".zot"
    (folder / "plugins").mkdir(parents=True)
    (folder / "plugins" / "unwanted.py").write_text("from zot_core import hookimpl\n")
    (folder / "settings.json").write_text(json.dumps({"disabled_plugins": ["unwanted", "tool_bash"]}))

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), trust=True, no_plugins=False) as app:
            assert not {"unwanted", "tool_bash"} & set(app.runtime.host.plugins)
            assert "bash" not in app.runtime.toolbox.active()

    asyncio.run(story())


def test_a_session_whose_model_is_gone_stays_with_its_provider(
    runtime: Open, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-used")

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), no_session=False) as app:
            await app.prompt("Hello")
            app.runtime.session.append_model("scripted", "gone")
            path = str(app.runtime.session.path)
        async with runtime(script=Script().text("Hi."), provider="", no_session=False, session=path) as app:
            assert app.runtime.choice.model.provider == "scripted"

    asyncio.run(story())

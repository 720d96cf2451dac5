"""What is sent while a session is being replaced: it waits for the next session, or somebody is told that it was not
sent. Nothing vanishes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from zot_core import hookimpl
from zot_core.testing import Script
from zot_core.types.content import text_of
from zot_core.types.messages import UserMessage

Open = Callable[..., Any]


class Gatekeeper:
    """Holds the end of a session open until it is let go; there it also does what `at_end` says, once."""

    def __init__(self, at_end: Callable[[Any], None] | None = None) -> None:
        self.reached = asyncio.Event()
        self.go = asyncio.Event()
        self._at_end = at_end

    @hookimpl
    async def session_shutdown(self, event: Any, ctx: Any) -> None:
        if event.reason == "quit" or self.reached.is_set():
            return
        if self._at_end is not None:
            self._at_end(ctx)
        self.reached.set()
        await self.go.wait()


def asked(app: Any) -> list[str]:
    """The texts of the user messages of the session in force."""
    return [text_of(one.content) for one in app.runtime.session.messages() if isinstance(one, UserMessage)]


def notes(app: Any) -> list[str]:
    """What people were told."""
    return [note.text for note in app.front.notes]


@pytest.mark.parametrize("how", ["new", "fork", "reload"])
@pytest.mark.parametrize("kind", ["prompt", "steer", "follow_up"])
def test_what_comes_during_the_swap_waits_for_the_next_session(runtime: Open, how: str, kind: str) -> None:
    async def story() -> None:
        keeper = Gatekeeper()
        script = Script().text("One.").then().text("Two.")
        async with runtime(script=script, plugins=[keeper], no_session=False) as app:
            await app.prompt("first")
            before = app.runtime
            replace = {
                "new": app.new_session,
                "fork": lambda: app.fork(before.session.leaf_id, "at"),
                "reload": app.reload,
            }[how]
            replacing = asyncio.create_task(replace())
            await keeper.reached.wait()
            sending = asyncio.create_task(getattr(app, kind)("late"))
            await asyncio.sleep(0)
            keeper.go.set()
            await asyncio.gather(replacing, sending)
            assert app.runtime is not before
            assert asked(app) == (["late"] if how == "new" else ["first", "late"])
            assert not [text for text in notes(app) if "not sent" in text]

    asyncio.run(story())


def test_a_prompt_that_waits_for_the_run_goes_to_the_next_session(runtime: Open) -> None:
    started = asyncio.Event()

    async def story() -> None:
        class Held:
            held = True

            @hookimpl
            async def before_agent_start(self) -> None:
                if self.held:
                    started.set()
                    await asyncio.sleep(300)

            @hookimpl
            def session_shutdown(self) -> None:
                self.held = False

        async with runtime(script=Script().text("Two."), plugins=[Held()]) as app:
            first = asyncio.create_task(app.prompt("first"))
            await started.wait()
            second = asyncio.create_task(app.prompt("second"))
            await asyncio.sleep(0)
            await app.new_session()
            end = await first
            # It had begun to begin, so whoever sent it is told, and keeps its text.
            assert end.stop == "blocked" and "session is replaced" in end.failure.message
            assert (await second).stop == "end_turn"
            assert asked(app) == ["second"]

    asyncio.run(story())


def test_what_was_queued_for_the_run_is_said_not_to_be_sent(runtime: Open) -> None:
    started = asyncio.Event()

    class Held:
        @hookimpl
        async def turn_start(self) -> None:
            started.set()
            await asyncio.sleep(300)

        @hookimpl
        async def input(self, event: Any) -> None:
            if event.text == "slow":
                await looked.wait()

    looked = asyncio.Event()

    async def story() -> None:
        async with runtime(script=Script().text("Two."), plugins=[Held()]) as app:
            first = asyncio.create_task(app.prompt("first"))
            await started.wait()
            await app.steer("left")
            await app.follow_up("right")
            slow = asyncio.create_task(app.steer("slow"))  # still being looked at when the session goes
            await asyncio.sleep(0)
            await app.new_session()
            looked.set()
            await asyncio.gather(first, slow)
            said = [text for text in notes(app) if "not sent" in text]
            assert [next(word for word in ("left", "right", "slow") if word in text) for text in said] == [
                "left",
                "right",
                "slow",
            ]
            assert asked(app) == []

    asyncio.run(story())


def test_what_a_plugin_sends_at_the_end_of_its_session_is_said(runtime: Open) -> None:
    def at_end(ctx: Any) -> None:
        ctx.send_user_message("from the end")
        ctx.send_message("mine", "of a plugin", trigger_turn=True)

    async def story() -> None:
        keeper = Gatekeeper(at_end)
        keeper.go.set()
        async with runtime(script=Script().text("Two."), plugins=[keeper]) as app:
            await app.new_session()
            said = [text for text in notes(app) if "not sent" in text]
            assert any("from the end" in text for text in said)
            assert any("of a plugin" in text and "mine" in text for text in said)
            await app.wait_for_idle()
            assert asked(app) == []

    asyncio.run(story())


def test_what_waits_for_the_next_prompt_outlasts_a_reload(runtime: Open) -> None:
    class Waiting:
        @hookimpl
        def session_start(self, event: Any, ctx: Any) -> None:
            if event.reason == "startup":
                ctx.send_message("context", "remember me", deliver_as="next_turn")

    async def story() -> None:
        async with runtime(script=Script().text("Two."), plugins=[Waiting()]) as app:
            await app.reload()
            await app.prompt("now")
            assert [getattr(one, "custom_type", "") for one in app.runtime.session.messages()][:2].count("context") == 1

    asyncio.run(story())


def test_a_session_that_is_not_replaced_after_all_takes_prompts_again(runtime: Open) -> None:
    async def story() -> None:
        keeper = Gatekeeper()
        async with runtime(script=Script().text("One."), plugins=[keeper]) as app:
            replacing = asyncio.create_task(app.new_session())
            await keeper.reached.wait()
            replacing.cancel()
            await asyncio.wait([replacing])
            assert (await app.prompt("still here")).stop == "end_turn"
            assert asked(app) == ["still here"]

    asyncio.run(story())

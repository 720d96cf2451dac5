"""What plugins of sources are promised: they outlast sessions, are renewed by a reload, and may come late."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from zot_core import Candidate, CommandSpec, UsageError, hookimpl
from zot_core.plugins.errors import PluginLoadError, ReplacementFailed
from zot_core.testing import Script
from zot_core.types.specs import ToolSpec

Open = Callable[..., Any]


class Lasting:
    """A plugin that outlasts sessions, and remembers what it is told."""

    def __init__(self, number: int, told: list[str]) -> None:
        self.number = number
        self.told = told

    @hookimpl
    def session_start(self, event: Any) -> None:
        self.told.append(f"{self.number} start {event.reason}")

    @hookimpl
    def process_stop(self, event: Any) -> None:
        self.told.append(f"{self.number} stop {event.reason}")


class Source:
    """Brings one Lasting. `keep` says how long; `fails` what becomes of its renewal."""

    def __init__(self, keep: Callable[[Any], Any] = lambda session: "always", fails: str = "") -> None:
        self.keep = keep
        self.fails = fails
        self.told: list[str] = []
        self.made = 0

    def make(self) -> Lasting:
        self.made += 1
        return Lasting(self.made, self.told)

    @hookimpl
    def sources(self, session: Any) -> Candidate:
        async def load() -> Lasting:
            return self.make()

        async def renew(old: Lasting) -> Lasting:
            self.told.append(f"{old.number} renewed")
            if self.fails == "kept":
                raise ReplacementFailed("ext:lasting", "it does not start", kept=old)
            if self.fails:
                raise PluginLoadError("ext:lasting", "it does not start")
            return self.make()

        return Candidate(name="ext:lasting", tier=1, load=load, keep=self.keep(session), renew=renew)


def test_it_outlasts_a_new_session_and_is_stopped_once_at_the_end(runtime: Open) -> None:
    source = Source()

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), plugins=[source]) as app:
            await app.new_session()

    asyncio.run(story())
    assert source.told == ["1 start startup", "1 start new", "1 stop exit"]


def test_another_key_makes_another_and_stops_the_first(runtime: Open) -> None:
    keys = iter(["a", "b"])
    source = Source(keep=lambda session: next(keys))

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), plugins=[source]) as app:
            await app.new_session()

    asyncio.run(story())
    assert source.told == ["1 start startup", "2 start new", "1 stop replaced", "2 stop exit"]


@pytest.mark.parametrize("what", ["all", "extensions"])
def test_a_reload_renews_it_beside_the_old_one(runtime: Open, what: Any) -> None:
    source = Source()

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), plugins=[source]) as app:
            report = await app.reload(what)
            assert report.done
            assert "ext:lasting" in report.loaded
            assert report.failed == ()

    asyncio.run(story())
    assert source.told == ["1 start startup", "1 renewed", "2 start reload", "1 stop replaced", "2 stop exit"]


def test_a_renewal_that_fails_may_keep_the_old_one_at_work(runtime: Open) -> None:
    source = Source(fails="kept")

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), plugins=[source]) as app:
            report = await app.reload("extensions")
            assert report.failed == (("ext:lasting", "it does not start"),)
            assert "ext:lasting" in report.loaded

    asyncio.run(story())
    assert source.told == ["1 start startup", "1 renewed", "1 start reload", "1 stop exit"]


def test_a_renewal_that_fails_for_good_leaves_it_out(runtime: Open) -> None:
    source = Source(fails="gone")

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), plugins=[source]) as app:
            report = await app.reload("extensions")
            assert report.failed == (("ext:lasting", "it does not start"),)
            assert "ext:lasting" not in report.loaded

    asyncio.run(story())
    assert source.told == ["1 start startup", "1 renewed", "1 stop replaced"]


class Late:
    """Registers a tool and a command only when it is let."""

    def __init__(self, limit: float = 60.0) -> None:
        self.go = asyncio.Event()
        self.limit = limit

    @hookimpl
    def session_start(self, event: Any, ctx: Any) -> None:
        ctx.create_task(self.bring(ctx))
        self.done = asyncio.Event()
        ctx.hold_requests(self.done.wait(), self.limit)

    async def bring(self, ctx: Any) -> None:
        await self.go.wait()

        async def execute(args: Any, ctx: Any) -> str:
            return "late indeed"

        async def handler(args: str, ctx: Any) -> str:
            return f"late {args}"

        ctx.tools.register(ToolSpec(name="late", description="Late.", parameters={"type": "object"}, execute=execute))
        ctx.commands.register(CommandSpec(name="late", handler=handler))
        self.done.set()


def test_the_first_request_waits_for_tools_that_are_on_their_way(runtime: Open) -> None:
    late = Late()

    async def story() -> None:
        async with runtime(script=Script().tool_call("late").then().text("Done."), plugins=[late]) as app:
            running = asyncio.create_task(app.prompt("Go"))
            await asyncio.sleep(0)
            late.go.set()
            await running
            results = [m for m in app.runtime.state.messages if m.role == "tool"]
            assert [r.content[0].text for r in results] == ["late indeed"]

    asyncio.run(story())


def test_the_first_request_does_not_wait_longer_than_the_plugin_says(runtime: Open) -> None:
    late = Late(limit=0.01)

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), plugins=[late]) as app:
            end = await app.prompt("Go")
            assert end is not None
            assert end.stop == "end_turn"
            assert "late" not in app.runtime.toolbox.active_names()

    asyncio.run(story())


def test_an_abort_ends_the_wait(runtime: Open) -> None:
    async def story() -> None:
        async with runtime(script=Script().text("Hi."), plugins=[Late()]) as app:
            running = asyncio.create_task(app.prompt("Go"))
            for _ in range(100):  # steps of the loop: the prompt was admitted and waits for the plugin
                await asyncio.sleep(0)
            app.abort()
            end = await running
            assert end.stop == "aborted"
            assert app.is_idle

    asyncio.run(story())


def test_a_command_that_is_on_its_way_is_waited_for(runtime: Open) -> None:
    late = Late()

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), plugins=[late]) as app:
            running = asyncio.create_task(app.prompt("/late now"))
            await asyncio.sleep(0)
            late.go.set()
            assert await running is None
            assert "late now" in [note.text for note in app.front.notes]

    asyncio.run(story())


def test_a_tool_that_the_line_names_may_come_late(runtime: Open) -> None:
    late = Late()
    late.go.set()

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), plugins=[late], tools=("late",)) as app:
            assert app.runtime.toolbox.active_names() == ["late"]

    asyncio.run(story())


def test_a_tool_that_never_comes_is_an_error(runtime: Open) -> None:
    async def story() -> None:
        async with runtime(script=Script().text("Hi."), plugins=[], tools=("lote",)):
            pass

    with pytest.raises(UsageError, match="no tool is called 'lote'"):
        asyncio.run(story())


def test_requests_of_programs_are_answered_by_name(runtime: Open) -> None:
    class Answers:
        @hookimpl
        def session_start(self, event: Any, ctx: Any) -> None:
            async def double(data: Any) -> Any:
                return data * 2

            self.off = ctx.rpc.handle("double", double)
            with pytest.raises(UsageError, match="are answered by"):
                ctx.rpc.handle("double", double)

    answers = Answers()

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), plugins=[answers]) as app:
            assert await app.runtime.rpc.call("double", 21) == 42
            answers.off()
            with pytest.raises(UsageError, match=r"no plugin answers requests called 'double'; known: none"):
                await app.runtime.rpc.call("double", 21)

    asyncio.run(story())

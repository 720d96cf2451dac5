"""Compaction through the App: when it comes, what is kept, and that nothing is lost when it fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zot_core import Block, UsageError, hookimpl, tool
from zot_core.events.session import Compaction
from zot_core.plugins.errors import WouldDeadlock
from zot_core.testing import Script
from zot_core.types.content import text_of
from zot_core.types.failure import RunFailed

Open = Callable[..., Any]
LONG = "word " * 400
"""About 500 tokens."""


@pytest.fixture
def small(world: Any) -> Path:
    """A model with a window of 4,000 tokens."""
    home: Path = world.home
    model = {"id": "scripted", "contextWindow": 4000, "maxTokens": 500}
    (home / "models.json").write_text(json.dumps({"providers": {"scripted": {"models": [model]}}}))
    return home


def roles(app: Any) -> list[str]:
    return [message.role for message in app.runtime.state.messages]


def texts(app: Any) -> list[str]:
    return [text_of(message.content) for message in app.runtime.state.messages]


def lines(app: Any, kind: str) -> list[dict[str, Any]]:
    return [line for line in app.front.lines if line["type"] == kind]


def test_the_older_part_becomes_a_summary(runtime: Open) -> None:
    script = Script().text(LONG).then().text("Short.").then().text("The user said hello twice.").then().text("Yes.")

    async def story() -> None:
        async with runtime(script=script) as app:
            await app.prompt("First")
            await app.prompt("Second")
            assert await app.compact("mind the greeting")
            assert roles(app)[0] == "custom"
            assert texts(app)[0] == "The user said hello twice."
            assert texts(app)[-1] == "Short."
            await app.prompt("Third")
            assert texts(app)[-1] == "Yes."
            assert [line["reason"] for line in lines(app, "compact_start")] == ["manual"]
            (done,) = lines(app, "compact_done")
            assert done["summary"] == "The user said hello twice."
            assert 0 < done["tokens_after"] < done["tokens_before"]

    asyncio.run(story())


def test_a_resumed_session_begins_with_the_summary(runtime: Open, world: Any) -> None:
    script = Script().text(LONG).then().text("Two.").then().text("In short.")

    async def story() -> None:
        async with runtime(script=script, no_session=False) as app:
            await app.prompt("First")
            await app.prompt("Second")
            await app.compact()
            before, path = texts(app), app.runtime.session.file
        async with runtime(script=Script().text("Hi."), no_session=False, session=path) as app:
            assert texts(app) == before

    asyncio.run(story())


def test_a_second_compaction_carries_the_first_summary_on(runtime: Open) -> None:
    carried: list[str] = []

    class Sees:
        @hookimpl
        def session_before_compact(self, event: Any) -> None:
            carried.append(event.preparation.previous_summary)

    script = Script()
    for _ in range(2):
        script = script.text(LONG).then().text("Ok.").then().text("Summary.").then()

    async def story() -> None:
        async with runtime(script=script, plugins=[Sees()]) as app:
            for _ in range(2):
                await app.prompt("Go")
                await app.prompt("Go on")
                await app.compact()
            assert carried == ["", "Summary."]
            assert roles(app).count("custom") == 1

    asyncio.run(story())


BAD = {
    "blank": Script().text("  \n"),
    "empty": Script(),
    "cut by length": Script().text("Half of a").finish("length"),
    "a call": Script().text("Let me look.").tool_call("read", path="x"),
    "broken": Script().text("Half").cut(),
    "refused": Script().error("refused", "no"),
    "too long": Script().error("context_overflow", "too long"),
    "server": Script().error("provider", "boom", status=500),
}


@pytest.mark.parametrize("how", BAD)
def test_a_summary_that_is_none_changes_nothing(runtime: Open, world: Any, how: str) -> None:
    (world.home / "settings.json").write_text('{"retry": {"attempts": 1}}')
    script = Script().text(LONG).then().text("Short.").then()
    script.replies[-1:] = BAD[how].replies
    script = script.then().text("Still here.")

    async def story() -> None:
        async with runtime(script=script, no_session=False) as app:
            await app.prompt("First")
            await app.prompt("Second")
            before = texts(app)
            stored = Path(app.runtime.session.file).read_bytes()
            with pytest.raises(RunFailed):
                await app.compact()
            assert texts(app) == before
            assert Path(app.runtime.session.file).read_bytes() == stored
            assert app.front.of("session_compact") == []
            (failed,) = app.front.of("session_compact_failed")
            assert failed.error_message
            await app.prompt("Third")
            assert texts(app)[-1] == "Still here."

    asyncio.run(story())


def test_an_abort_changes_nothing(runtime: Open) -> None:
    script = Script().text(LONG).then().text("Short.").then().hang()

    async def story() -> None:
        async with runtime(script=script) as app:
            await app.prompt("First")
            await app.prompt("Second")
            before = texts(app)
            running = asyncio.create_task(app.compact())
            while not app.front.of("session_before_compact"):
                await asyncio.sleep(0)
            app.abort()
            assert await running is False
            assert texts(app) == before
            assert app.front.of("session_compact_failed")[0].aborted

    asyncio.run(story())


def test_a_plugin_may_refuse_it_or_bring_its_own(runtime: Open) -> None:
    class Decides:
        answer: Any = None

        @hookimpl
        def session_before_compact(self, event: Any) -> Any:
            if self.answer == "own":
                first = event.preparation.first_kept_entry_id
                mine = Compaction(summary="Mine.", first_kept_entry_id=first, tokens_before=7)
                return event.replace(compaction=mine)
            return Block("not now")

    decides = Decides()

    async def story() -> None:
        async with runtime(script=Script().text(LONG).then().text("Short."), plugins=[decides]) as app:
            await app.prompt("First")
            await app.prompt("Second")
            before = texts(app)
            assert await app.compact() is False
            assert texts(app) == before
            assert app.front.of("session_compact")[0].rejection_cause == "not now"
            decides.answer = "own"
            assert await app.compact()
            assert texts(app)[0] == "Mine."
            assert app.front.of("session_compact")[1].from_plugin

    asyncio.run(story())


def test_nothing_to_compact_is_said(runtime: Open) -> None:
    async def story() -> None:
        async with runtime(script=Script().text("Hi.")) as app:
            with pytest.raises(UsageError, match="nothing to compact"):
                await app.compact()

    asyncio.run(story())


def test_a_full_window_is_compacted_before_the_next_prompt(runtime: Open, small: Path) -> None:
    """What is larger than a request may be is summarised part by part."""
    script = Script()
    for _ in range(6):
        script = script.text(LONG).then()
    script = script.text("A part.").then().text("Two parts.").then().text("What was said.").then().text("Yes.")

    async def story() -> None:
        async with runtime(script=script) as app:
            for number in range(6):
                await app.prompt(f"Prompt {number}")
            assert app.front.of("session_compact") == []
            await app.prompt("Last")
            assert texts(app)[0] == "What was said."
            assert texts(app)[-2:] == ["Last", "Yes."]
            assert [line["reason"] for line in lines(app, "compact_start")] == ["threshold"]
            assert app.runtime.context_usage().percent < 85

    asyncio.run(story())


def test_a_long_run_is_compacted_between_its_turns(runtime: Open, small: Path) -> None:
    @tool
    async def look(ctx: Any) -> str:
        """Looks."""
        return LONG

    script = Script()
    for _ in range(6):
        script = script.tool_call("look").then()
    script = script.text("Looked.").then().text("Looked on.").then().text("Looked six times.").then().text("Done.")

    async def story() -> None:
        class Tools:
            @hookimpl
            def tools(self) -> Any:
                return look

        async with runtime(script=script, plugins=[Tools()]) as app:
            end = await app.prompt("Look around")
            assert end.stop == "end_turn"
            assert texts(app)[0] == "Looked six times."
            called = [call.id for m in app.runtime.state.messages if m.role == "assistant" for call in m.tool_calls]
            answered = [m.call_id for m in app.runtime.state.messages if m.role == "tool"]
            assert called == answered

    asyncio.run(story())


def test_a_conversation_that_a_model_refuses_as_too_long_is_compacted_and_sent_again(runtime: Open) -> None:
    script = Script().text(LONG).then().text("Ok.").then().error("context_overflow", "prompt is too long")
    script = script.then().text("The short of it.").then().text("Answer.")

    async def story() -> None:
        async with runtime(script=script) as app:
            await app.prompt("First")
            await app.prompt("Second")
            end = await app.prompt("Third")
            assert end.stop == "end_turn"
            assert texts(app)[0] == "The short of it."
            assert texts(app)[-2:] == ["Third", "Answer."]
            assert app.front.of("session_compact")[0].will_retry

    asyncio.run(story())


def test_it_is_refused_twice_and_that_is_the_end(runtime: Open) -> None:
    script = Script().text(LONG).then().text("Ok.").then().error("context_overflow", "prompt is too long")
    script = script.then().text("The short of it.").then().error("context_overflow", "prompt is too long")

    async def story() -> None:
        async with runtime(script=script) as app:
            await app.prompt("First")
            await app.prompt("Second")
            end = await app.prompt("Third")
            assert end.failure is not None
            assert end.failure.kind == "context_overflow"

    asyncio.run(story())


def test_it_cannot_begin_in_the_middle_of_a_turn(runtime: Open) -> None:
    seen: list[BaseException] = []

    class Eager:
        @hookimpl
        async def turn_start(self, event: Any, ctx: Any) -> None:
            try:
                await ctx.compact_now()
            except WouldDeadlock as error:
                seen.append(error)

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), plugins=[Eager()]) as app:
            await app.prompt("Go")

    asyncio.run(story())
    assert "ctx.compact()" in str(seen[0])


def test_a_plugin_asks_and_goes_on(runtime: Open) -> None:
    heard: list[Any] = []

    class Asks:
        @hookimpl
        async def turn_end(self, event: Any, ctx: Any) -> None:
            ctx.compact("short", on_complete=heard.append, on_error=heard.append)

    script = Script().text(LONG).then().text("In short.")

    async def story() -> None:
        async with runtime(script=script, plugins=[Asks()]) as app:
            await app.prompt("Go")
            while not heard:
                await asyncio.sleep(0)
            assert texts(app)[0] == "In short."

    asyncio.run(story())
    assert heard == [True]


def test_the_command_says_what_became_of_it(runtime: Open) -> None:
    script = Script().text(LONG).then().text("Ok.").then().text("In short.")

    async def story() -> None:
        async with runtime(script=script) as app:
            await app.prompt("First")
            await app.prompt("Second")
            await app.prompt("/compact mind the names")
            assert next(note.text for note in app.front.notes if note.kind == "answer").startswith("Compacted: about ")

    asyncio.run(story())

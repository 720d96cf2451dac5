"""What App and Runtime promise: the order at start, the one way of replacing a session, stale contexts, commands."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zot_core import Block, CommandSpec, hookimpl
from zot_core.ctx.errors import StaleContextError, StreamingError
from zot_core.testing import Script
from zot_core.types.failure import RunFailed, UsageError

Open = Callable[..., Any]


class Diary:
    """A plugin that writes down what it is told, and keeps every context that it gets."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.contexts: list[Any] = []

    @hookimpl
    def session_start(self, event: Any, ctx: Any) -> None:
        self.told.append(f"start {event.reason}")
        self.contexts.append(ctx)

    @hookimpl
    def resources_discover(self, event: Any) -> None:
        self.told.append(f"discover {event.reason}")

    @hookimpl
    def session_before_switch(self, event: Any) -> None:
        self.told.append(f"before {event.reason}")

    @hookimpl
    def session_before_fork(self, event: Any) -> None:
        self.told.append(f"before fork {event.position}")

    @hookimpl
    def session_before_reload(self) -> None:
        self.told.append("before reload")

    @hookimpl
    def session_shutdown(self, event: Any) -> None:
        self.told.append(f"shutdown {event.reason}")

    @hookimpl
    def process_stop(self, event: Any) -> None:
        self.told.append(f"process_stop {event.reason}")


def test_a_session_starts_is_used_and_ends_in_the_order_of_the_seed(runtime: Open) -> None:
    diary = Diary()

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), plugins=[diary]) as app:
            await app.prompt("Hello")

    asyncio.run(story())
    assert diary.told == ["start startup", "discover startup", "shutdown quit", "process_stop exit"]


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("new", ["before new", "shutdown new", "start new", "discover startup"]),
        ("fork", ["before fork at", "shutdown fork", "start fork", "discover startup"]),
        ("reload", ["before reload", "shutdown reload", "start reload", "discover reload"]),
    ],
)
def test_every_replacement_goes_one_way(runtime: Open, how: str, told: list[str]) -> None:
    diary = Diary()

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), plugins=[diary], no_session=False) as app:
            await app.prompt("Hello")
            diary.told.clear()
            before = app.runtime
            if how == "new":
                assert await app.new_session()
            elif how == "fork":
                assert await app.fork(app.runtime.session.leaf_id, "at")
            else:
                assert (await app.reload()).done
            assert app.runtime is not before
            assert diary.told[:4] == told

    asyncio.run(story())


def test_switching_goes_to_the_other_session_and_names_the_one_before(runtime: Open) -> None:
    class Files:
        def __init__(self) -> None:
            self.previous: list[Any] = []

        @hookimpl
        def session_start(self, event: Any) -> None:
            self.previous.append(event.previous_session_file)

    files = Files()

    async def story() -> None:
        script = Script().text("One.").then().text("Two.")
        async with runtime(script=script, plugins=[files], no_session=False) as app:
            await app.prompt("First")
            first = str(app.runtime.session.path)
            await app.new_session()
            await app.prompt("Second")
            second = str(app.runtime.session.path)
            assert first != second
            await app.switch_session(first)
            assert [m.role for m in app.runtime.state.messages] == ["user", "assistant"]
            assert files.previous == [None, first, second]

    asyncio.run(story())


@pytest.mark.parametrize("how", ["new", "fork", "reload"])
def test_a_block_keeps_the_session_and_says_why(runtime: Open, how: str) -> None:
    class Stay:
        @hookimpl
        def session_before_switch(self) -> Block:
            return Block("not now")

        @hookimpl
        def session_before_fork(self) -> Block:
            return Block("not now")

        @hookimpl
        def session_before_reload(self) -> Block:
            return Block("not now")

    diary = Diary()

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), plugins=[Stay(), diary]) as app:
            await app.prompt("Hello")
            before, told = app.runtime, len(diary.told)
            if how == "new":
                assert not await app.new_session()
            elif how == "fork":
                assert not await app.fork(app.runtime.session.leaf_id)
            else:
                assert not (await app.reload()).done
            assert app.runtime is before
            assert "shutdown" not in "".join(diary.told[told:])
            assert any(note.text == "not now" for note in app.front.notes)

    asyncio.run(story())


def test_a_stale_context_says_what_replaced_it_and_keeps_its_plain_data(runtime: Open) -> None:
    diary = Diary()

    async def story() -> None:
        async with runtime(plugins=[diary]) as app:
            await app.new_session()
            old, new = diary.contexts
            for use in (
                lambda: old.session.id,
                lambda: old.tools.all(),
                lambda: old.models.current,
                lambda: old.abort(),
                lambda: old.ui.notify("x"),
                lambda: old.on("tool_call", lambda event: None),
            ):
                with pytest.raises(StaleContextError, match="replaced by a new session"):
                    use()
            assert old.cwd == new.cwd
            assert old.mode == "json"
            assert new.is_idle()

    asyncio.run(story())


def test_a_plugin_that_breaks_on_reload_is_left_out_and_the_session_goes_on(runtime: Open, tmp_path: Path) -> None:
    fragile = tmp_path / "fragile.py"
    fragile.write_text("from zot_core import hookimpl\n")

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), plugins=[fragile]) as app:
            fragile.write_text("this is no Python")
            report = await app.reload()
            assert report.done
            assert [name for name, _ in report.failed] == ["fragile"]
            assert (await app.prompt("Hello")).stop == "end_turn"

    asyncio.run(story())


def test_a_reload_runs_new_code_in_the_old_place_and_stops_the_old_module(runtime: Open, tmp_path: Path) -> None:
    log = tmp_path / "log"
    plugin = tmp_path / "marker.py"
    code = """
from zot_core import hookimpl
def say(word):
    with open({log!r}, "a") as file:
        file.write(word + " ")
@hookimpl
def session_start(event):
    say("start{number}")
@hookimpl
def process_stop(event):
    say("stop{number}-" + event.reason)
"""
    plugin.write_text(code.format(log=str(log), number=1))

    async def story() -> None:
        async with runtime(plugins=[plugin]) as app:
            before = [row.plugin for row in app.runtime.host.order("session_start")]
            plugin.write_text(code.format(log=str(log), number=2))
            await app.reload()
            assert [row.plugin for row in app.runtime.host.order("session_start")] == before

    asyncio.run(story())
    assert log.read_text().split() == ["start1", "start2", "stop1-replaced", "stop2-exit"]


def test_a_run_that_session_start_asks_for_begins_after_all_its_handlers(runtime: Open) -> None:
    told: list[str] = []

    class First:
        @hookimpl(tryfirst=True)
        def session_start(self, ctx: Any) -> None:
            ctx.send_user_message("Begin by yourself")
            told.append("first")

        @hookimpl
        def agent_start(self) -> None:
            told.append("run")

    class Second:
        @hookimpl(trylast=True)
        async def session_start(self) -> None:
            await asyncio.sleep(0)
            told.append("second")

    async def story() -> None:
        async with runtime(script=Script().text("Begun."), plugins=[First(), Second()]) as app:
            await app.runtime.runs.wait_for_idle()
            assert app.front.shown == ["Begun."]

    asyncio.run(story())
    assert told == ["first", "second", "run"]


def test_a_run_that_a_settled_handler_asks_for_starts_after_all_of_them(runtime: Open) -> None:
    told: list[str] = []

    class Again:
        @hookimpl
        def agent_settled(self, ctx: Any) -> None:
            told.append("settled")
            if told.count("settled") == 1:
                ctx.send_message("again", "Once more", trigger_turn=True)

        @hookimpl
        def agent_start(self) -> None:
            told.append("start")

    class Slow:
        @hookimpl(trylast=True)
        async def agent_settled(self) -> None:
            await asyncio.sleep(0)
            told.append("slow settled")

    async def story() -> None:
        script = Script().text("One.").then().text("Two.")
        async with runtime(script=script, plugins=[Again(), Slow()]) as app:
            end = await app.prompt("Go")
            assert end.messages[-1].text == "Two."

    asyncio.run(story())
    assert told == ["start", "settled", "slow settled", "start", "settled", "slow settled"]


# --- commands -----------------------------------------------------------------------------------------------------


class Commands:
    """Slash commands of a test."""

    def __init__(self, **handlers: Any) -> None:
        self.handlers = handlers

    @hookimpl
    def commands(self) -> list[CommandSpec]:
        return [CommandSpec(name=name, handler=handler) for name, handler in self.handlers.items()]


def test_a_command_runs_instead_of_a_prompt_and_input_is_not_asked(runtime: Open) -> None:
    seen: list[str] = []

    class Watch:
        @hookimpl
        def input(self, event: Any) -> None:
            seen.append(event.text)

    async def greet(args: str, ctx: Any) -> str:
        return f"Hello, {args}!"

    async def story() -> None:
        async with runtime(plugins=[Commands(greet=greet), Watch()]) as app:
            assert await app.prompt("/greet  Ada ") is None
            assert await app.prompt("/GREET Bob") is None
            assert [note.text for note in app.front.notes if note.kind == "answer"] == ["Hello, Ada!", "Hello, Bob!"]

    asyncio.run(story())
    assert seen == []


def test_an_unknown_command_is_sent_as_text_with_a_notice(runtime: Open) -> None:
    async def story() -> None:
        async with runtime(script=Script().text("Hm.")) as app:
            end = await app.prompt("/nope at all")
            assert end.messages[0].content[0].text == "/nope at all"
            assert any("/nope" in note.text for note in app.front.notes)

    asyncio.run(story())


def test_a_broken_command_is_a_failed_run_that_names_its_plugin(runtime: Open) -> None:
    async def crash(args: str, ctx: Any) -> None:
        raise ValueError("no luck")

    async def story() -> None:
        async with runtime(plugins=[Commands(crash=crash)]) as app:
            with pytest.raises(RunFailed, match=r"/crash of plugin commands_\d+ failed: no luck"):
                await app.prompt("/crash")

    asyncio.run(story())


def test_a_command_for_the_screen_is_wrong_usage_elsewhere(runtime: Open) -> None:
    class Screen:
        @hookimpl
        def commands(self) -> CommandSpec:
            return CommandSpec(name="pick", handler=lambda args, ctx: None, modes=("repl",))

    async def story() -> None:
        async with runtime(plugins=[Screen()]) as app:
            with pytest.raises(UsageError, match="/pick needs the interactive mode, and this is json mode"):
                await app.prompt("/pick")

    asyncio.run(story())


def test_a_command_may_replace_the_session_and_go_on_in_the_new_one(runtime: Open) -> None:
    async def fresh(args: str, ctx: Any) -> None:
        async def say(new: Any) -> None:
            new.send_user_message("In the new session")

        old = ctx.session.id
        assert await ctx.new_session(with_session=say)
        with pytest.raises(StaleContextError):
            _ = ctx.session.id
        assert old

    async def story() -> None:
        async with runtime(script=Script().text("New here."), plugins=[Commands(fresh=fresh)]) as app:
            await app.prompt("/fresh")
            assert app.front.shown == ["New here."]
            assert [m.role for m in app.runtime.state.messages] == ["user", "assistant"]

    asyncio.run(story())


# --- messages of plugins ------------------------------------------------------------------------------------------


def test_a_user_message_during_a_run_must_say_how_it_joins(runtime: Open) -> None:
    errors: list[Exception] = []

    class Eager:
        @hookimpl
        def turn_start(self, event: Any, ctx: Any) -> None:
            try:
                ctx.send_user_message("And this")
            except StreamingError as error:
                errors.append(error)
                if len(errors) == 1:
                    ctx.send_user_message("And that", deliver_as="follow_up")

    async def story() -> None:
        script = Script().text("One.").then().text("Two.")
        async with runtime(script=script, plugins=[Eager()]) as app:
            await app.prompt("Go")
            texts = [m.content[0].text for m in app.runtime.state.messages if m.role == "user"]
            assert texts == ["Go", "And that"]

    asyncio.run(story())
    assert errors


def test_steering_joins_after_the_tools_and_a_follow_up_at_the_end(runtime: Open) -> None:
    class Both:
        @hookimpl
        def tool_execution_start(self, ctx: Any) -> None:
            ctx.send_user_message("steered", deliver_as="steer")
            ctx.send_user_message("followed", deliver_as="follow_up")

    async def story() -> None:
        script = (
            Script()
            .tool_call("bash", command="true")
            .then()
            .text("After the steer.")
            .then()
            .text("After the follow-up.")
        )
        async with runtime(script=script, plugins=[Both()]) as app:
            await app.prompt("Go")
            said = [
                m.text if m.role == "assistant" else m.content[0].text
                for m in app.runtime.state.messages
                if m.role in ("user", "assistant")
            ]
            assert said == ["Go", "", "steered", "After the steer.", "followed", "After the follow-up."]

    asyncio.run(story())


def test_a_message_for_the_next_turn_waits_for_the_next_prompt(runtime: Open) -> None:
    async def later(args: str, ctx: Any) -> None:
        ctx.send_message("memo", "Remember the milk", deliver_as="next_turn")

    async def story() -> None:
        async with runtime(script=Script().text("Ok."), plugins=[Commands(later=later)]) as app:
            await app.prompt("/later")
            assert app.runtime.state.messages == []
            await app.prompt("Go")
            assert {m.role for m in app.runtime.state.messages} == {"custom", "user", "assistant"}

    asyncio.run(story())


def test_entries_of_plugins_are_kept_and_never_sent(runtime: Open) -> None:
    class Keeper:
        @hookimpl
        def agent_end(self, ctx: Any) -> None:
            ctx.append_entry("score", {"points": 3})

    async def story() -> Path:
        async with runtime(script=Script().text("Hi."), plugins=[Keeper()], no_session=False) as app:
            await app.prompt("Hello")
            return Path(app.runtime.session.path)

    path = asyncio.run(story())
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert any(record.get("custom_type") == "score" for record in records)


# --- models, prompt, tools ----------------------------------------------------------------------------------------


def test_the_chosen_model_is_told_stored_and_restored(runtime: Open) -> None:
    told: list[Any] = []

    class Watch:
        @hookimpl
        def model_select(self, event: Any) -> None:
            told.append((event.source, event.model.id))

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), plugins=[Watch()], no_session=False) as app:
            await app.prompt("Hello")
            other = next(m for m in app.runtime.models.models("openai"))
            assert not await app.runtime.choice.set_model(f"openai/{other.id}")  # no key
            assert any("no API key for openai" in note.text for note in app.front.notes)

    asyncio.run(story())
    assert told == []


def test_tools_registered_in_a_session_are_offered_from_the_next_call(runtime: Open) -> None:
    offered: list[list[str]] = []

    class Late:
        @hookimpl
        def session_start(self, ctx: Any) -> None:
            from zot_core import tool

            @tool
            async def late(word: str) -> str:
                """Says a word."""
                return word

            ctx.tools.register(late)

        @hookimpl
        def turn_start(self, ctx: Any) -> None:
            offered.append(list(ctx.tools.active()))

    async def story() -> None:
        script = Script().tool_call("late", word="now").then().text("Done.")
        async with runtime(script=script, plugins=[Late()]) as app:
            end = await app.prompt("Go")
            assert [m.content[0].text for m in end.messages if m.role == "tool"] == ["now"]

    asyncio.run(story())
    assert all("late" in names for names in offered)


@pytest.mark.parametrize("removed", ["tool_read", "tool_write", "tool_edit", "tool_bash", "context_files", "providers"])
def test_any_one_built_in_may_go(runtime: Open, world: Any, removed: str) -> None:
    (world.home / "settings.json").write_text(json.dumps({"disabled_plugins": [removed]}))

    async def story() -> None:
        async with runtime(script=Script().text("Still here.")) as app:
            assert removed not in app.runtime.host.plugins
            await app.prompt("Hello")
            assert app.front.shown == ["Still here."]

    asyncio.run(story())


@pytest.mark.parametrize("model", ["gpt-6-sol", "no-such-model"])
def test_a_provider_that_the_settings_name_is_never_left_for_another(
    runtime: Open, world: Any, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-used")
    (world.home / "settings.json").write_text(json.dumps({"provider": "scripted", "model": model}))

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), provider="") as app:
            await app.prompt("Hello")
            assert app.runtime.choice.model.provider == "scripted"
            assert any("the settings' model cannot be used" in note.text for note in app.front.notes)

    asyncio.run(story())


def test_a_provider_that_nobody_has_is_said_and_no_other_is_asked(
    runtime: Open, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-used")
    (world.home / "settings.json").write_text(json.dumps({"provider": "gone", "model": "m"}))

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), provider="") as app:
            end = await app.prompt("Hello")
            assert end.failure is not None
            assert "'gone' cannot be used" in end.failure.message

    asyncio.run(story())

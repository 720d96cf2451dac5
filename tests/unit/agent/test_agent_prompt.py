"""Promises of the base prompt and of its epochs."""

from __future__ import annotations

import asyncio

from support.agent_fakes import Bench, FakeSink, asks, call, says, tool, tools

from zot_core.agent.prompt import build_base, options_for
from zot_core.types.specs import PromptSection

FILES = (
    PromptSection(name="AGENTS.md", text="Use tabs.\n", kind="context_file", path="/p/AGENTS.md"),
    PromptSection(name="greet", text="# Skills\n- greet", kind="skills"),
    PromptSection(name="extra", text="Extra."),
)


def spec(name, **more):
    return tool(name, None, **more)


def options(**more):
    active = tools(
        spec("read", prompt_snippet="Read files", prompt_guidelines=("Read before you edit.", "Be brief.")),
        spec("bash", prompt_snippet="Run commands", prompt_guidelines=("Be brief.",)),
        spec("quiet"),
    )
    return options_for(active, FILES, cwd="/p", append=("Appended.",), **more)


def test_the_base_prompt_in_its_order():
    text = build_base(options(), FILES, date="2026-01-02")
    wanted = [
        "You are zot",
        "# Available tools\n- bash: Run commands\n- read: Read files",
        "# Guidelines\n- Be brief.",
        "# Project context",
        'path="/p/AGENTS.md"',
        "Use tabs.",
        "# Skills",
        "Extra.",
        "Appended.",
    ]
    places = [text.index(part) for part in wanted]
    assert places == sorted(places)
    assert text.endswith("Current date: 2026-01-02\nCurrent working directory: /p")
    assert text.count("Be brief.") == 1 and text.count("Use tabs.") == 1 and "quiet" not in text


def test_a_custom_prompt_replaces_identity_tools_and_guidelines_alone():
    text = build_base(options(custom_prompt="Mine."), FILES, date="2026-01-02")
    assert text.startswith("Mine.\n\n# Project context")
    assert "Available tools" not in text and "Guidelines" not in text
    assert "Use tabs." in text and "Appended." in text and text.endswith("/p")


def test_an_empty_custom_prompt_is_one_too():
    assert build_base(options(custom_prompt=""), date="d").startswith("# Project context")


def test_empty_parts_leave_no_trace():
    text = build_base(options_for({}, cwd="/p"), date="d", identity="I.")
    assert text == "I.\n\nCurrent date: d\nCurrent working directory: /p"


def prepared(bench):
    return bench.sink.events("prepare_system_prompt")


def test_the_prepared_prompt_holds_until_the_next_epoch():
    bench = Bench([asks(call("t")), says("x"), says("y"), says("z")], tools(spec("t")), options={"system": "base"})
    bench.tools = tools(tool("t", lambda a, c: "ok"))
    bench.sink.on["prepare_system_prompt"] = lambda e: e.replace(system_prompt=f"{e.system_prompt}+")

    async def main():
        await bench.run("one")
        await bench.run("two")
        bench.state.prompt.raise_epoch("model")
        await bench.run("three")

    asyncio.run(main())
    assert len(prepared(bench)) == 2
    assert [r.system for r in bench.requests] == ["base+"] * 4
    event = prepared(bench)[0]
    assert (event.provider, event.model) == ("p", "m")
    assert event.agent_run_id != prepared(bench)[1].agent_run_id


def test_an_epoch_that_moves_cancels_the_pass_and_drops_its_reply():
    bench = Bench([says("x")], options={"system": "base"})
    cancelled = []

    async def handler(event):
        if len(prepared(bench)) > 1:
            return event.replace(system_prompt="second")
        asyncio.get_running_loop().call_soon(bench.state.prompt.raise_epoch)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(1)
            return event.replace(system_prompt="late")

    bench.sink.on["prepare_system_prompt"] = handler
    assert bench.go().stop == "end_turn"
    assert cancelled == [1]
    assert bench.requests[0].system == "second"
    ids = [event.agent_run_id for event in prepared(bench)]
    assert len(set(ids)) == 2


def test_an_epoch_may_move_during_a_run():
    bench = Bench([asks(call("t")), says("x")], options={"system": lambda: f"base {bench.state.prompt.epoch}"})
    bench.tools = tools(tool("t", lambda a, c: bench.state.prompt.raise_epoch("tools")))
    bench.go()
    assert [r.system for r in bench.requests] == ["base 0", "base 1"]
    assert bench.state.prompt.text == "base 1"


def test_a_handler_that_always_moves_the_epoch_does_not_block_for_ever():
    bench = Bench([says("x")], options={"system": "base"})

    def handler(event):
        bench.state.prompt.raise_epoch()
        return event.replace(system_prompt="mine")

    bench.sink.on["prepare_system_prompt"] = handler
    assert bench.go().stop == "end_turn"
    assert bench.requests[0].system == "mine"


def test_without_listeners_the_base_is_the_prompt():
    async def base():
        return "base"

    bench = Bench([says("x")], sink=FakeSink(quiet=("prepare_system_prompt",)), options={"system": base})
    bench.go()
    assert bench.requests[0].system == "base"

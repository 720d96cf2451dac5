"""Tools that are offered later, through the whole of zot: what models are sent, what is told, what is kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from zot_core import ModelSpec, ProviderSpec, ToolResult, ToolSpec, hookimpl, tool
from zot_core.testing import RecordingFrontEnd
from zot_core.types.messages import ToolResultMessage
from zot_core.types.stream import Done, StreamPart, TextDelta, ToolCallDelta, ToolCallEnd, ToolCallStart

Run = Callable[..., RecordingFrontEnd]
Open = Callable[..., Any]


def calls(*wanted: tuple[str, dict[str, Any]]) -> list[StreamPart]:
    parts: list[StreamPart] = []
    for key, (name, args) in enumerate(wanted):
        parts += [ToolCallStart(key, f"c{key}", name), ToolCallDelta(key, json.dumps(args)), ToolCallEnd(key)]
    return [*parts, Done("tool_use")]


def find(query: str, **more: Any) -> list[StreamPart]:
    return calls(("tool_search", {"query": query, **more}))


def spec(name: str, description: str = "Does it.", *, answer: Any = "done", **more: Any) -> ToolSpec:
    async def execute(args: Any, ctx: Any) -> Any:
        return answer(ctx) if callable(answer) else answer

    given = {"parameters": {"type": "object", "properties": {}}, "execute": execute, **more}
    return ToolSpec(name=name, description=description, **given)


class Lab:
    """A model that says `replies`, one a request, and some tools."""

    def __init__(self, *replies: list[StreamPart], tools: tuple[ToolSpec, ...] = ()) -> None:
        self.replies = list(replies)
        self.offered: list[set[str]] = []
        self.own = tools
        self.activated: list[tuple[str, ...]] = []

    async def stream(self, request: Any) -> AsyncIterator[StreamPart]:
        self.offered.append({one.name for one in request.tools})
        for part in self.replies.pop(0) if self.replies else [TextDelta("Done."), Done("end_turn")]:
            yield part

    @hookimpl
    def providers(self) -> ProviderSpec:
        return ProviderSpec(id="lab", keyless=True, models=(ModelSpec(id="m", provider="lab"),), stream=self.stream)

    @hookimpl
    def tools(self) -> list[ToolSpec]:
        return list(self.own)

    @hookimpl
    def tool_activated(self, event: Any, ctx: Any) -> None:
        self.activated.append(tuple(event.tool_names))


CHOSEN = {"provider": "lab", "model": "m"}
WEATHER = spec("lookup_weather", "The weather at a place.", exposure="search")
ISSUES = spec("find_issues", "Finds issues in the tracker.", exposure="search", search_group="tracker")


METEO = """
from zot_core import hookimpl, tool


@tool(exposure="search")
def lookup_weather(place: str) -> str:
    '''The weather at a place.'''
    return "fine"


@hookimpl
def tools():
    return [lookup_weather]
"""


def results(ran: RecordingFrontEnd) -> list[ToolResultMessage]:
    return [message for message in ran.messages if isinstance(message, ToolResultMessage)]


def test_without_tools_to_find_there_is_no_search(run_prompt: Run) -> None:
    lab = Lab(tools=(spec("plain"),))
    run_prompt("x", plugins=[lab], **CHOSEN)
    assert "tool_search" not in lab.offered[0]
    assert "plain" in lab.offered[0]


def test_what_is_found_is_offered_from_the_next_request_on(run_prompt: Run) -> None:
    lab = Lab(find("weather"), tools=(WEATHER, ISSUES))
    ran = run_prompt("x", plugins=[lab], **CHOSEN)
    assert "tool_search" in lab.offered[0]
    assert not {"lookup_weather", "find_issues"} & lab.offered[0]
    assert "lookup_weather" in lab.offered[1] and "find_issues" not in lab.offered[1]
    (result,) = results(ran)
    assert "lookup_weather" in result.content[0].text and "The weather at a place." in result.content[0].text
    assert result.activated == ("lookup_weather",)
    assert lab.activated == [("lookup_weather",)]


def test_a_tool_that_is_there_already_is_said_to_be(run_prompt: Run) -> None:
    lab = Lab(find("weather"), find("weather"), tools=(WEATHER,))
    ran = run_prompt("x", plugins=[lab], **CHOSEN)
    first, second = results(ran)
    assert (first.activated, second.activated) == (("lookup_weather",), ())
    assert "already" in second.content[0].text
    assert "tool_search" in lab.offered[2], "the list of tools stays what it was, for the cache's sake"


def test_groups_and_limits(run_prompt: Run) -> None:
    many = tuple(spec(f"thing_{n}", "A thing of many.", exposure="search") for n in range(9))
    lab = Lab(
        find("issues thing", group="tracker"),
        find(""),
        find("thing", limit=2),
        find("x", group="nowhere"),
        tools=(ISSUES, *many),
    )
    ran = run_prompt("x", plugins=[lab], **CHOSEN)
    inside, groups, few, nowhere = results(ran)
    assert inside.activated == ("find_issues",)
    assert "tracker (1)" in groups.content[0].text and "(9)" in groups.content[0].text and not groups.activated
    assert few.activated == ("thing_0", "thing_1")
    assert "no group 'nowhere'" in nowhere.content[0].text


def test_what_a_search_does_not_find(run_prompt: Run) -> None:
    """D-10: a deferred tool is its loader's alone. Nor is one found that says so, nor a hidden one."""
    tools = (
        spec("weather_later", deferred=True),
        spec("weather_shy", exposure="search", allow_lazy_activation=False),
        spec("weather_hidden", exposure="hidden"),
        ISSUES,
    )
    by_name = calls(("weather_later", {}), ("weather_shy", {}), ("weather_hidden", {}))
    lab = Lab(find("weather"), by_name, tools=tools)
    ran = run_prompt("x", plugins=[lab], **CHOSEN)
    searched, *named = results(ran)
    assert "No tool matches" in searched.content[0].text
    assert all(result.is_error and "There is no tool named" in result.content[0].text for result in named)
    assert not any(name.startswith("weather") for offered in lab.offered for name in offered)


def test_only_a_loader_activates_a_deferred_tool(run_prompt: Run) -> None:
    loader = spec("loader", answer=ToolResult(content="loaded", activate_tools=("later", "unknown")))
    lab = Lab(calls(("loader", {})), tools=(loader, spec("later", deferred=True)))
    ran = run_prompt("x", plugins=[lab], **CHOSEN)
    assert ["later" in offered for offered in lab.offered] == [False, True]
    assert results(ran)[0].activated == ("later",)
    assert lab.activated == [("later",)]


def test_a_call_by_its_name_activates_a_tool_and_runs_it(run_prompt: Run) -> None:
    lab = Lab(calls(("lookup_weather", {})), tools=(WEATHER,))
    ran = run_prompt("x", plugins=[lab], **CHOSEN)
    (result,) = results(ran)
    assert (result.content[0].text, result.is_error, result.activated) == ("done", False, ("lookup_weather",))
    assert "lookup_weather" in lab.offered[1]
    assert lab.activated == [("lookup_weather",)]


def test_words_of_other_programs_are_read() -> None:
    assert spec("a", exposure="deferred").exposure == "search"
    assert spec("a", exposure="codemode").exposure == "eval"

    @tool(exposure="deferred")
    def greet(name: str) -> str:
        """Greets."""
        return name

    assert greet.exposure == "search"


def test_a_tool_for_models_alone_is_refused_to_other_tools(run_prompt: Run) -> None:
    async def execute(args: Any, ctx: Any) -> Any:
        inner = await ctx.execute_tool("secret", {})
        assert inner.is_error
        return inner.content[0].text

    outer = ToolSpec(name="outer", description="Calls.", parameters={"type": "object"}, execute=execute)
    lab = Lab(calls(("outer", {}), ("secret", {})), tools=(outer, spec("secret", exposure="model-only")))
    ran = run_prompt("x", plugins=[lab], **CHOSEN)
    first, second = results(ran)
    assert "may be called by a model alone" in first.content[0].text
    assert second.content[0].text == "done"


@pytest.mark.parametrize("nested", [False, True])
def test_what_a_tool_adds_while_it_runs_is_noted_in_its_result(run_prompt: Run, nested: bool) -> None:
    """df-additive, df-diy: direct tools that a plugin switched off, and its own loader."""

    def add(ctx: Any) -> str:
        ctx.tools.set_active([*ctx.tools.active(), "more"])
        return "added"

    class Diy(Lab):
        @hookimpl
        def session_start(self, event: Any, ctx: Any) -> None:
            ctx.tools.set_active([name for name in ctx.tools.active() if name != "more"])

    async def outer(args: Any, ctx: Any) -> Any:
        return (await ctx.execute_tool("add", {})).content[0].text

    around = ToolSpec(name="outer", description="Calls add.", parameters={"type": "object"}, execute=outer)
    lab = Diy(calls(("outer" if nested else "add", {})), tools=(spec("add", answer=add), spec("more"), around))
    ran = run_prompt("x", plugins=[lab], **CHOSEN)
    assert ["more" in offered for offered in lab.offered] == [False, True]
    assert results(ran)[0].activated == ("more",)
    assert lab.activated == [("more",)]


def test_a_change_that_takes_something_away_is_not_noted(run_prompt: Run) -> None:
    def swap(ctx: Any) -> str:
        ctx.tools.set_active([*(name for name in ctx.tools.active() if name != "swap"), "lookup_weather"])
        return "swapped"

    lab = Lab(calls(("swap", {})), tools=(spec("swap", answer=swap), WEATHER))
    ran = run_prompt("x", plugins=[lab], **CHOSEN)
    assert results(ran)[0].activated == ()
    assert "lookup_weather" in lab.offered[1] and "swap" not in lab.offered[1]
    assert lab.activated == [("lookup_weather",)]


@pytest.mark.parametrize(
    ("options", "offered", "found"),
    [
        ({"tools": ("read", "lookup_weather")}, {"read", "lookup_weather"}, False),
        ({"tools": ("read", "tool_search")}, {"read", "tool_search"}, True),
        ({"tools": ("read",)}, {"read"}, False),
        ({"no_tools": True}, set(), False),
        ({"no_builtin_tools": True}, {"tool_search"}, True),
        ({"exclude_tools": ("tool_search", "find_issues"), "tools": None}, None, False),
    ],
)
def test_the_command_line_has_the_last_word(
    run_prompt: Run, options: dict[str, Any], offered: set[str] | None, found: bool
) -> None:
    lab = Lab(find("weather"), calls(("find_issues", {})), tools=(WEATHER, ISSUES))
    run_prompt("x", plugins=[lab], **CHOSEN, **options)
    if offered is None:
        assert "tool_search" not in lab.offered[0] and "lookup_weather" in lab.offered[0], "nobody could find it"
        assert "find_issues" not in set().union(*lab.offered)
        return
    assert lab.offered[0] == offered
    assert ("lookup_weather" in lab.offered[1]) == (found or "lookup_weather" in offered)
    assert ("find_issues" in lab.offered[2]) == found


def test_without_the_search_its_tools_are_offered_at_once(run_prompt: Run) -> None:
    lab = Lab(tools=(WEATHER, spec("shy", exposure="search", allow_lazy_activation=False)))
    run_prompt("x", plugins=[lab], no_builtins=True, **CHOSEN)
    assert lab.offered[0] == {"lookup_weather"}


def test_what_was_found_is_offered_after_a_reload_and_gone_with_its_plugin(world: Any, runtime: Open) -> None:
    folder = world.home / "plugins"
    folder.mkdir()
    (folder / "meteo.py").write_text(METEO, encoding="utf-8")
    lab = Lab(find("weather"))

    async def run() -> None:
        async with runtime(plugins=[lab], no_plugins=False, **CHOSEN) as app:
            await app.prompt("x")
            await app.reload()
            await app.prompt("again")
            (folder / "meteo.py").unlink()
            await app.reload()
            await app.prompt("and again")

    asyncio.run(run())
    assert ["lookup_weather" in offered for offered in lab.offered] == [False, True, True, False]
    assert "tool_search" not in lab.offered[3]


def test_a_resumed_session_offers_what_was_found(runtime: Open) -> None:
    lab = Lab(find("weather"), tools=(WEATHER, ISSUES))

    async def run() -> list[Any]:
        async with runtime(plugins=[lab], no_session=False, **CHOSEN) as app:
            await app.prompt("x")
            path = str(app.runtime.session.path)
        async with runtime(plugins=[lab], no_session=False, session=path, **CHOSEN) as app:
            kept = [m.activated for m in app.runtime.state.messages if isinstance(m, ToolResultMessage)]
            await app.prompt("again")
        async with runtime(
            plugins=[lab], no_session=False, session=path, tools=("read", "find_issues"), **CHOSEN
        ) as app:
            await app.prompt("with other tools")
        return kept

    assert asyncio.run(run()) == [("lookup_weather",)]
    assert "lookup_weather" in lab.offered[2] and "find_issues" not in lab.offered[2]
    assert lab.offered[3] == {"read", "find_issues"}, "what the line allows now"

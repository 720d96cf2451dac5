"""A thinking level that a person chose for a model holds for the next session too; what else goes before it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from zot_core import ModelSpec, ProviderSpec, hookimpl
from zot_core.types.stream import Done, StreamPart, TextDelta

Open = Callable[..., Any]


async def stream(request: Any) -> AsyncIterator[StreamPart]:
    yield TextDelta("Hm.")
    yield Done("end_turn")


class Models:
    @hookimpl
    def providers(self) -> ProviderSpec:
        one = ModelSpec(id="one", provider="p", reasoning=True, thinking_levels={"max": "max"})
        two = ModelSpec(id="two", provider="p", reasoning=True)
        plain = ModelSpec(id="plain", provider="p")
        return ProviderSpec(id="p", keyless=True, models=(one, two, plain), stream=stream)


def levels(runtime: Open, *sessions: tuple[dict[str, Any], Any]) -> list[str]:
    """The level at the start of each session; then something is done in it."""

    async def run() -> list[str]:
        found = []
        for options, then in sessions:
            given = {"provider": "p", "model": "one", "no_session": False, **options}
            async with runtime(plugins=[Models()], **given) as app:
                choice = app.runtime.choice
                found.append(choice.thinking)
                if then is not None:
                    await then(choice)
                    await app.prompt("x")
        return found

    return asyncio.run(run())


def choose(level: Any) -> Any:
    async def then(choice: Any) -> None:
        await choice.set_thinking(level)

    return then


def test_the_last_choice_for_a_model_is_its_level_in_a_new_session(runtime: Open) -> None:
    two = {"model": "two"}
    assert levels(
        runtime, ({}, choose("high")), (two, choose("low")), ({}, None), (two, None), ({"model": "plain"}, None)
    ) == ["off", "off", "high", "low", "off"]


def test_going_to_a_model_in_a_session_takes_its_level_too(runtime: Open) -> None:
    seen = []

    async def go(choice: Any) -> None:
        await choice.set_model("p/two")
        seen.append(choice.thinking)
        await choice.set_model("p/one:max")
        await choice.set_model("p/two")
        seen.append(choice.thinking)

    found = levels(runtime, ({"model": "two"}, choose("low")), ({}, choose("high")), ({}, go), ({}, None))
    assert (found, seen) == (["off", "off", "high", "max"], ["low", "low"]), "a level after the model is a choice"


@pytest.mark.parametrize("line", [{"reasoning": "low"}, {"model": "one:low"}])
def test_the_line_goes_before_and_is_not_remembered(runtime: Open, line: dict[str, Any]) -> None:
    async def nothing(choice: Any) -> None: ...

    assert levels(runtime, ({}, choose("high")), (line, nothing), ({}, None)) == ["off", "low", "high"]


def test_a_resumed_session_has_the_level_that_it_had(runtime: Open) -> None:
    async def run() -> list[str]:
        given: dict[str, Any] = {"plugins": [Models()], "provider": "p", "model": "one", "no_session": False}
        async with runtime(**given) as app:
            await app.runtime.choice.set_thinking("high")
            await app.prompt("x")
            path = str(app.runtime.session.path)
        async with runtime(**given) as app:
            await app.runtime.choice.set_thinking("low")
            await app.prompt("x")
        async with runtime(session=path, **given) as app:
            return [app.runtime.choice.thinking]

    assert asyncio.run(run()) == ["high"]


def test_settings_hold_until_a_choice_and_again_when_they_change(world: Any, runtime: Open) -> None:
    def settings(level: str) -> None:
        (world.home / "settings.json").write_text(json.dumps({"reasoning": level}), encoding="utf-8")

    settings("medium")
    assert levels(runtime, ({}, choose("high")), ({}, None)) == ["medium", "high"]
    settings("low")
    assert levels(runtime, ({}, None)) == ["low"]
    assert json.loads((world.home / "settings.json").read_text(encoding="utf-8")) == {"reasoning": "low"}


def test_a_session_that_is_not_kept_leaves_no_trace(world: Any, runtime: Open) -> None:
    assert levels(runtime, ({"no_session": True}, choose("high")), ({}, None)) == ["off", "off"]
    assert not (world.home / "thinking.json").exists()


def test_a_file_that_cannot_be_read_is_said_and_kept(world: Any, runtime: Open) -> None:
    (world.home / "thinking.json").write_text("{", encoding="utf-8")

    async def run() -> list[str]:
        given: dict[str, Any] = {"plugins": [Models()], "provider": "p", "model": "one", "no_session": False}
        async with runtime(**given) as app:
            assert await app.runtime.choice.set_thinking("high") == "high"
            return [note.text for note in app.front.notes if "thinking.json" in note.text]

    told = asyncio.run(run())
    assert len(told) == 2 and "nothing was saved" in told[1]
    assert (world.home / "thinking.json").read_text(encoding="utf-8") == "{"

"""The thinking level is remembered for each model of a session."""

from __future__ import annotations

from typing import Any

from zot_core import hookimpl
from zot_core.events.base import Handled
from zot_core.runtime.remembered import levels_on
from zot_core.session.session import Session
from zot_core.types.content import Text
from zot_core.types.messages import AssistantMessage
from zot_core.types.specs import ModelSpec, ProviderSpec


def test_the_last_level_of_each_model_is_read_from_the_branch() -> None:
    session = Session.memory("/tmp")
    session.append_thinking("high")
    session.append_message(AssistantMessage(content=(Text("a"),), provider="p", model="one"))
    session.append_model("p", "two")
    session.append_thinking("low")
    session.append_message(AssistantMessage(content=(Text("b"),), provider="p", model="two"))
    session.append_model("p", "one")
    assert levels_on(session.branch()) == {("p", "one"): "high", ("p", "two"): "low"}
    session.append_thinking("max")
    assert levels_on(session.branch())["p", "one"] == "max"
    session.close()


def test_going_back_to_a_model_goes_back_to_its_level(run_prompt: Any) -> None:
    plain = ModelSpec(id="plain", provider="p")
    deep = ModelSpec(id="deep", provider="p", reasoning=True, thinking_levels={"max": "max"})
    new = ModelSpec(id="new", provider="p", reasoning=True)

    class Models:
        @hookimpl
        def providers(self) -> list[ProviderSpec]:
            return [ProviderSpec(id="p", keyless=True, models=(plain, deep, new), stream=lambda request: request)]

    seen: list[str] = []

    class Story:
        @hookimpl
        async def input(self, event: Any, ctx: Any) -> Handled:
            for name in ("p/deep:max", "p/plain", "p/new", "p/deep", "p/plain", "p/deep:low", "p/new", "p/deep"):
                assert await ctx.models.set(name)
                seen.append(f"{name} {ctx.models.thinking}")
            return Handled()

    run_prompt("x", plugins=[Models(), Story()])
    assert seen == [
        "p/deep:max max",
        "p/plain off",
        "p/new high",
        "p/deep max",
        "p/plain off",
        "p/deep:low low",
        "p/new high",
        "p/deep low",
    ]

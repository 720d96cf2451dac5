"""Virtual models through the whole of zot: routes, retries, what is recorded, and what plugins add while it runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from zot_core import ModelSpec, Prices, ProviderSpec, Route, RouteRequest, Usage, VirtualModel, hookimpl
from zot_core.testing import RecordingFrontEnd
from zot_core.types.failure import Failure
from zot_core.types.stream import Done, Failed, Routed, StreamPart, TextDelta, ToolCallEnd, ToolCallStart, UsageUpdate

Run = Callable[..., RecordingFrontEnd]
Open = Callable[..., Any]
BUSY = Failure(kind="overloaded", message="busy")


def models(*names: str, provider: str = "lab") -> tuple[ModelSpec, ...]:
    return tuple(
        ModelSpec(id=name, provider=provider, reasoning=True, prices=Prices(output=float(number)))
        for number, name in enumerate(names, 1)
    )


@pytest.fixture(autouse=True)
def nothing_is_compacted(world: Any) -> None:
    """The models here claim a million tokens for each answer."""
    (world.home / "settings.json").write_text('{"plugins": {"compaction": {"enabled": false}}}')


class Lab:
    """A provider of the models `small` and `large`, and a virtual model `lab/auto` before them."""

    def __init__(self, route: Callable[..., Any], replies: dict[str, list[list[StreamPart]]] | None = None) -> None:
        self.route = route
        self.replies = replies or {}
        self.sent: list[Any] = []
        self.asked: list[RouteRequest] = []
        self.contexts: list[Any] = []

    async def stream(self, request: Any) -> AsyncIterator[StreamPart]:
        self.sent.append(request)
        planned = self.replies.get(request.model.id)
        parts = planned.pop(0) if planned else [TextDelta(f"I am {request.model.id}"), Done("end_turn")]
        for part in (UsageUpdate(Usage(output=1_000_000)), *parts):
            yield part

    def _route(self, request: RouteRequest, ctx: Any) -> Any:
        self.asked.append(request)
        return self.route(request)

    @hookimpl
    def providers(self) -> ProviderSpec:
        return ProviderSpec(id="lab", keyless=True, models=models("small", "large"), stream=self.stream)

    @hookimpl
    def virtual_models(self) -> VirtualModel:
        return VirtualModel(model=ModelSpec(id="auto", provider="lab", name="Auto", reasoning=True), route=self._route)

    @hookimpl
    def session_start(self, event: Any, ctx: Any) -> None:
        self.contexts.append(ctx)


def to(model: str, **more: Any) -> Callable[[RouteRequest], Route]:
    return lambda request: Route(model=model, **more)


def test_a_virtual_model_is_chosen_like_any_other_and_a_real_one_answers(run_prompt: Run) -> None:
    lab = Lab(to("lab/large"))
    ran = run_prompt("Who are you?", plugins=[lab], provider="", model="lab/auto")
    assert ran.answer == "I am large"
    (message,) = [message for message in ran.messages if message.role == "assistant"]
    assert (message.provider, message.model) == ("lab", "large")
    assert message.usage is not None and message.usage.cost == 2.0, "the price of the model that answered"
    assert [part.part.model.id for part in ran.of("message_update") if isinstance(part.part, Routed)] == ["large"]


def test_it_is_listed_beside_the_real_ones(runtime: Open) -> None:
    async def run() -> list[str]:
        async with runtime(plugins=[Lab(to("lab/large"))]) as app:
            return [model.id for model in app.runtime.models.models("lab")]

    assert set(asyncio.run(run())) == {"auto", "small", "large"}


def test_the_reason_says_who_asks(run_prompt: Run) -> None:
    call: list[StreamPart] = [ToolCallStart(0, "c1", "ls"), ToolCallEnd(0), Done("tool_use")]
    lab = Lab(lambda request: Route(model="lab/small" if request.reason == "user" else "lab/large"), {"small": [call]})
    ran = run_prompt("List", plugins=[lab], provider="", model="lab/auto")
    assert [request.reason for request in lab.asked] == ["user", "continuation"]
    assert [m.model for m in ran.messages if m.role == "assistant"] == ["small", "large"]


def test_a_failed_model_is_told_to_the_route_and_another_answers(run_prompt: Run) -> None:
    lab = Lab(
        lambda request: Route(model="lab/large" if request.tried else "lab/small"),
        {"small": [[TextDelta("half"), Failed(BUSY)]]},
    )
    ran = run_prompt("Hi", plugins=[lab], provider="", model="lab/auto")
    (tried,) = lab.asked[-1].tried
    assert (lab.asked[-1].reason, tried.model, tried.failure.kind) == ("retry", "lab/small", "overloaded")
    assert ran.answer == "I am large", "what the first one had said is void"
    assert [line["type"] for line in ran.lines].count("retry") == 1


def test_none_ends_with_the_last_failure_and_a_failure_is_the_word_itself(run_prompt: Run) -> None:
    for answer, said in ((None, "busy"), (Failure(kind="rate_limit", message="all are busy"), "all are busy")):
        lab = Lab(
            lambda request, a=answer: a if request.tried else Route(model="lab/small"), {"small": [[Failed(BUSY)]]}
        )
        end = run_prompt("Hi", plugins=[lab], provider="", model="lab/auto").end
        assert end is not None and end.failure is not None
        assert said in end.failure.message


def test_levels_are_clamped_and_inherited(run_prompt: Run) -> None:
    lab = Lab(to("lab/large:low"))
    run_prompt("Hi", plugins=[lab], provider="", model="lab/auto", reasoning="high")
    assert lab.asked[0].thinking == "high" and lab.sent[0].thinking == "low"
    lab = Lab(to("lab/large"))
    run_prompt("Hi", plugins=[lab], provider="", model="lab/auto", reasoning="high")
    assert lab.sent[0].thinking == "high"
    lab = Lab(to("lab/large", level="max"))
    run_prompt("Hi", plugins=[lab], provider="", model="lab/auto")
    assert lab.sent[0].thinking == "high"


def test_state_comes_with_the_next_request_and_after_a_resume(runtime: Open) -> None:
    lab = Lab(lambda request: Route(model="lab/small", state={"count": (request.state or {}).get("count", 0) + 1}))

    async def run() -> None:
        async with runtime(plugins=[lab], provider="", model="lab/auto", no_session=False) as app:
            await app.prompt("one")
            await app.prompt("two")
        async with runtime(
            plugins=[lab], provider="", model="lab/auto", no_session=False, continue_session=True
        ) as app:
            await app.prompt("three")

    asyncio.run(run())
    assert [request.state for request in lab.asked] == [None, {"count": 1}, {"count": 2}]


@pytest.mark.parametrize(
    ("route", "said"),
    [
        (lambda request: 1 / 0, "ZeroDivisionError"),
        (lambda request: "lab/large", "route"),
        (to("lab/auto"), "circle"),
        (to("nobody/knows"), "nobody/knows"),
        (to(""), "names no model"),
    ],
)
def test_a_route_that_is_wrong_is_a_failure_that_says_so(run_prompt: Run, route: Any, said: str) -> None:
    lab = Lab(route)
    end = run_prompt("Hi", plugins=[lab], provider="", model="lab/auto").end
    assert end is not None and end.failure is not None and said in end.failure.message
    assert not lab.sent


def test_one_stands_before_a_real_model_and_goes_away_again(runtime: Open) -> None:
    lab = Lab(to("lab/large"))

    async def run() -> list[str]:
        async with runtime(plugins=[lab], provider="", model="lab/small") as app:
            models = lab.contexts[0].models
            off = models.add(VirtualModel(model="lab/small", route=lambda request, ctx: Route(model="lab/large")))
            await app.prompt("one")
            off()
            await app.prompt("two")
            models.add(VirtualModel(model="lab/small", route=lambda request, ctx: Route()))
            await app.prompt("three")
            models.remove("lab/small")
            models.remove("lab/small")
            return [request.model.id for request in lab.sent]

    assert asyncio.run(run()) == ["large", "small", "small"]


def test_providers_come_and_go_while_it_runs_and_what_was_there_comes_back(runtime: Open) -> None:
    lab, other = Lab(to("lab/large")), Lab(to("lab/large"))

    async def run() -> None:
        async with runtime(plugins=[lab], provider="", model="lab/small") as app:
            models = lab.contexts[0].models
            off = models.add(ProviderSpec(id="lab", stream=other.stream))
            assert models.find("lab/small") is not None, "an override without models keeps those below"
            await app.prompt("to the other")
            off()
            await app.prompt("back")
            models.add(
                ProviderSpec(
                    id="new", keyless=True, models=globals()["models"]("fresh", provider="new"), stream=other.stream
                )
            )
            assert await models.set("new/fresh")
            await app.prompt("to the new one")
            models.remove("new")
            assert models.find("new/fresh") is None
            models.add(ProviderSpec(id="lab", models=globals()["models"]("extra")), keep_models=True)
            assert {model.id for model in models.all() if model.provider == "lab"} == {
                "auto",
                "small",
                "large",
                "extra",
            }

    asyncio.run(run())
    assert len(lab.sent) == 1 and [request.model.id for request in other.sent] == ["small", "fresh"]


def test_a_plugins_own_call_is_routed_as_direct(runtime: Open) -> None:
    lab = Lab(to("lab/large", state={"x": 1}))

    async def run() -> None:
        async with runtime(plugins=[lab], provider="", model="lab/auto") as app:
            parts = [part async for part in lab.contexts[0].models.stream(app.runtime.state.messages)]
            assert isinstance(parts[-1], Done)

    asyncio.run(run())
    assert lab.asked[0].reason == "direct"

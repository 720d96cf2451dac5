"""Where `--api-key` goes when a virtual model is chosen, and variables inside the headers of models.json."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from mock_provider.server import MockServer, Reply, text

from zot_core import ModelSpec, ProviderSpec, Route, VirtualModel, hookimpl

Open = Callable[..., Any]


class Virtual:
    """`auto/any`, which goes where `targets` say, one after another, and the providers of `servers`."""

    def __init__(self, *targets: str, **servers: dict[str, Any]) -> None:
        self.targets = list(targets)
        self.servers = servers

    @hookimpl
    def providers(self) -> list[ProviderSpec]:
        return [
            ProviderSpec(
                id=name,
                api="openai-completions",
                models=(ModelSpec(id="m", provider=name, context_window=10**6),),
                **row,
            )
            for name, row in self.servers.items()
        ]

    @hookimpl
    def virtual_models(self) -> VirtualModel:
        model = ModelSpec(id="any", provider="auto", context_window=1_000_000)
        return VirtualModel(model=model, route=lambda request, ctx: Route(model=self.targets.pop(0)))


def served(world: Any, **servers: Any) -> None:
    """Providers of models.json, each with one model, `m`."""
    rows = {
        name: {"api": "openai-completions", "models": [{"id": "m", "contextWindow": 1_000_000}], **row}
        for name, row in servers.items()
    }
    (world.home / "models.json").write_text(json.dumps({"providers": rows}), encoding="utf-8")


def prompts(runtime: Open, *said: str, plugins: Any = (), **options: Any) -> list[Any]:
    async def run() -> list[Any]:
        async with runtime(plugins=plugins, **{"provider": "", **options}) as app:
            return [await app.prompt(one) for one in said]

    return asyncio.run(run())


def keys(server: MockServer) -> list[str | None]:
    return [request.headers.get("authorization") for request in server.requests]


def test_the_key_of_the_line_reaches_the_provider_that_a_virtual_model_routes_to(runtime: Open) -> None:
    with MockServer([text("A"), text("B")]) as server:
        virtual = Virtual("one/m", "one/m", one={"base_url": server.url})
        ends = prompts(runtime, "x", "y", plugins=[virtual], model="auto/any", api_key="k-line")
    assert [end.stop for end in ends] == ["end_turn", "end_turn"]
    assert keys(server) == ["Bearer k-line"] * 2


def test_it_is_one_vendors_and_reaches_no_second_one(runtime: Open) -> None:
    with MockServer([text("A")]) as first, MockServer([text("B")]) as second:
        servers = {"one": {"base_url": first.url}, "two": {"base_url": second.url, "api_key": "k-two"}}
        virtual = Virtual("one/m", "two/m", **servers)
        ends = prompts(runtime, "x", "y", plugins=[virtual], model="auto/any", api_key="k-line")
    assert [end.stop for end in ends] == ["end_turn", "end_turn"]
    assert (keys(first), keys(second)) == (["Bearer k-line"], ["Bearer k-two"])


def test_without_a_key_of_its_own_the_second_one_gets_none(runtime: Open) -> None:
    with MockServer([text("A")]) as first, MockServer([]) as second:
        virtual = Virtual("one/m", *["two/m"] * 20, one={"base_url": first.url}, two={"base_url": second.url})
        _, end = prompts(runtime, "x", "y", plugins=[virtual], model="auto/any", api_key="k-line")
    assert end.failure is not None and end.failure.kind == "auth"
    assert second.requests == []


def test_a_virtual_model_of_the_provider_itself_uses_its_key(runtime: Open) -> None:
    class Own(Virtual):
        @hookimpl
        def virtual_models(self) -> VirtualModel:
            return VirtualModel(
                model=ModelSpec(id="any", provider="one"), route=lambda request, ctx: Route(model="one/m")
            )

    async def run() -> list[bool]:
        async with runtime(plugins=[own], provider="", model="one/any", api_key="k-line") as app:
            found = [await app.runtime.choice.set_model("one/m"), await app.runtime.choice.set_model("one/any")]
            await app.prompt("x")
            return found

    with MockServer([text("A")]) as server:
        own = Own(one={"base_url": server.url})
        assert asyncio.run(run()) == [True, True]
    assert keys(server) == ["Bearer k-line"]


def test_a_local_server_that_needs_none_does_not_use_it_up(runtime: Open) -> None:
    with MockServer([text("A")]) as local, MockServer([text("B")]) as vendor:
        servers = {"local": {"base_url": local.url, "keyless": True}, "one": {"base_url": vendor.url}}
        virtual = Virtual("local/m", "one/m", **servers)
        prompts(runtime, "x", "y", plugins=[virtual], model="auto/any", api_key="k-line")
    assert (keys(local), keys(vendor)) == ([None], ["Bearer k-line"])


@pytest.mark.parametrize(
    ("header", "sent"),
    [("Bearer ${ACME_TOKEN}", "Bearer t-1"), ("v=$ACME_TOKEN;w=1", "v=t-1;w=1"), ("5 $$ACME_TOKEN", "5 $ACME_TOKEN")],
)
def test_a_header_may_hold_variables(
    world: Any, runtime: Open, monkeypatch: pytest.MonkeyPatch, header: str, sent: str
) -> None:
    monkeypatch.setenv("ACME_TOKEN", "t-1")
    with MockServer([text("A")]) as server:
        served(world, one={"baseUrl": server.url, "apiKey": "k", "headers": {"x-acme": header}})
        (end,) = prompts(runtime, "x", model="one/m")
    assert end.stop == "end_turn"
    assert server.requests[0].headers["x-acme"] == sent


def test_a_variable_that_is_not_set_is_named_and_nothing_is_sent(world: Any, runtime: Open) -> None:
    with MockServer([Reply(status=500)]) as server:
        served(world, one={"baseUrl": server.url, "apiKey": "k", "headers": {"x-acme": "Bearer $ACME_GONE"}})
        (end,) = prompts(runtime, "x", model="one/m")
    assert end.failure is not None and end.failure.kind == "auth"
    assert "$ACME_GONE" in end.failure.message and "models.json" in end.failure.message
    assert server.requests == []

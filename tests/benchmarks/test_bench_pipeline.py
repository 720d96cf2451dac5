"""The pipeline against bare pluggy: ten implementations of one hook, called in turn."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import pluggy
import pytest

from zot_core.events.tool import ToolCallEvent
from zot_core.hooks.markers import hookimpl
from zot_core.plugins.host import PluginHost

ROUNDS = 2_000


def plugin() -> Any:
    class Plugin:
        @hookimpl
        def tool_call(self, event: ToolCallEvent) -> None:
            return None

    return Plugin()


def bare() -> Any:
    spec, impl = pluggy.HookspecMarker("bare"), pluggy.HookimplMarker("bare")

    class Spec:
        @spec
        def tool_call(self, event: ToolCallEvent) -> None: ...

    class Plugin:
        @impl
        def tool_call(self, event: ToolCallEvent) -> None:
            return None

    manager = pluggy.PluginManager("bare")
    manager.add_hookspecs(Spec)
    for _ in range(10):
        manager.register(Plugin())
    return manager


EVENT = ToolCallEvent(call_id="1", tool_name="read", args={"path": "a"})


@pytest.mark.parametrize("count", [0, 10])
def test_gate(compare: Any, host: PluginHost, count: int) -> None:
    for number in range(count):
        host.register(plugin(), name=f"p{number}")
    manager = bare()

    def floor() -> float:
        start = time.perf_counter()
        for _ in range(ROUNDS):
            manager.hook.tool_call(event=EVENT)
        return (time.perf_counter() - start) / ROUNDS * 1e6

    async def gates() -> float:
        start = time.perf_counter()
        for _ in range(ROUNDS):
            await host.pipeline.gate(EVENT)
        return (time.perf_counter() - start) / ROUNDS * 1e6

    budget = {"ratio": 2.0} if count else {}
    compare(f"gate with {count} implementations", lambda: asyncio.run(gates()), floor, unit="us", **budget)


@pytest.fixture
def host() -> PluginHost:
    return PluginHost(ctx_for=lambda name: SimpleNamespace(plugin=name))

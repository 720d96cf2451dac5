"""The laws that need time, registration or a look at reports: cancellation, snapshots, reload, budgets, isolation."""

from __future__ import annotations

import asyncio
import time

import pytest

from zot_core.events import (
    AgentStartEvent,
    InputEvent,
    PluginErrorEvent,
    ResourcesDiscoverEvent,
    SessionShutdownEvent,
    ToolCallEvent,
    UiPromptEndEvent,
    UiPromptStartEvent,
)
from zot_core.events.session import Resources
from zot_core.hooks.markers import HookError, hookimpl
from zot_core.plugins.chain import dispatching
from zot_core.plugins.diagnostics import Diagnostics
from zot_core.plugins.errors import PluginLoadError
from zot_core.plugins.host import PluginHost
from zot_core.plugins.rank import BUILTIN, EXPLICIT, INSTALLED, PROJECT, USER
from zot_core.plugins.trace import Trace

TEXT = InputEvent(text="a")


def plugin(hook, function, **options):
    return type("Tiny", (), {hook: staticmethod(hookimpl(hook, **options)(function))})()


def append(seen, label):
    def handler(event):
        seen.append(label)

    return handler


def rows(host, level):
    return [(row.plugin, row.hook, row.message) for row in host.diagnostics.rows if row.level == level]


def test_tiers_stand_in_their_order_whatever_the_order_of_registration():
    host, seen = PluginHost(), []
    for name, tier, position in [
        ("built-in", BUILTIN, 0),
        ("installed", INSTALLED, 0),
        ("user", USER, 0),
        ("project", PROJECT, 0),
        ("second", EXPLICIT, 1),
        ("first", EXPLICIT, 0),
    ]:
        host.register(plugin("input", append(seen, name)), name, tier=tier, position=position)
    asyncio.run(host.pipeline.gate(TEXT))
    assert seen == ["first", "second", "project", "user", "installed", "built-in"]
    assert [row.plugin for row in host.order("input")] == seen
    assert host.order("input")[0].tier == "explicit"
    assert "test_order_and_time.py:" in host.order("input")[0].where


def test_trylast_of_the_last_tier_is_asked_last_of_all():
    host, seen = PluginHost(), []
    host.register(plugin("input", append(seen, "permissions"), trylast=True), "permissions", tier=BUILTIN)
    host.register(plugin("input", append(seen, "mine"), trylast=True), "mine", tier=EXPLICIT)
    host.register(plugin("input", append(seen, "other")), "other", tier=BUILTIN, position=9)
    asyncio.run(host.pipeline.gate(TEXT))
    assert seen == ["other", "mine", "permissions"]


def test_implementations_of_one_plugin_follow_its_source_and_then_its_listeners():
    host, seen = PluginHost(), []

    class Two:
        @hookimpl("input")
        def zebra(self, event):
            seen.append("zebra")

        @hookimpl("input")
        def ant(self, event):
            seen.append("ant")

    host.register(Two(), "two")
    host.on("two", "input", append(seen, "listener 1"))
    host.on("two", "input", append(seen, "listener 2"))
    host.register(plugin("input", append(seen, "z")), "z")
    asyncio.run(host.pipeline.gate(TEXT))
    assert seen == ["zebra", "ant", "listener 1", "listener 2", "z"]


def test_a_reload_keeps_the_place():
    host, seen = PluginHost(), []
    for place, name in enumerate("abc"):
        host.register(plugin("input", append(seen, name)), name, tier=PROJECT, position=place)
    host.unregister("b")
    host.register(plugin("input", append(seen, "b2")), "b")
    asyncio.run(host.pipeline.gate(TEXT))
    assert seen == ["a", "b2", "c"]


def test_unregistering_takes_every_implementation_of_a_hook_out():
    host, seen = PluginHost(), []

    class Two:
        @hookimpl("input")
        def one(self, event):
            seen.append("one")

        @hookimpl("input")
        def two(self, event):
            seen.append("two")

    host.register(Two(), "two")
    host.on("two", "input", append(seen, "listener"))
    assert host.pipeline.wants("input") and host.pipeline.intercepts("input")
    host.unregister("two")
    asyncio.run(host.pipeline.gate(TEXT))
    assert seen == [] and not host.pipeline.wants("input") and host.unregister("two") is None


def test_a_registration_during_a_dispatch_holds_from_the_next_one():
    host, seen = PluginHost(), []

    def first(event):
        seen.append("first")
        off = host.on("p", "input", append(seen, "late"))
        if seen.count("first") == 2:
            off()
            host.unregister("q")

    host.register(plugin("input", first), "p", position=0)
    host.register(plugin("input", append(seen, "q")), "q", position=1)
    for _ in range(3):
        asyncio.run(host.pipeline.gate(TEXT))
        seen.append("/")
    assert seen == ["first", "q", "/", "first", "late", "q", "/", "first", "late", "/"]


def test_observers_do_not_intercept():
    host = PluginHost()
    host.register(plugin("input", append([], ""), observe=True), "p")
    assert host.pipeline.wants("input") and not host.pipeline.intercepts("input")


def test_cancellation_passes_through_untouched():
    async def scenario():
        host = PluginHost()
        entered = asyncio.Event()
        seen = []

        async def waits(event):
            entered.set()
            try:
                await asyncio.Event().wait()
            finally:
                seen.append("cleaned up")

        host.register(plugin("tool_call", waits), "a", position=0)
        host.register(plugin("tool_call", append(seen, "never")), "b", position=1)
        task = asyncio.create_task(host.pipeline.gate(ToolCallEvent(call_id="1", tool_name="t", args={})))
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert seen == ["cleaned up"] and host.diagnostics.rows == () and dispatching() == ()

    asyncio.run(scenario())


def test_keyboard_interrupt_is_not_a_plugins_error():
    host = PluginHost()

    def interrupts(event):
        raise KeyboardInterrupt

    host.register(plugin("input", interrupts), "p")
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(host.pipeline.gate(TEXT))
    assert host.diagnostics.rows == ()


def test_an_error_is_reported_once_with_plugin_hook_and_traceback_and_told_to_the_others():
    host, told = PluginHost(), []

    def breaks(event):
        raise ValueError("boom")

    class Watcher:
        @hookimpl
        def plugin_error(self, event):
            told.append((event.plugin, event.hook_name, event.message))
            raise RuntimeError("and so do I")

    class Culprit(Watcher):
        input = staticmethod(hookimpl("input")(breaks))

    host.register(Culprit(), "culprit")
    host.register(Watcher(), "watcher")
    for _ in range(2):
        asyncio.run(host.pipeline.gate(TEXT))
    assert told == [("culprit", "input", "ValueError: boom")]
    assert rows(host, "error") == [
        ("culprit", "input", "ValueError: boom"),
        ("watcher", "plugin_error", "RuntimeError: and so do I"),
    ]
    text = host.diagnostics.rows[0].traceback
    assert "in breaks" in text and "pipeline.py" not in text
    host.unregister("culprit")
    host.register(Culprit(), "culprit")
    asyncio.run(host.pipeline.gate(TEXT))
    assert len(told) == 2, "other code under the name: its failure is news"


def test_an_in_place_change_is_reported_with_the_line_to_write():
    host = PluginHost()
    host.register(plugin("tool_call", lambda event: event.args.update(x=1)), "p")
    asyncio.run(host.pipeline.gate(ToolCallEvent(call_id="1", tool_name="t", args={})))
    assert rows(host, "warning") == [
        (
            "p",
            "tool_call",
            "changed event.args in place, which nobody sees; write: return event.replace(args={**event.args, ...})",
        )
    ]


def test_a_slow_sync_handler_is_named_once(monkeypatch):
    ticks = iter(range(0, 1000))
    monkeypatch.setattr("zot_core.plugins.pipeline.perf_counter", lambda: next(ticks))
    host = PluginHost()
    host.register(plugin("input", append([], "")), "slow")
    for _ in range(2):
        asyncio.run(host.pipeline.gate(TEXT))
    assert [(plugin, hook) for plugin, hook, _ in rows(host, "warning")] == [("slow", "input")]
    assert "50 ms" in rows(host, "warning")[0][2]


def test_ctx_is_the_plugins_own_in_any_order_of_parameters():
    host, seen = PluginHost(ctx_for=lambda name: f"ctx of {name}"), []

    class All:
        @hookimpl("input")
        def one(self, event, ctx):
            seen.append((event, ctx))

        @hookimpl("input")
        def two(self, ctx, event):
            seen.append((event, ctx))

        @hookimpl("input")
        def three(self, *, ctx, event=None):
            seen.append((event, ctx))

        @hookimpl("input")
        def four(self, ctx=None):
            seen.append((TEXT, ctx))

        @hookimpl("input")
        def five(self):
            seen.append((TEXT, "ctx of p"))

    host.register(All(), "p")
    asyncio.run(host.pipeline.gate(TEXT))
    assert seen == [(TEXT, "ctx of p")] * 5
    host.pipeline.use_ctx(lambda name: "other")
    asyncio.run(host.pipeline.gate(TEXT))
    assert seen[5] == (TEXT, "other")


def test_dispatches_nest_and_a_task_that_outlives_its_dispatch_is_outside():
    async def scenario():
        host, seen = PluginHost(), []
        tasks = []
        over = asyncio.Event()

        async def later():
            seen.append(dispatching())
            await over.wait()
            seen.append(dispatching())

        async def outer(event):
            tasks.append(asyncio.create_task(later()))
            await host.pipeline.gate(ToolCallEvent(call_id="1", tool_name="t", args={}))
            await asyncio.sleep(0)

        host.register(plugin("input", outer), "a")
        host.register(plugin("tool_call", lambda event: seen.append(dispatching())), "b")
        await host.pipeline.gate(TEXT)
        over.set()
        await tasks[0]
        assert seen == [("tool_call", "input"), ("input",), ()]

    asyncio.run(scenario())


def test_a_budget_warns_then_goes_on_without_the_handler():
    async def scenario():
        host, seen = PluginHost(), []

        async def stubborn(event):
            while True:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    seen.append("cancelled")
                    if seen.count("cancelled") == 2:
                        raise

        host.register(plugin("session_shutdown", stubborn), "stubborn", position=0)
        host.register(plugin("session_shutdown", append(seen, "next")), "next", position=1)
        await host.pipeline.tell(SessionShutdownEvent(reason="quit"), budget=(0.001, 0.02))
        assert "next" in seen
        assert [row[0] for row in rows(host, "warning")] == ["stubborn"]
        assert rows(host, "error") == [("stubborn", "session_shutdown", "still running after 0.02 s; it was cancelled")]

    asyncio.run(scenario())


def test_with_a_deadline_all_are_told_side_by_side():
    async def scenario():
        host, seen = PluginHost(), []
        met = asyncio.Barrier(2)

        async def meets(event):
            await met.wait()
            seen.append("met")

        async def hangs(event):
            await asyncio.Event().wait()

        host.register(plugin("session_shutdown", meets), "a")
        host.register(plugin("session_shutdown", hangs), "hangs")
        host.register(plugin("session_shutdown", meets), "b")
        began = time.monotonic()
        await host.pipeline.tell(SessionShutdownEvent(reason="quit"), deadline=0.05)
        assert seen == ["met", "met"] and time.monotonic() - began < 5
        assert [row[0] for row in rows(host, "warning")] == ["hangs"]

    asyncio.run(scenario())


def test_facts_that_are_not_awaited_keep_their_order():
    async def scenario():
        host, seen = PluginHost(), []
        gate = asyncio.Event()

        async def start(event):
            await gate.wait()
            seen.append("start")

        host.register(plugin("ui_prompt_start", start), "a")
        host.register(plugin("ui_prompt_end", append(seen, "end")), "b")
        await host.pipeline.tell(UiPromptStartEvent(kind="select"))
        await host.pipeline.tell(UiPromptEndEvent())
        assert seen == []
        gate.set()
        await host.pipeline.drain()
        assert seen == ["start", "end"]

    asyncio.run(scenario())


def test_gather_takes_every_answer_with_its_owner():
    host = PluginHost()
    host.register(plugin("resources_discover", lambda event: Resources(skills=("a",))), "p", position=0)
    host.register(plugin("resources_discover", lambda event: "no"), "wrong", position=1)
    host.register(plugin("resources_discover", lambda event: None), "none", position=2)
    host.register(plugin("resources_discover", lambda event: Resources(skills=("b",))), "q", position=3)
    answers = asyncio.run(host.pipeline.gather(ResourcesDiscoverEvent(cwd="/")))
    assert answers == [("p", Resources(skills=("a",))), ("q", Resources(skills=("b",)))]
    assert [row[0] for row in rows(host, "error")] == ["wrong"]


def test_a_decision_about_a_fact_is_pointed_out():
    host = PluginHost()
    host.register(plugin("agent_start", lambda event: event), "p")
    asyncio.run(host.pipeline.tell(AgentStartEvent(run_id="r")))
    assert rows(host, "warning") == [
        ("p", "agent_start", "agent_start only tells; the answer AgentStartEvent is ignored")
    ]


def test_the_trace_says_who_changed_what():
    host = PluginHost(trace=Trace(everything=True))
    host.register(plugin("input", lambda event: event.replace(text="b")), "p", position=0)
    host.register(plugin("input", lambda event: None), "q", position=1)
    asyncio.run(host.pipeline.gate(TEXT))
    assert [(row.plugin, row.answer, row.changed) for row in host.trace.rows] == [
        ("p", "changed", ("text",)),
        ("q", "none", ()),
    ]
    assert all(row.elapsed_s >= 0 for row in host.trace.rows)


def test_options_that_need_the_kind_are_refused_at_registration_and_leave_nothing():
    host = PluginHost()
    for hook in ("agent_start", "project_trust"):
        with pytest.raises(PluginLoadError, match="on_error has no meaning"):
            host.register(plugin(hook, lambda event: None, on_error="block"), "p")
    assert dict(host.plugins) == {} and not host.pipeline.wants("agent_start")
    host.register(plugin("input", lambda event: None), "p")
    with pytest.raises(HookError, match="on_error has no meaning"):
        host.on("p", "agent_start", lambda event: None, on_error="block")
    with pytest.raises(HookError, match=r"ctx\.tools\.register"):
        host.on("p", "tools", lambda: [])


def test_plugin_errors_of_contributions_are_told_too():
    async def scenario():
        host, told = PluginHost(Diagnostics()), []
        host.register(plugin("plugin_error", lambda event: told.append(event)), "watcher")
        host.pipeline.broken("other", "tools", ValueError("boom"))
        await host.pipeline.drain()
        assert [type(event) for event in told] == [PluginErrorEvent] and told[0].hook_name == "tools"

    asyncio.run(scenario())

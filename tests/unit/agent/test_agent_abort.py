"""Promises of an abort, of a cancel from elsewhere, and that no point of either breaks the transcript."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.agent_fakes import Bench, FakeSink, asks, assert_paired, call, roles, says, tool, tools, user

from zot_core.agent import calls, cancel, talk
from zot_core.events.base import Block
from zot_core.types.content import text_of
from zot_core.types.failure import Failure
from zot_core.types.stream import Done, Failed, TextDelta, ThinkingDelta, ToolCallDelta, ToolCallEnd, ToolCallStart


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr(talk, "AFTER_ABORT_S", 0.02)
    monkeypatch.setattr(calls, "ABANDON_AFTER_S", 0.05)


async def ok(args, ctx):
    return "ok"


async def forever(*_):
    await asyncio.Event().wait()


def test_partial_text_is_kept_and_open_calls_are_dropped():
    bench = Bench()
    bench.script = [
        [ThinkingDelta("hm", 0), TextDelta("a", 1), *call("t", id="whole"), ToolCallStart("k", "half", "t"),
         ToolCallDelta("k", '{"a"'), bench.signal.abort, TextDelta("never", 1), Done("tool_use")]
    ]  # fmt: skip
    end = bench.go()
    assert (end.stop, end.failure) == ("aborted", None)
    message = end.messages[1]
    assert (message.text, message.stop) == ("a", "aborted")
    assert [c.id for c in message.tool_calls] == ["whole"]
    assert "aborted by the user" in text_of(end.messages[2].content)
    assert_paired(bench.state.messages)
    assert bench.sink.events("turn_end")[0].stop == "aborted"
    assert bench.sink.events("agent_end")[0].stop == "aborted"
    assert bench.sink.hooks("agent_settled") == ["agent_settled"]
    assert bench.sink.hooks("tool_call") == []


def test_an_abort_before_the_answer_begins_leaves_no_message():
    bench = Bench()
    bench.script = [[bench.signal.abort, forever]]
    end = bench.go()
    assert (end.stop, roles(end.messages)) == ("aborted", ["user"])
    assert [e.message.role for e in bench.sink.events("message_start")] == ["user"]


def test_running_tools_are_cancelled_and_finished_ones_keep_their_result():
    cleaned = []

    async def slow(args, ctx):
        try:
            await ctx.signal.wait()
            await asyncio.Event().wait()
        finally:
            cleaned.append(1)

    async def abort(args, ctx):
        bench.signal.abort()
        return "finished"

    bench = Bench([asks(call("slow"), call("abort"))], tools(tool("slow", slow), tool("abort", abort)))
    end = bench.go()
    first, second = end.messages[2:]
    assert cleaned == [1]
    assert first.is_error and "aborted by the user" in text_of(first.content)
    assert (second.is_error, text_of(second.content)) == (False, "finished")
    assert end.stop == "aborted" and len(bench.requests) == 1


def test_a_tool_that_does_not_heed_the_abort_is_left_behind():
    async def main():
        release = asyncio.Event()

        async def stubborn(args, ctx):
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue
            return "late"

        bench = Bench([asks(call("t"))], tools(tool("t", stubborn)))
        asyncio.get_running_loop().call_later(0.02, bench.signal.abort)
        end = await bench.run("hi")
        assert end.stop == "aborted" and "aborted" in text_of(end.messages[2].content)
        sent = len(bench.sink.log)
        release.set()
        while calls._abandoned:
            await asyncio.sleep(0)
        assert len(bench.sink.log) == sent
        assert_paired(bench.state.messages)

    asyncio.run(main())


def test_an_abort_while_a_call_is_gated_runs_none():
    ran = []
    specs = tools(tool("a", lambda *_: ran.append(1)), tool("b", ok))
    bench = Bench([asks(call("a"), call("b"), call("a", id="never gated"))], specs)

    async def gate(event):
        if event.tool_name == "b":
            bench.signal.abort()
            await forever()

    bench.sink.on["tool_call"] = gate
    end = bench.go()
    assert ran == [] and end.stop == "aborted"
    texts = [text_of(m.content) for m in end.messages if m.role == "tool"]
    assert texts == ["Not run: aborted by the user."] * 3
    assert_paired(bench.state.messages)


@pytest.mark.parametrize("hook", ["prepare_system_prompt", "before_agent_start"])
def test_an_abort_before_the_start_stores_nothing_and_keeps_what_waited(hook):
    bench = Bench()

    async def handler(event):
        bench.signal.abort()
        await forever()

    bench.sink.on[hook] = handler
    bench.queues.put("next_turn", user("later"))
    end = bench.go()
    assert (end.stop, end.messages, bench.requests) == ("aborted", (), [])
    assert bench.sink.stored == []
    assert bench.sink.hooks("agent_start", "agent_settled") == []
    assert len(bench.queues.next_turn) == 1


def test_an_aborted_preparation_commits_nothing():
    bench = Bench([says("x")], options={"system": "base"})

    async def handler(event):
        if not bench.signal.aborted:
            bench.signal.abort()
            return event.replace(system_prompt="never")
        return None

    bench.sink.on["prepare_system_prompt"] = handler
    bench.go()
    assert not bench.state.prompt.is_prepared and bench.state.prompt.text == ""


@pytest.mark.parametrize("hook", ["turn_start", "context", "context_with_system"])
def test_a_gate_before_the_call_is_interrupted(hook):
    bench = Bench([says("x")])

    async def handler(event):
        bench.signal.abort()
        await forever()

    bench.sink.on[hook] = handler
    end = bench.go()
    assert (end.stop, bench.requests) == ("aborted", [])
    assert bench.sink.events("turn_end")[0].stop == "aborted"


def test_text_that_a_plugin_did_not_release_is_not_shown():
    bench = Bench([says("secret")])

    async def handler(event):
        bench.signal.abort()
        await forever()

    bench.sink.on["assistant_message"] = handler
    end = bench.go()
    stored = bench.sink.stored[1]
    assert (stored.message.text, stored.display, stored.withheld) == ("secret", None, True)
    assert bench.sink.events("message_update") == []
    assert end.stop == "end_turn"


def test_a_held_back_partial_text_is_still_asked_about():
    bench = Bench()
    bench.script = [[TextDelta("secret"), bench.signal.abort, forever]]
    bench.sink.on["assistant_message"] = lambda e: e.replace(text="***")
    bench.go()
    assert (bench.sink.stored[1].message.text, bench.sink.stored[1].display) == ("secret", "***")


@pytest.mark.parametrize("hook", ["message_end", "tool_result", "turn_end", "agent_end", "agent_before_settle"])
def test_a_hanging_handler_does_not_hold_up_an_aborted_run(hook):
    bench = Bench([asks(call("t"))])

    async def abort(args, ctx):
        bench.signal.abort()

    async def handler(event):
        if bench.signal.aborted:
            await forever()

    bench.tools = tools(tool("t", abort))
    bench.sink.on[hook] = handler
    end = bench.go()
    assert end.stop == "aborted"
    assert roles(end.messages) == ["user", "assistant", "tool"]


def test_a_complete_answer_is_not_aborted_any_more():
    bench = Bench([says("x")])
    bench.sink.on["turn_end"] = lambda e: bench.signal.abort()
    bench.queues.put("follow_up", user("left for its owner"))
    assert bench.go().stop == "end_turn"
    assert len(bench.queues.follow_up) == 1


def test_queued_messages_survive_an_abort():
    bench = Bench()
    bench.script = [[TextDelta("a"), bench.signal.abort, forever]]
    bench.queues.put("follow_up", user("then"))
    bench.sink.on["message_update"] = lambda e: bench.queues.put("steer", user("typed"))
    bench.go()
    assert [m.content[0].text for m in bench.queues.give_back()] == ["typed", "then"]


def test_a_stream_that_never_suspends_is_cut_too():
    class Sudden(Bench):
        async def stream(self, request):
            yield TextDelta("a")
            self.signal.abort()
            yield TextDelta("never")
            yield Done("end_turn")

    end = Sudden(sink=FakeSink(quiet=("message_update",))).go()
    assert (end.stop, end.messages[1].text) == ("aborted", "a")


def test_a_provider_that_answers_an_abort_with_an_error_was_aborted():
    class Rude(Bench):
        async def stream(self, request):
            yield TextDelta("a")
            self.signal.abort()
            try:
                await forever()
            except asyncio.CancelledError:
                raise ValueError("closed") from None

    end = Rude().go()
    assert (end.stop, end.failure, end.messages[1].text) == ("aborted", None, "a")


def test_a_cancel_from_elsewhere_is_raised_again_after_cleaning_up():
    async def main():
        bench = Bench([asks(call("t"), text="a")], tools(tool("t", forever)))
        task = asyncio.create_task(bench.run("hi"))
        while not bench.sink.events("tool_call"):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert bench.signal.aborted
        assert roles(bench.state.messages) == ["user", "assistant", "tool"]
        assert bench.sink.hooks("turn_end", "agent_end", "agent_settled") == ["turn_end", "agent_end", "agent_settled"]
        assert_paired(bench.state.messages)

    asyncio.run(main())


def test_a_timeout_around_a_run_works_as_one():
    async def main():
        bench = Bench([[TextDelta("a"), forever]])
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await bench.run("hi")
        assert bench.state.messages[1].text == "a"

    asyncio.run(main())


def test_a_cancelled_future_in_a_handler_is_no_cancel_of_the_run():
    async def slip(event):
        future = asyncio.get_running_loop().create_future()
        future.cancel()
        await future

    for hook in ("turn_end", "message_end", "agent_start"):
        end = Bench([says("x")], sink=FakeSink({hook: slip})).go()
        assert (end.stop, end.failure) == ("end_turn", None)
    end = Bench([says("x")], sink=FakeSink({"context": slip})).go()
    assert (end.stop, end.failure.kind) == ("error", "internal")


def test_a_nested_call_ends_with_the_run():
    async def outer(args, ctx):
        return await calls.execute_nested(
            "inner", {}, state=bench.state, config=bench.config(), sink=bench.sink, signal=bench.signal,
            parent_call_id=ctx.call_id)  # fmt: skip

    async def inner(args, ctx):
        bench.signal.abort()
        await forever()

    bench = Bench([asks(call("outer"))])
    bench.tools = tools(tool("outer", outer), tool("inner", inner))
    end = bench.go()
    assert end.stop == "aborted" and bench.state.open_calls == {}
    assert_paired(bench.state.messages)


one_call = st.tuples(
    st.sampled_from(["ok", "wait", "raise", "seq", "rubbish", "missing", "blocked"]),
    st.sampled_from(["{}", '{"a": 1}', '{"a"']),
    st.sampled_from(["", "same", "other"]),
    st.booleans(),
)
one_turn = st.tuples(
    st.text(max_size=3),
    st.lists(one_call, max_size=4),
    st.sampled_from(["tool_use", "length", "failed", "cut", "raise"]),
)


def parts_of(turn):
    text, its_calls, stop = turn
    parts = [TextDelta(text)] if text else []
    for name, args, id, end in its_calls:
        key = len(parts)
        parts += [ToolCallStart(key, id, name), ToolCallDelta(key, args)]
        if end:
            parts.append(ToolCallEnd(key))
    endings = {"failed": [Failed(Failure(kind="network", message="cut"))], "cut": [], "raise": [ValueError("x")]}
    return parts + endings.get(stop, [Done(stop)])


async def interrupt(turns, point, foreign):
    """A run over `turns` that is aborted, or its task cancelled, at the tick `point`; whether it came to that."""
    left = point

    def tick():
        nonlocal left
        left -= 1
        if left == 0:
            (task.cancel if foreign else bench.signal.abort)()

    async def wait(args, ctx):
        for _ in range(5):
            tick()
            await asyncio.sleep(0)

    def fault(args, ctx):
        raise ValueError("x")

    specs = tools(tool("ok", ok), tool("wait", wait), tool("raise", fault), tool("seq", wait, sequential=True),
                  tool("rubbish", lambda *_: 3), tool("blocked", ok))  # fmt: skip
    sink = FakeSink({"tool_call": lambda e: Block("no") if e.tool_name == "blocked" else None})
    bench = Bench([parts_of(turn) for turn in turns], specs, sink, tick=tick)
    sink.tick = tick
    bench.queues.put("steer", user("steer"))
    bench.queues.put("follow_up", user("then"))
    task = asyncio.create_task(bench.run("hi"))
    await asyncio.wait([task])
    messages = bench.state.messages
    assert_paired(messages)
    assert [s.message for s in sink.stored] == messages
    assert bench.state.open_calls == {}
    assert calls._abandoned == set()
    if task.cancelled():
        assert foreign
    else:
        end = task.result()
        assert end.stop != "aborted" or bench.signal.aborted
        assert end.messages == tuple(messages)
    hooks = sink.hooks("turn_start", "turn_end", "agent_start", "agent_end", "agent_settled")
    assert hooks.count("agent_start") == hooks.count("agent_end")
    assert hooks.count("agent_settled") == min(1, hooks.count("agent_start"))
    assert hooks.count("turn_end") >= hooks.count("turn_start")
    return left <= 0


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=st.lists(one_turn, min_size=1, max_size=3), point=st.integers(0, 150), foreign=st.booleans())
def test_any_point_of_an_abort_leaves_each_call_with_one_result(turns, point, foreign):
    asyncio.run(interrupt(turns, point, foreign))


@pytest.mark.parametrize("foreign", [False, True])
def test_every_point_of_one_rich_run(foreign):
    turns = [
        ("a", [("ok", "{}", "", True), ("wait", "{}", "same", True), ("blocked", "{}", "same", True)], "tool_use"),
        ("b", [("seq", "{}", "", True), ("wait", '{"a"', "", True), ("wait", "{}", "", True)], "tool_use"),
        ("c", [("ok", "{}", "x", True), ("ok", "{}", "y", False)], "failed"),
    ]
    point = 1
    while asyncio.run(interrupt(turns, point, foreign)):
        point += 1
    assert point > 100


def test_the_wait_for_handlers_is_short_enough_for_a_person():
    assert cancel.AFTER_ABORT_S <= 1.0

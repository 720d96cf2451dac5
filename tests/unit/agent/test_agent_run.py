"""Promises of a run: which events come in which order, what is kept, and what plugins can change of it."""

from __future__ import annotations

import asyncio

import pytest
from support.agent_fakes import Bench, FakeSink, asks, assert_paired, call, roles, says, tool, tools, user

from zot_core.events.base import Block
from zot_core.types.content import Image, Text
from zot_core.types.failure import Failure, RunFailed
from zot_core.types.messages import CustomMessage, DraftEntry, SystemMessage, UserMessage
from zot_core.types.stream import Done, Failed, Retrying, TextDelta, ThinkingDelta, UsageUpdate
from zot_core.types.usage import Usage


async def ok(args, ctx):
    return "ok"


def note(text, **more):
    return CustomMessage(custom_type="n", content=(Text(text),), **more)


def test_the_order_of_a_run_with_one_tool():
    bench = Bench([asks(call("t"), text="hm"), says("done")], tools(tool("t", ok)))
    end = bench.go("hi")
    assert bench.sink.order == [
        "prepare_system_prompt", "before_agent_start", "agent_start",
        "message_start", "message_end", "store user",
        "turn_start", "context", "context_with_system",
        "message_start", *["message_update"] * 4, "message_end", "assistant_message", "store assistant",
        "tool_execution_start", "tool_call", "tool_result", "tool_execution_end",
        "message_start", "message_end", "store tool", "turn_end",
        "turn_start", "context", "context_with_system",
        "message_start", "message_update", "message_end", "assistant_message", "store assistant", "turn_end",
        "agent_end", "agent_before_settle", "agent_settled",
    ]  # fmt: skip
    assert (end.stop, end.failure) == ("end_turn", None)
    assert roles(end.messages) == ["user", "assistant", "tool", "assistant"]
    assert list(end.messages) == bench.state.messages == [s.message for s in bench.sink.stored]
    assert [e.step for e in bench.sink.events("turn_start")] == [1, 2]
    assert [(e.stop, len(e.tool_results)) for e in bench.sink.events("turn_end")] == [("tool_use", 1), ("end_turn", 0)]


def test_nobody_listening_builds_no_event():
    class Deaf(FakeSink):
        def wants(self, hook):
            return False

    bench = Bench([asks(call("t")), says("done")], tools(tool("t", ok)), Deaf())
    assert bench.go().stop == "end_turn"
    assert bench.sink.log == []
    assert roles(bench.state.messages) == ["user", "assistant", "tool", "assistant"]


def test_the_request_has_the_tools_sorted_and_the_prompt():
    bench = Bench([says("x")], tools(tool("b", ok), tool("a", ok)), options={"system": "base", "thinking": "high"})
    bench.go()
    request = bench.requests[0]
    assert [spec.name for spec in request.tools] == ["a", "b"]
    assert (request.system, request.thinking, request.model.id) == ("base", "high", "m")


def test_an_empty_system_prompt_sends_none():
    sink = FakeSink({"prepare_system_prompt": lambda e: e.replace(system_prompt="")})
    bench = Bench([says("x")], sink=sink, options={"system": "base"})
    bench.go()
    assert bench.requests[0].system is None


def test_context_gates_change_what_is_sent_and_not_what_is_kept():
    def context(event):
        assert not any(isinstance(m, SystemMessage) for m in event.messages)
        return event.replace(messages=(user("other"),))

    def whole(event):
        return event.replace(messages=(SystemMessage(text="new system"), *event.messages[1:]))

    bench = Bench(
        [says("x")], sink=FakeSink({"context": context, "context_with_system": whole}), options={"system": "base"}
    )
    bench.go("hi")
    assert bench.requests[0].messages[0].content == (Text("other"),)
    assert bench.requests[0].system == "new system"
    assert bench.state.messages[0].content == (Text("hi"),)


def test_context_with_system_may_take_the_prompt_away():
    sink = FakeSink({"context_with_system": lambda e: e.replace(messages=e.messages[1:])})
    bench = Bench([says("x")], sink=sink, options={"system": "base"})
    bench.go()
    assert bench.requests[0].system is None
    assert roles(bench.requests[0].messages) == ["user"]


def test_before_agent_start_adds_messages_and_a_prompt_for_this_run_alone():
    seen = []

    def start(event):
        seen.append(event)
        if event.prompt != "hi":
            return None
        before = note("before", placement="before_prompt")
        return event.replace(messages=(note("after"), before), system_prompt=event.system_prompt + "!")

    bench = Bench(
        [asks(call("t")), says("x"), says("y")],
        tools(tool("t", ok)),
        FakeSink({"before_agent_start": start}),
        options={"system": "base"},
    )

    async def main():
        picture = Image("image/png", "AAAA")
        await bench.run(UserMessage(content=(Text("hi"), picture)), trigger="delivery")
        await bench.run("again")
        assert seen[0].images == (picture,)

    asyncio.run(main())
    assert [e.trigger for e in seen] == ["delivery", "prompt"]
    assert [m.content[0].text for m in bench.state.messages[:3]] == ["before", "hi", "after"]
    assert [r.system for r in bench.requests] == ["base!", "base!", "base"]


def test_a_blocked_turn_calls_no_model_and_ends_the_run():
    bench = Bench([says("never")], sink=FakeSink({"turn_start": lambda e: Block("closed today")}))
    end = bench.go()
    assert (end.stop, end.failure.kind, end.failure.message) == ("blocked", "blocked", "closed today")
    assert bench.requests == []
    assert roles(end.messages) == ["user"]
    assert bench.sink.events("turn_end")[0].stop == "blocked"
    assert bench.sink.hooks("agent_end", "agent_settled") == ["agent_end", "agent_settled"]


def test_message_end_replaces_what_is_kept():
    def end(event):
        if event.message.role == "assistant":
            from dataclasses import replace

            return event.replace(message=replace(event.message, content=(Text("clean"),)))
        return None

    bench = Bench([says("secret")], sink=FakeSink({"message_end": end}))
    bench.go()
    assert bench.state.messages[1].text == "clean"
    assert bench.sink.stored[1].display == "clean"


def test_assistant_message_changes_only_what_is_shown_and_holds_text_back():
    sink = FakeSink({"assistant_message": lambda e: e.replace(text=e.text.upper())})
    bench = Bench([[ThinkingDelta("hm"), TextDelta("a"), TextDelta("b"), Done("end_turn")]], sink=sink)
    bench.go()
    assert [e.part for e in sink.events("message_update")] == [ThinkingDelta("hm"), TextDelta("AB")]
    hooks = sink.hooks("assistant_message", "message_update", "message_end")
    assert hooks[-2:] == ["assistant_message", "message_update"]
    stored = sink.stored[1]
    assert (stored.message.text, stored.display, stored.withheld) == ("ab", "AB", False)


def test_a_withheld_message_is_kept_and_not_shown():
    sink = FakeSink({"assistant_message": lambda e: Block("no")})
    end = Bench([says("secret")], sink=sink).go()
    stored = sink.stored[1]
    assert (stored.message.text, stored.display, stored.withheld, stored.plugin) == ("secret", None, True, "guard")
    assert sink.events("message_update") == []
    assert (end.stop, end.failure) == ("end_turn", None)


def test_a_message_without_text_is_not_asked_about():
    bench = Bench([asks(call("t")), says("x")], tools(tool("t", ok)))
    bench.go()
    assert len(bench.sink.events("assistant_message")) == 1
    assert bench.sink.stored[1].display == ""


def test_a_retry_starts_the_message_over():
    failure = Failure(kind="overloaded", message="busy", retryable=True)
    bench = Bench(
        [[Retrying(1, 0.0, failure), TextDelta("a"), Retrying(2, 0.0, failure), TextDelta("b"), Done("end_turn")]]
    )
    bench.go()
    assert bench.state.messages[1].text == "b"
    kinds = [type(e.part).__name__ for e in bench.sink.events("message_update")]
    assert kinds == ["Retrying", "TextDelta", "Retrying", "TextDelta"]
    assert len([e for e in bench.sink.events("message_start") if e.message.role == "assistant"]) == 1


@pytest.mark.parametrize(
    ("parts", "kind", "kept"),
    [
        (RunFailed(Failure(kind="auth", message="no key")), "auth", None),
        (ValueError("odd"), "provider", None),
        ([Failed(Failure(kind="rate_limit", message="slow down"))], "rate_limit", None),
        ([TextDelta("a")], "network", "a"),
        ([TextDelta("a"), ValueError("odd")], "provider", "a"),
        ([TextDelta("a"), Failed(Failure(kind="network", message="cut"))], "network", "a"),
        ([TextDelta("a"), "rubbish", Done("end_turn")], "provider", "a"),
        ([TextDelta("a"), Done("error")], "provider", "a"),
        ([], "network", None),
    ],
)
def test_a_failing_stream_is_a_failure_and_keeps_what_came(parts, kind, kept):
    bench = Bench([parts])
    end = bench.go()
    assert (end.stop, end.failure.kind) == ("error", kind)
    assert roles(end.messages) == (["user"] if kept is None else ["user", "assistant"])
    if kept is not None:
        message = end.messages[1]
        assert (message.text, message.stop, message.failure) == (kept, "error", end.failure)
    turn = bench.sink.events("turn_end")[0]
    assert (turn.stop, turn.failure) == ("error", end.failure)
    assert bench.sink.events("agent_end")[0].failure == end.failure


def test_a_failed_message_runs_no_call_and_answers_each_complete_one():
    ran = []
    parts = [*call("t", id="a"), *call("t", id="b", end=False), Failed(Failure(kind="network", message="cut"))]
    bench = Bench([parts], tools(tool("t", lambda args, ctx: ran.append(1))))
    end = bench.go()
    assert ran == []
    assert [m.call_id for m in end.messages if m.role == "tool"] == ["a"]
    assert_paired(bench.state.messages)


def test_an_overflow_is_its_own_failure_and_may_be_mended_once():
    overflow = [Failed(Failure(kind="context_overflow", message="too long"))]
    assert Bench([overflow]).go().failure.kind == "context_overflow"
    asked = []

    async def make_room(failure):
        asked.append(failure.kind)
        return True

    bench = Bench([overflow, says("x")], options={"on_overflow": make_room})
    assert bench.go().stop == "end_turn"
    assert bench.sink.hooks("turn_start", "turn_end") == ["turn_start", "turn_end"]
    bench = Bench([overflow, overflow, says("x")], options={"on_overflow": make_room})
    assert bench.go().failure.kind == "context_overflow"
    assert len(asked) == 2


def test_max_steps_ends_with_a_complete_turn():
    bench = Bench([asks(call("t")) for _ in range(5)], tools(tool("t", ok)), options={"max_steps": 2})
    end = bench.go()
    assert (end.stop, end.failure.kind) == ("error", "max_steps")
    assert len(bench.requests) == 2
    assert_paired(bench.state.messages)
    assert [e.stop for e in bench.sink.events("turn_end")] == ["tool_use", "tool_use"]


def test_steering_joins_after_the_batch_and_before_the_next_call():
    bench = Bench([asks(call("t")), says("x")])

    async def steer(args, ctx):
        bench.queues.put("steer", user("left"))
        bench.queues.put("steer", user("right"))

    bench.tools = tools(tool("t", steer))
    end = bench.go()
    assert roles(end.messages) == ["user", "assistant", "tool", "user", "user", "assistant"]
    assert len(bench.requests) == 2


def test_steering_goes_on_where_the_answer_called_no_tool():
    bench = Bench([[lambda: bench.queues.put("steer", user("more")), TextDelta("a"), Done("end_turn")], says("b")])
    end = bench.go()
    assert roles(end.messages) == ["user", "assistant", "user", "assistant"]
    assert bench.sink.hooks("agent_start") == ["agent_start"]


def test_follow_ups_wait_for_the_end_and_count_their_own_steps():
    bench = Bench(
        [asks(call("t")), says("x"), asks(call("t")), says("y"), says("z")],
        tools(tool("t", ok)),
        options={"max_steps": 2},
    )
    bench.queues.put("follow_up", user("then"))
    bench.queues.put("follow_up", user("last"))
    end = bench.go()
    assert end.failure is None
    assert roles(end.messages) == ["user", "assistant", "tool", "assistant"] * 2 + ["user", "assistant"]
    assert [e.step for e in bench.sink.events("turn_start")] == [1, 2, 1, 2, 1]
    assert len(bench.sink.events("before_agent_start")) == 1


def test_next_turn_messages_join_the_prompt_and_start_nothing():
    bench = Bench([says("x")])
    bench.queues.put("next_turn", note("context"))
    assert not bench.queues
    end = bench.go("hi")
    assert roles(end.messages) == ["user", "custom", "assistant"]


def test_turn_end_adds_entries_and_may_go_on():
    def turn_end(event):
        if event.step > 1:
            return None
        entries = (
            *event.entries,
            DraftEntry(kind="custom", custom_type="k"),
            DraftEntry(kind="custom_message", custom_type="k", content=(Text("go on"),)),
        )
        return event.replace(entries=entries, continue_run=True)

    bench = Bench([says("x"), says("y")], sink=FakeSink({"turn_end": turn_end}))
    end = bench.go()
    assert roles(end.messages) == ["user", "assistant", "custom", "assistant"]
    assert [entry.kind for entry in bench.sink.entries] == ["custom", "custom_message"]
    assert roles(bench.requests[1].messages) == ["user", "assistant", "custom"]


def test_an_unconditional_continuation_loops_until_the_step_limit():
    sink = FakeSink({"turn_end": lambda e: e.replace(continue_run=True)})
    end = Bench([], sink=sink, options={"max_steps": 3}).go()
    assert end.failure.kind == "max_steps"


def test_a_continuation_is_not_asked_for_after_a_failure():
    sink = FakeSink(
        {
            "turn_end": lambda e: e.replace(continue_run=True),
            "agent_before_settle": lambda e: e.replace(continue_run=True),
        }
    )
    end = Bench([ValueError("x")], sink=sink).go()
    assert end.failure.kind == "provider"
    assert sink.hooks("turn_start", "agent_settled") == ["turn_start", "agent_settled"]


def test_before_settle_asks_for_one_more_round():
    rounds = []

    def settle(event):
        rounds.append(event.stop)
        entry = DraftEntry(kind="custom_message", custom_type="k", content=(Text("check"),))
        return event.replace(continue_run=True, entries=(entry,)) if len(rounds) == 1 else None

    sink = FakeSink({"agent_before_settle": settle})
    end = Bench([says("x"), says("y")], sink=sink).go()
    assert roles(end.messages) == ["user", "assistant", "custom", "assistant"]
    only = ("agent_start", "agent_end", "agent_before_settle", "agent_settled")
    assert sink.hooks(*only) == [*only[:3], *only]
    assert [e.step for e in sink.events("turn_start")] == [1, 2]


def test_what_is_queued_while_settling_is_still_run():
    def end(event):
        if len(bench.requests) == 1:
            bench.queues.put("follow_up", user("one more"))

    bench = Bench([says("x"), says("y")], sink=FakeSink({"agent_end": end}))
    assert roles(bench.go().messages) == ["user", "assistant"] * 2
    assert bench.sink.hooks("agent_settled") == ["agent_settled"]


def test_a_record_that_cannot_be_written_ends_the_run_at_once():
    lost = RunFailed(Failure(kind="session", message="disk full"))
    for role, left in [("user", 0), ("assistant", 1), ("tool", 1)]:
        ran = []
        bench = Bench(
            [asks(call("t"), call("t", id="b")), says("x")], tools(tool("t", lambda args, ctx, ran=ran: ran.append(1)))
        )
        bench.sink.fail_store = lambda s, role=role: lost if s.message.role == role else None
        end = bench.go()
        assert (end.stop, end.failure.kind) == ("error", "session")
        assert len(bench.requests) == left
        assert len(ran) == (2 if role == "tool" else 0)
        assert_paired(bench.state.messages)
        assert bench.sink.hooks("agent_settled") == ["agent_settled"]


def test_usage_is_summed_over_the_run():
    bench = Bench(
        [
            [UsageUpdate(Usage(input=1)), UsageUpdate(Usage(input=10, cost=0.5)), *asks(call("t"))],
            [UsageUpdate(Usage(input=5)), *says("x")],
        ],
        tools(tool("t", ok)),
    )
    end = bench.go()
    assert end.usage == Usage(input=15, cost=0.5)
    assert end.messages[1].usage == Usage(input=10, cost=0.5)


def test_a_change_of_configuration_holds_from_the_next_call():
    bench = Bench([asks(call("t")), says("x")])

    async def change(args, ctx):
        bench.options["thinking"] = "max"

    bench.tools = tools(tool("t", change))
    bench.go()
    assert [r.thinking for r in bench.requests] == ["off", "max"]


def test_a_run_without_a_prompt_goes_on_from_the_transcript():
    bench = Bench([says("x")])
    bench.state.messages.append(user("before"))
    end = asyncio.run(bench.run(trigger="extension"))
    assert roles(end.messages) == ["assistant"]
    assert roles(bench.requests[0].messages) == ["user"]

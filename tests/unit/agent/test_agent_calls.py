"""Promises of a batch of tool calls, of results, and of nested calls."""

from __future__ import annotations

import asyncio
import threading

import pytest
from pydantic import BaseModel, ConfigDict
from support.agent_fakes import Bench, FakeSink, asks, assert_paired, call, roles, says, tool, tools

from zot_core.agent.calls import execute_nested
from zot_core.events.base import Block
from zot_core.types.content import Image, Text, text_of
from zot_core.types.messages import ToolResultMessage
from zot_core.types.specs import ToolResult
from zot_core.types.usage import Usage


class Path(BaseModel):
    model_config = ConfigDict(extra="forbid")
    path: str
    limit: int = 10


async def ok(args, ctx):
    return "ok"


def results(bench):
    return [m for m in bench.state.messages if isinstance(m, ToolResultMessage)]


def one(spec, args="{}", sink=None, **options):
    """The result of one call, and the bench it ran on."""
    bench = Bench([asks(call("t", args)), says("x")], tools(spec) if spec else {}, sink or FakeSink(), options=options)
    bench.go()
    assert_paired(bench.state.messages)
    return results(bench)[0], bench


def test_three_orders():
    async def main():
        gate = asyncio.Event()
        ran = []

        async def slow(args, ctx):
            ran.append("slow")
            await gate.wait()
            return "slow"

        async def fast(args, ctx):
            ran.append("fast")
            gate.set()
            return "fast"

        bench = Bench([asks(call("slow"), call("fast"))], tools(tool("slow", slow), tool("fast", fast)))
        bench.sink.on["tool_call"] = lambda e: ran.append(f"gate {e.tool_name}")
        await bench.run("hi")
        assert ran == ["gate slow", "gate fast", "slow", "fast"]
        assert [(e.hook, e.tool_name) for e in bench.sink.log if e.hook in ("tool_execution_start", "tool_call")] == [
            ("tool_execution_start", "slow"),
            ("tool_call", "slow"),
            ("tool_execution_start", "fast"),
            ("tool_call", "fast"),
        ]
        for hook in ("tool_result", "tool_execution_end"):
            assert [e.tool_name for e in bench.sink.events(hook)] == ["fast", "slow"]
        assert [r.tool_name for r in results(bench)] == ["slow", "fast"]

    asyncio.run(main())


def test_a_sequential_tool_runs_alone():
    running, together = set(), []

    def make(name, **more):
        async def execute(args, ctx):
            running.add(ctx.call_id)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            together.append((name, len(running)))
            running.discard(ctx.call_id)

        return tool(name, execute, **more)

    bench = Bench(
        [asks(call("a", id="1"), call("a", id="2"), call("s", id="3"), call("a", id="4"))],
        tools(make("a"), make("s", sequential=True)),
    )
    bench.go()
    assert together == [("a", 2), ("a", 1), ("s", 1), ("a", 1)]


def test_an_unknown_tool_is_told_the_known_ones_and_the_nearest():
    bench = Bench([asks(call("raed")), says("x")], tools(tool("read", ok), tool("bash", ok)))
    bench.go()
    text = text_of(results(bench)[0].content)
    assert results(bench)[0].is_error
    assert "Did you mean read?" in text and "bash, read" in text
    assert bench.sink.events("tool_call") == []


@pytest.mark.parametrize("raw", ['{"path": "a', "[]", "nope"])
def test_arguments_that_are_no_json_never_run(raw):
    ran = []
    result, bench = one(tool("t", lambda a, c: ran.append(1)), raw)
    assert ran == [] and result.is_error and "JSON" in text_of(result.content)
    assert bench.state.messages[1].tool_calls[0].args is None
    assert bench.sink.events("tool_call") == []


def test_a_message_cut_at_the_output_limit_executes_nothing_of_it():
    ran = []
    spec = tool("t", lambda a, c: ran.append(1))
    bench = Bench([asks(call("t", id="1"), call("t", '{"a": "b', id="2"), stop="length"), says("x")], tools(spec))
    end = bench.go()
    assert ran == [] and bench.sink.events("tool_call") == []
    assert all(r.is_error and "cut" in text_of(r.content) for r in results(bench))
    assert len(results(bench)) == 2 and end.stop == "end_turn"
    assert bench.sink.events("turn_end")[0].stop == "length"


def test_cut_calls_again_and_again_end_the_run():
    bench = Bench([asks(call("t", id=str(n)), stop="length") for n in range(20)], tools(tool("t", ok)))
    end = bench.go()
    assert end.failure is not None and len(bench.requests) == 3
    assert_paired(bench.state.messages)


def test_arguments_are_validated_by_the_tools_own_model():
    seen = []
    spec = tool("t", lambda a, c: seen.append(a), arguments=Path)
    one(spec, '{"path": "x", "limit": "3"}')
    assert seen == [Path(path="x", limit=3)]
    result, bench = one(spec, '{"limit": "many", "extra": 1}')
    text = text_of(result.content)
    assert result.is_error and len(seen) == 1
    assert "- path: Field required" in text and "- limit:" in text and "- extra:" in text
    assert "pydantic" not in text and "http" not in text
    assert bench.sink.events("tool_call") == []


def test_prepare_arguments_comes_before_validation():
    seen = []
    spec = tool("t", lambda a, c: seen.append(a), arguments=Path, prepare_arguments=lambda a: {"path": a["file"]})
    one(spec, '{"file": "x"}')
    assert seen == [Path(path="x")]
    assert one(spec, "{}")[0].is_error
    assert one(tool("t", ok, prepare_arguments=lambda a: 3))[0].is_error


def test_a_dotted_string_that_leads_nowhere_is_an_error_result():
    assert one(tool("t", "no_such_module:x"))[0].is_error
    assert one(tool("t", ok, arguments="no_such_module:x"))[0].is_error


def test_a_rewrite_runs_and_is_validated_again():
    seen = []
    spec = tool("t", lambda a, c: seen.append(a.path), arguments=Path)
    one(spec, '{"path": "a"}', FakeSink({"tool_call": lambda e: e.replace(args={"path": "b"})}))
    assert seen == ["b"]
    result, _ = one(spec, '{"path": "a"}', FakeSink({"tool_call": lambda e: e.replace(args={})}))
    assert seen == ["b"] and result.is_error and "plugin" in text_of(result.content)


def test_a_change_in_place_reaches_nobody():
    seen = []

    def spoil(event):
        event.args["deep"]["x"] = "changed"

    _, bench = one(tool("t", lambda a, c: seen.append(a)), '{"deep": {"x": 1}}', FakeSink({"tool_call": spoil}))
    assert seen == [{"deep": {"x": 1}}]
    assert bench.state.messages[1].tool_calls[0].args == {"deep": {"x": 1}}


def test_the_tool_context_has_the_arguments_that_run():
    seen = []
    sink = FakeSink({"tool_call": lambda e: e.replace(args={"a": 2})})
    one(tool("t", lambda a, c: seen.append((c.call.args, c.call.id))), '{"a": 1}', sink)
    assert seen == [({"a": 2}, "id_t")]


def test_a_blocked_call_gets_the_reason_and_the_others_run():
    ran = []
    bench = Bench(
        [asks(call("a"), call("b")), says("x")],
        tools(tool("a", lambda a, c: ran.append("a")), tool("b", lambda a, c: ran.append("b"))),
        FakeSink({"tool_call": lambda e: Block("not today") if e.tool_name == "a" else None}),
    )
    bench.go()
    assert ran == ["b"]
    assert [(r.is_error, text_of(r.content)) for r in results(bench)] == [(True, "not today"), (False, "")]
    assert len(bench.sink.events("tool_result")) == len(bench.sink.events("tool_execution_end")) == 2


@pytest.mark.parametrize(("terminate", "calls"), [((True, True), 1), ((True, False), 2), ((False, False), 2)])
def test_a_batch_ends_the_run_only_if_every_result_terminates(terminate, calls):
    async def end(args, ctx):
        return ToolResult(content="ended", terminate=terminate[1])

    sink = FakeSink({"tool_call": lambda e: Block("no", terminate=terminate[0]) if e.tool_name == "a" else None})
    bench = Bench([asks(call("a"), call("b")), says("x")], tools(tool("a", ok), tool("b", end)), sink)
    end_of_run = bench.go()
    assert len(bench.requests) == calls
    assert end_of_run.failure is None


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        ("text", (Text("text"),)),
        ("", ()),
        (None, ()),
        (["a", Text("b"), Image("image/png", "AA==")], (Text("a"), Text("b"), Image("image/png", "AA=="))),
        (Text("x"), (Text("x"),)),
        (ToolResult(content="x"), (Text("x"),)),
    ],
)
def test_what_a_tool_may_return(answer, content):
    async def execute(args, ctx):
        return answer

    result, _ = one(tool("t", execute))
    assert (result.content, result.is_error) == (content, False)


@pytest.mark.parametrize(
    "answer", [3, {"a": 1}, [1], ToolResult(content=3), ToolResult(details=3), ToolResult(usage=3), object()]
)
def test_rubbish_is_an_error_result(answer):
    result, _ = one(tool("t", lambda a, c: answer))
    assert result.is_error and "contract" in text_of(result.content)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no such file"), "no such file"),
        (KeyError("x"), "KeyError: 'x'"),
        (RuntimeError(), "RuntimeError"),
        (SystemExit(3), "3"),
        (TimeoutError("too slow"), "too slow"),
        (asyncio.CancelledError(), "t was cancelled from within."),
    ],
)
def test_a_tool_that_raises_is_an_error_result(error, text):
    async def execute(args, ctx):
        raise error

    result, bench = one(tool("t", execute))
    assert (result.is_error, text_of(result.content)) == (True, text)
    assert len(bench.requests) == 2


def test_a_tool_has_only_its_time():
    async def forever(args, ctx):
        await asyncio.Event().wait()

    result, _ = one(tool("t", forever, timeout=0.01))
    assert result.is_error and "longer than 0.01 seconds" in text_of(result.content)


def test_tool_result_changes_what_is_kept():
    def change(event):
        return event.replace(content=(Text("clean"),), details={"k": 2}, is_error=True, usage=Usage(input=1))

    result, bench = one(tool("t", ok), sink=FakeSink({"tool_result": change}))
    assert (result.content, result.details, result.is_error, result.usage) == (
        (Text("clean"),),
        {"k": 2},
        True,
        Usage(input=1),
    )
    assert bench.sink.events("tool_execution_end")[0].content == (Text("clean"),)


def test_details_carry_the_specs_facts():
    async def execute(args, ctx):
        return ToolResult(content="x", details={"a": 1})

    assert one(tool("t", execute, details={"extension": "e"}))[0].details == {"a": 1, "extension": "e"}


def test_progress_comes_in_order_and_before_the_result_from_threads_too():
    async def execute(args, ctx):
        ctx.update("one", {"n": 1})
        thread = threading.Thread(target=ctx.update, args=("two",))
        thread.start()
        thread.join()
        await asyncio.sleep(0)
        ctx.update([Text("three")])
        late.append(ctx.update)

    late = []
    _, bench = one(tool("t", execute))
    hooks = bench.sink.hooks("tool_execution_update", "tool_result")
    assert hooks == ["tool_execution_update"] * 3 + ["tool_result"]
    assert [text_of(e.content) for e in bench.sink.events("tool_execution_update")] == ["one", "two", "three"]


def test_a_barrier_is_waited_for_unless_the_tool_only_reads():
    waited = []

    async def barrier(spec):
        waited.append(spec.name)

    one(tool("t", ok), barrier=barrier)
    one(tool("t", ok, workspace_effect="read"), barrier=barrier)
    assert waited == ["t"]


def test_activated_tools_are_told_before_the_next_call():
    told = []

    async def execute(args, ctx):
        return ToolResult(content="x", activate_tools=("more",))

    def activate(names):
        told.append(names)
        bench.tools = {**bench.tools, "more": tool("more", ok)}

    bench = Bench([asks(call("t")), says("x")], tools(tool("t", execute)), options={"activate_tools": activate})
    bench.go()
    assert told == [("more",)]
    assert [spec.name for spec in bench.requests[1].tools] == ["more", "t"]


def nesting(bench, inner="inner", args=None):
    async def outer(_, ctx):
        answers = []
        for _ in range(2):
            answers.append(
                await execute_nested(
                    inner,
                    args or {},
                    state=bench.state,
                    config=bench.config(),
                    sink=bench.sink,
                    signal=bench.signal,
                    parent_call_id=ctx.call_id,
                )
            )
        return ToolResult(content="+".join(text_of(a.content) for a in answers), usage=Usage(input=1))

    return outer


def test_nested_calls_are_gated_recorded_and_not_in_the_transcript():
    async def inner(args, ctx):
        return ToolResult(content="in", usage=Usage(input=10))

    bench = Bench([asks(call("outer")), says("x")])
    bench.tools = tools(tool("outer", nesting(bench)), tool("inner", inner))
    end = bench.go()
    assert roles(end.messages) == ["user", "assistant", "tool", "assistant"]
    result = results(bench)[0]
    assert text_of(result.content) == "in+in"
    assert [n["id"] for n in result.details["nested_calls"]] == ["id_outer/1", "id_outer/2"]
    assert result.usage == Usage(input=21) and end.usage == Usage(input=21)
    nested = [(e.call_id, e.parent_call_id) for e in bench.sink.events("tool_call")[1:]]
    assert nested == [("id_outer/1", "id_outer"), ("id_outer/2", "id_outer")]
    assert [e.parent_call_id for e in bench.sink.events("tool_result")] == ["id_outer", "id_outer", None]
    assert bench.state.open_calls == {}


def test_a_nested_call_can_be_blocked_and_its_arguments_are_validated():
    bench = Bench([asks(call("outer")), says("x")])
    bench.tools = tools(tool("outer", nesting(bench)), tool("inner", ok))
    bench.sink.on["tool_call"] = lambda e: Block("no") if e.tool_name == "inner" else None
    bench.go()
    assert text_of(results(bench)[0].content) == "no+no"
    bench = Bench([asks(call("outer")), says("x")])
    bench.tools = tools(tool("outer", nesting(bench)), tool("inner", ok, arguments=Path))
    bench.go()
    assert "path: Field required" in text_of(results(bench)[0].content)


def test_tools_that_call_themselves_come_to_an_end():
    async def itself(args, ctx):
        return await execute_nested(
            "t",
            {},
            state=bench.state,
            config=bench.config(),
            sink=bench.sink,
            signal=bench.signal,
            parent_call_id=ctx.call_id,
        )

    bench = Bench([asks(call("t")), says("x")], tools(tool("t", itself)))
    bench.go()
    assert "nested deeper" in text_of(results(bench)[0].content)

"""The session's events, folded into what there is to show: every sequence that a run can send, without a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from zot_cli.repl import state as st
from zot_cli.repl.front import ReplFront, from_messages
from zot_cli.repl.state import Answer, Custom, Flash, Said, State, Thought, Told, ToolRow, Waiting
from zot_core import events
from zot_core.agent.sink import Stored
from zot_core.events.base import Block
from zot_core.frontend import Note
from zot_core.types.content import Image, Text, Thinking, ToolCall
from zot_core.types.failure import Failure
from zot_core.types.messages import AssistantMessage, CustomMessage, ToolResultMessage, UserMessage
from zot_core.types.stream import Retrying, TextDelta, ThinkingDelta, ToolCallDelta, ToolCallStart
from zot_core.types.usage import Usage

BUSY = "the model's server is overloaded"


class NoUi:
    """What a front end tells its `ctx.ui`."""

    forgotten = 0

    def forget(self) -> None:
        self.forgotten += 1


def front(changes: list[bool] | None = None) -> ReplFront:
    """A front end; each change says whether it may wait for a tick."""
    told = changes if changes is not None else []
    return ReplFront(NoUi(), told.append)


def part(to: ReplFront, *parts: Any) -> None:
    for one in parts:
        to.event(events.MessageUpdateEvent(message_id="m", part=one))


def starts(to: ReplFront, call_id: str, name: str = "read", **args: Any) -> None:
    to.event(events.ToolExecutionStartEvent(call_id=call_id, tool_name=name, args=args))


def allowed(to: ReplFront, call_id: str, name: str = "read", stop: Block | None = None, **args: Any) -> None:
    to.event(events.ToolCallEvent(call_id=call_id, tool_name=name, args=args), stop)


def ends(to: ReplFront, call_id: str, said: str, name: str = "read", **more: Any) -> None:
    to.event(events.ToolExecutionEndEvent(call_id=call_id, tool_name=name, content=(Text(said),), **more))


def stored(to: ReplFront, message: Any, display: str | None = None, **more: Any) -> None:
    to.stored(Stored(message=message, display=display, **more))


def answer(said: str = "", **more: Any) -> AssistantMessage:
    return AssistantMessage(content=(Text(said),) if said else (), provider="p", model="m", api="a", **more)


def shape(state: State) -> list[Any]:
    """The blocks in short."""
    found: list[Any] = []
    for block in state.blocks:
        if isinstance(block, ToolRow):
            found.append((block.name, block.status))
        elif isinstance(block, Answer | Thought | Said | Told):
            found.append((type(block).__name__, block.text))
        else:
            found.append(type(block).__name__)
    return found


def test_a_whole_run() -> None:
    one = front()
    one.event(events.AgentStartEvent(run_id="r"))
    stored(one, UserMessage(content=(Text("Read it"),)))
    part(one, ThinkingDelta("Hm"), ThinkingDelta("m."), TextDelta("Let me "), TextDelta("see."))
    part(one, ToolCallStart(key=1, id="1", name="read"), ToolCallDelta(key=1, args='{"path"'))
    stored(one, answer("Let me see.", usage=Usage(input=10, output=2, cost=0.1)))
    starts(one, "1", path="a.txt")
    allowed(one, "1", path="a.txt")
    one.event(events.ToolExecutionUpdateEvent(call_id="1", tool_name="read", args={}, content=(Text("half"),)))
    ends(one, "1", "whole")
    stored(one, ToolResultMessage(call_id="1", tool_name="read", content=(Text("whole"),), usage=Usage(output=3)))
    part(one, TextDelta("It says whole."))
    stored(one, answer("It says whole.", usage=Usage(input=20, output=4)))
    running = one.state
    one.event(events.AgentSettledEvent(run_id="r"))
    assert running.running and not one.state.running
    assert running.run_usage == Usage(input=30, output=9, cost=0.1)
    assert shape(one.state) == [
        ("Said", "Read it"),
        ("Thought", "Hmm."),
        ("Answer", "Let me see."),
        ("read", "done"),
        ("Answer", "It says whole."),
    ]
    row = one.state.blocks[3]
    assert isinstance(row, ToolRow)
    assert (row.args, row.progress, row.result) == ({"path": "a.txt"}, "half", (Text("whole"),))
    assert row.took is not None


def test_deltas_wait_for_a_tick_and_all_else_does_not() -> None:
    changes: list[bool] = []
    one = front(changes)
    part(one, TextDelta("a"))
    assert (changes, one.state.blocks) == ([True], ())
    one.fold()
    assert shape(one.state) == [("Answer", "a")]
    part(one, TextDelta("b"), ToolCallStart(key=1, id="1", name="read"))
    assert changes == [True, True, False]
    assert shape(one.state) == [("Answer", "ab"), ("read", "writing")]


PIECES = some.lists(some.tuples(some.sampled_from([TextDelta, ThinkingDelta]), some.text(max_size=5)), max_size=12)


@given(PIECES, some.data())
def test_however_the_deltas_are_cut_the_blocks_are_the_same(pieces: Any, data: some.DataObject) -> None:
    whole, cut = front(), front()
    for make, said in pieces:
        if not said:
            continue
        part(whole, make(said))
        whole.fold()
        while said:
            size = data.draw(some.integers(1, len(said)))
            part(cut, make(said[:size]))
            said = said[size:]
            if data.draw(some.booleans()):
                cut.fold()
    cut.fold()
    assert cut.state.blocks == whole.state.blocks


def test_parallel_calls_end_as_they_end() -> None:
    one = front()
    for call_id in ("1", "2"):
        part(one, ToolCallStart(key=int(call_id), id=call_id, name=f"t{call_id}"))
    for call_id in ("1", "2"):
        starts(one, call_id, f"t{call_id}")
    assert shape(one.state) == [("t1", "waiting"), ("t2", "waiting")]
    for call_id in ("1", "2"):
        allowed(one, call_id, f"t{call_id}")
    ends(one, "2", "second", "t2")
    assert shape(one.state) == [("t1", "running"), ("t2", "done")]
    ends(one, "1", "broke", "t1", is_error=True)
    assert shape(one.state) == [("t1", "failed"), ("t2", "done")]


def test_a_call_that_the_model_gave_no_id_keeps_its_row() -> None:
    one = front()
    part(one, ToolCallStart(key=0, id="", name="read"))
    starts(one, "made-up")
    ends(one, "made-up", "x")
    assert shape(one.state) == [("read", "done")]


def test_a_call_that_was_refused() -> None:
    one = front()
    starts(one, "1", "bash", command="rm")
    allowed(one, "1", "bash", Block("no"), command="rm")
    assert shape(one.state) == [("bash", "waiting")]
    ends(one, "1", "no", "bash", is_error=True)
    assert shape(one.state) == [("bash", "blocked")]
    assert one.state.blocks[0].took is None  # type: ignore[union-attr]


def test_a_guard_changes_what_is_shown_of_a_call() -> None:
    one = front()
    starts(one, "1", "bash", command="rm -rf /")
    allowed(one, "1", "bash", command="ls")
    assert one.state.blocks[0].args == {"command": "ls"}  # type: ignore[union-attr]


def test_arguments_that_are_no_object_are_none() -> None:
    one = front()
    one.event(events.ToolExecutionStartEvent(call_id="1", tool_name="read", args="{broken"))  # type: ignore[arg-type]
    assert one.state.blocks[0].args == {}  # type: ignore[union-attr]


def test_an_aborted_run() -> None:
    one = front()
    one.event(events.AgentStartEvent(run_id="r"))
    part(one, ThinkingDelta("hm"), TextDelta("Half an"))
    starts(one, "1", "bash")
    allowed(one, "1", "bash")
    one.event(events.AgentSettledEvent(run_id="r", stop="aborted"))
    assert shape(one.state) == [("Thought", "hm"), ("Answer", "Half an"), ("bash", "aborted")]
    assert all(st.is_done(block) for block in one.state.blocks)
    ended = one.state
    ends(one, "1", "too late", "bash")
    one.event(events.ToolExecutionUpdateEvent(call_id="1", tool_name="bash", args={}, content=(Text("too late"),)))
    assert one.state == ended


@pytest.mark.parametrize(
    ("failure", "delay", "said"),
    [
        (
            Failure(kind="overloaded", message="x"),
            2.0,
            "the model's server is overloaded; trying again in 2 s (1 of 2)",
        ),
        (Failure(kind="rate_limit", message="x"), 0.5, "rate limited; trying again in 0.5 s (1 of 2)"),
        (Failure(kind="server", message="down."), 0.0, "down; trying another model"),
    ],
)
def test_a_retry_takes_back_what_was_said_and_says_so(failure: Failure, delay: float, said: str) -> None:
    one = front()
    part(one, TextDelta("Par"), Retrying(failure=failure, delay=delay, attempt=1), TextDelta("Whole."))
    one.fold()
    assert shape(one.state) == [("Told", said), ("Answer", "Whole.")]
    assert one.state.blocks[0].level == "warning"  # type: ignore[union-attr]


def test_a_retry_takes_back_the_calls_that_were_being_written() -> None:
    one = front()
    starts(one, "0")
    part(one, TextDelta("Par"), ToolCallStart(key=1, id="1", name="bash"))
    part(one, Retrying(failure=Failure(kind="server", message="down"), delay=1.0, attempt=1))
    assert ("bash", "writing") not in shape(one.state)
    assert ("read", "waiting") in shape(one.state)


def test_compaction() -> None:
    one = front()
    before = events.SessionBeforeCompactEvent(preparation=None)
    one.event(before)
    assert (one.state.activity, one.state.running) == ("Compacting", False)
    entry = type("Entry", (), {"data": {"tokens_before": 900, "tokens_after": 90}})
    one.event(events.SessionCompactEvent(accepted=True, reason="manual", compaction_entry=entry))
    assert one.state.activity == ""
    assert shape(one.state) == [("Told", "Compacted: 900 tokens became about 90.")]
    for end in (
        events.SessionCompactEvent(accepted=False, reason="manual", rejection_cause="no"),
        events.SessionCompactFailedEvent(reason="threshold", error_message="broke"),
    ):
        one.event(before)
        one.event(end)
        assert one.state.activity == ""
    one.event(before, Block("not now"))
    assert one.state.activity == ""
    assert len(one.state.blocks) == 1


def test_what_a_plugin_withheld() -> None:
    one = front()
    stored(one, answer("secret"), None, withheld=True, plugin="guard", reason="it is secret")
    assert one.state.blocks == (Answer(text="", done=True, withheld=True, reason="it is secret"),)


def test_messages_of_people_and_plugins() -> None:
    one = front()
    picture = Image(data="aGk=", mime_type="image/png")
    stored(one, UserMessage(content=(Text("one"), picture, Text("two"))))
    stored(one, CustomMessage(custom_type="note", content=(Text("hi"),), display=True))
    stored(one, CustomMessage(custom_type="note", content=(Text("hidden"),), display=False))
    assert one.state.blocks == (
        Said(text="one\ntwo", pictures=(picture,)),
        Custom(custom_type="note", content=(Text("hi"),)),
    )


def test_what_was_queued_joins() -> None:
    one = front()
    one.state = State(waiting=(Waiting(kind="steer", text="a"), Waiting(kind="follow_up", text="b")))
    stored(one, UserMessage(content=(Text("a"),)))
    assert [waits.text for waits in one.state.waiting] == ["b"]
    stored(one, UserMessage(content=(Text("typed elsewhere"),)))
    assert [waits.text for waits in one.state.waiting] == ["b"]


def test_a_second_start_within_a_run_is_no_new_run() -> None:
    one = front()
    one.event(events.AgentStartEvent(run_id="r"))
    stored(one, answer("x", usage=Usage(input=1)))
    since = one.state.since
    one.event(events.AgentStartEvent(run_id="r"))
    assert (one.state.since, one.state.run_usage) == (since, Usage(input=1))


def test_another_session_takes_away_what_plugins_had_put_there() -> None:
    one = front()
    one.event(events.SessionStartEvent(reason="new"))
    assert one.ui.forgotten == 1


def test_events_that_mean_nothing_on_a_screen() -> None:
    one = front()
    one.event(events.TurnStartEvent(step=1))
    one.event(events.MessageStartEvent(message=answer("x")))
    assert one.state == State()


def note(kind: Any, said: str = "x", level: Any = "info", source: str = "ext:clock", hook: str = "") -> Note:
    return Note(source=source, text=said, kind=kind, level=level, hook=hook)


@pytest.mark.parametrize(
    ("given_", "flashes", "blocks"),
    [
        (note("notify", level="error"), (Flash(source="clock", text="x", level="error"),), ()),
        (note("display"), (Flash(source="clock", text="x", display=True),), ()),
        (note("answer"), (), (Told(text="x", markdown=True),)),
        (note("diagnostic", source="", level="warning"), (), (Told(text="x", level="warning"),)),
        (
            note("plugin_error", hook="tool_call", level="error"),
            (),
            (Told(text="failed in tool_call: x", source="clock", level="error"),),
        ),
        (note("clear"), (), ()),
    ],
)
def test_notes(given_: Note, flashes: Sequence[Flash], blocks: Sequence[Any]) -> None:
    one = front()
    one.note(given_)
    assert (one.state.flashes, one.state.blocks) == (flashes, blocks)


def test_a_stored_conversation() -> None:
    call = ToolCall(id="1", name="read", args={"path": "a"})
    said = AssistantMessage(
        content=(Thinking("hm"), Text("See."), call, ToolCall(id="2", name="bash", args="{broken")),
        provider="p",
        model="m",
        api="a",
    )
    hidden = answer("secret")
    blocks = from_messages(
        [
            UserMessage(content=(Text("go"),)),
            said,
            ToolResultMessage(call_id="1", tool_name="read", content=(Text("x"),), is_error=True),
            hidden,
        ],
        lambda message_id: None if message_id == hidden.id else "See.",
        {"": [Told(text="before")], said.id: [Told(text="after")]},
    )
    assert shape(State(blocks=tuple(blocks))) == [
        ("Told", "before"),
        ("Said", "go"),
        ("Answer", "See."),
        ("read", "failed"),
        ("bash", "aborted"),
        ("Told", "after"),
        ("Answer", ""),
    ]
    assert isinstance(blocks[-1], Answer) and blocks[-1].withheld

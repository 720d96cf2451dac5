"""What there is to show, as a function of what happened: the reducer alone, without events and without a terminal."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from zot_cli.repl import state as st
from zot_cli.repl.state import Answer, Card, Flash, Said, State, Thought, Told, ToolRow, Waiting
from zot_core.types.content import Text
from zot_core.types.usage import Usage


def rows(state: State) -> list[tuple[str, str]]:
    return [(block.call_id, block.status) for block in state.blocks if isinstance(block, ToolRow)]


def called(state: State, call_id: str, name: str = "read") -> State:
    return st.tool(state, call_id, name=name, status="waiting")


def test_deltas_of_one_kind_are_one_block() -> None:
    state = State()
    for text in ("I ", "won", "der."):
        state = st.thinking_delta(state, text)
    for text in ("Yes", "."):
        state = st.text_delta(state, text)
    assert state.blocks == (Thought(text="I wonder.", done=True), Answer(text="Yes."))
    assert st.answer_over(state).blocks[-1] == Answer(text="Yes.", done=True)


def test_text_after_a_tool_is_another_block() -> None:
    state = st.text_delta(called(st.text_delta(State(), "First."), "1"), "Then.")
    assert [type(block) for block in state.blocks] == [Answer, ToolRow, Answer]
    assert state.blocks[0].done and not state.blocks[2].done  # type: ignore[union-attr]


def test_a_request_that_starts_over_takes_back_what_it_said() -> None:
    state = st.append(State(), Said(text="hi"))
    state = called(state, "1")
    state = st.thinking_delta(state, "hm")
    state = st.text_delta(state, "half")
    state = st.append(state, ToolRow(call_id="2", name="bash"))
    kept = st.voided(state)
    # what was closed by what came after it had been shown as final
    assert kept.blocks == (Said(text="hi"), ToolRow(call_id="1", name="read", status="waiting"), *state.blocks[2:4])
    assert st.voided(st.text_delta(State(), "half")).blocks == ()


def test_a_call_from_its_first_letter_to_its_result() -> None:
    state = st.append(State(), ToolRow(call_id="1", name="bash"))
    state = st.tool(state, "1", name="bash", args={"command": "ls"}, status="waiting")
    state = st.tool(state, "1", status="running", since=2.0)
    state = st.tool(state, "1", progress="a")
    state = st.tool(state, "1", status="done", result=(Text("a b"),), took=1.5)
    assert state.blocks == (
        ToolRow(
            call_id="1",
            name="bash",
            args={"command": "ls"},
            status="done",
            progress="a",
            result=(Text("a b"),),
            since=2.0,
            took=1.5,
        ),
    )


def test_what_comes_late_or_of_nobody_changes_nothing() -> None:
    assert st.tool(State(), "nobody", progress="x") == State()
    state = st.tool(called(State(), "1"), "1", status="done")
    assert st.tool(state, "1", progress="late") == state
    moved, _ = st.settled(state)
    assert st.tool(moved, "1", name="read", status="done", result=(Text("again"),)) == moved


def test_a_result_without_a_start_is_shown() -> None:
    state = st.tool(State(), "1", name="read", status="done", result=(Text("here"),))
    assert rows(state) == [("1", "done")]


def test_an_id_that_is_used_again_is_another_call() -> None:
    state = st.tool(called(State(), "0"), "0", status="done")
    state = st.tool(called(state, "0", "bash"), "0", status="failed")
    assert rows(state) == [("0", "done"), ("0", "failed")]
    moved, _ = st.settled(state)
    assert rows(called(moved, "0")) == [("0", "waiting")]


def test_the_end_of_a_run_ends_what_was_open() -> None:
    state = st.started(State(), 10.0)
    assert (state.running, state.since) == (True, 10.0)
    state = called(st.tool(called(st.text_delta(state, "Half"), "1"), "1", status="done"), "2")
    state = st.ended(st.busy(state, "Compacting", 11.0))
    assert rows(state) == [("1", "done"), ("2", "aborted")]
    assert (state.running, state.activity) == (False, "")
    assert all(st.is_done(block) for block in state.blocks)
    late = st.tool(state, "2", name="read", status="done", result=(Text("late"),))
    assert late == state
    assert rows(called(st.started(st.settled(late)[0], 12.0), "2")) == [("2", "waiting")]


def test_each_run_counts_its_own_use() -> None:
    state = st.used(st.used(st.started(State(), 0.0), Usage(input=5, cost=0.5)), Usage(output=2))
    assert state.run_usage == Usage(input=5, output=2, cost=0.5)
    assert st.started(st.ended(state), 1.0).run_usage == Usage()


def test_what_goes_on_has_a_beginning_of_its_own_outside_of_a_run() -> None:
    assert st.busy(State(), "Compacting", 5.0).since == 5.0
    assert st.busy(st.started(State(), 1.0), "Compacting", 5.0).since == 1.0


def test_notes_go_by_their_source() -> None:
    state = State()
    for source in ("one", "two", "one"):
        state = st.flash(state, Flash(source=source, text="hm"))
    assert [note.source for note in st.unflash(state, "one").flashes] == ["two"]
    assert st.unflash(state).flashes == ()


def test_what_waits_changes_with_what_became_of_it() -> None:
    waiting = tuple(Waiting(kind="steer", text=text) for text in ("/fix", "b", "/fix"))
    state = State(waiting=waiting)
    assert [one.text for one in st.requeued(state, "/fix", "Fix it.").waiting] == ["/fix", "b", "Fix it."]
    assert [one.text for one in st.requeued(state, "/fix", "").waiting] == ["/fix", "b"]
    assert st.requeued(state, "gone", "x") is state
    assert st.requeued(state, "b", "b") is state


def test_finished_blocks_move_up_in_order_and_no_later() -> None:
    state = State(blocks=(Said(text="a"), ToolRow(call_id="1", name="read", status="running"), Told(text="b")))
    rest, moved = st.settled(state)
    assert moved == (Said(text="a"),)
    assert st.settled(rest) == (rest, ())
    assert st.settled(st.tool(rest, "1", status="done"))[0].blocks == ()


def test_a_card_stays_until_something_follows() -> None:
    state = st.append(State(), Card(id="1", custom_type="board", done=False))
    assert st.settled(state)[1] == ()
    state = st.append(state, Said(text="x"))
    assert [type(block) for block in st.settled(state)[1]] == [Card, Said]


# --- any order of anything --------------------------------------------------------------------------------------------

IDS = some.sampled_from(["1", "2", "3"])
CHANGES: dict[str, Any] = {
    "text": some.text(min_size=1, max_size=4).map(lambda text: lambda s: st.text_delta(s, text)),
    "thought": some.text(min_size=1, max_size=4).map(lambda text: lambda s: st.thinking_delta(s, text)),
    "over": some.just(st.answer_over),
    "said": some.just(lambda s: st.append(s, Said(text="x"))),
    "told": some.just(lambda s: st.append(s, Told(text="x"))),
    "writing": IDS.map(lambda i: lambda s: st.append(s, ToolRow(call_id=i, name="t"))),
    "begin": IDS.map(lambda i: lambda s: st.tool(s, i, name="t", status="waiting")),
    "run": IDS.map(lambda i: lambda s: st.tool(s, i, name="t", status="running", since=1.0)),
    "update": IDS.map(lambda i: lambda s: st.tool(s, i, progress="p")),
    "end": IDS.map(lambda i: lambda s: st.tool(s, i, name="t", status="done")),
    "fail": IDS.map(lambda i: lambda s: st.tool(s, i, name="t", status="failed")),
    "void": some.just(st.voided),
    "start": some.just(lambda s: st.started(s, 0.0)),
    "close": some.just(st.ended),
}
ANY = some.lists(some.one_of(*CHANGES.values()), max_size=40)


@given(ANY, some.data())
def test_whatever_comes_what_is_done_stays_as_it_is(changes: list[Any], data: some.DataObject) -> None:
    state, printed = State(), list[Any]()
    for change in changes:
        done = [block for block in state.blocks if st.is_done(block)]
        state = change(state)
        after = iter(state.blocks)
        assert all(any(block == other for other in after) for block in done)
        if data.draw(some.booleans()):
            state, moved = st.settled(state)
            printed += moved
    assert all(st.is_done(block) for block in printed)


@given(ANY)
def test_whatever_comes_the_end_of_the_run_leaves_nothing_open(changes: list[Any]) -> None:
    state = State()
    for change in changes:
        state = change(state)
    state = st.ended(state)
    rest, moved = st.settled(st.append(state, Told(text="the end")))
    assert not rest.blocks
    assert moved[-1] == Told(text="the end")
    assert not any(isinstance(block, ToolRow) and not block.name for block in moved)


@given(ANY)
def test_only_the_last_text_is_open(changes: list[Any]) -> None:
    state = State()
    for change in changes:
        state = change(state)
        texts = [n for n, block in enumerate(state.blocks) if isinstance(block, Answer | Thought) and not block.done]
        assert all(n == len(state.blocks) - 1 for n in texts)

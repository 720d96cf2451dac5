"""Where conversations are cut: pairs stay together, something is left on both sides, and the newest stay."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from zot_core.compaction.cutting import Row, prepare, problem
from zot_core.compaction.estimate import context_tokens, message_tokens
from zot_core.types.content import Text, ToolCall
from zot_core.types.messages import AssistantMessage, Message, ToolResultMessage, UserMessage
from zot_core.types.usage import Usage


def user(text: str = "Hi.") -> Message:
    return UserMessage(content=(Text(text),))


def said(text: str = "Yes.", *calls: str, usage: Usage | None = None) -> Message:
    blocks = tuple(ToolCall(id=call, name="read", args={}) for call in calls)
    return AssistantMessage(content=(Text(text), *blocks), usage=usage)


def result(call: str, text: str = "found") -> Message:
    return ToolResultMessage(call_id=call, tool_name="read", content=(Text(text),))


def rows(*messages: Message) -> list[Row]:
    return [(message.id, message) for message in messages]


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Conversations as runs make them: prompts, answers, batches of calls with their results in order, steers."""
    messages: list[Message] = []
    number = 0
    for _ in range(draw(st.integers(0, 8))):
        messages.append(user("p" * draw(st.integers(1, 400))))
        for _ in range(draw(st.integers(0, 3))):
            calls = [f"c{number + n}" for n in range(draw(st.integers(1, 4)))]
            number += len(calls)
            messages.append(said("a", *calls))
            messages += [result(call, "r" * draw(st.integers(1, 400))) for call in calls]
            if draw(st.booleans()):
                messages.append(user("steer"))
        messages.append(said("done"))
    return messages


@given(conversations(), st.integers(0, 600))
def test_no_call_is_ever_parted_from_its_result(messages: list[Message], keep: int) -> None:
    found = prepare(rows(*messages), keep_tokens=keep, tokens_before=1)
    if found is None:
        assert len(messages) < 2
        return
    assert (*found.messages, *found.kept) == tuple(messages)
    assert found.messages
    assert found.kept
    assert found.kept[0].id == found.first_kept_entry_id
    for part in (found.messages, found.kept):
        called = {call.id for message in part if isinstance(message, AssistantMessage) for call in message.tool_calls}
        answered = {message.call_id for message in part if isinstance(message, ToolResultMessage)}
        assert called == answered
    assert problem(rows(*messages), "A summary.", found.first_kept_entry_id) == ""


def test_about_as_much_stays_as_was_asked_for() -> None:
    messages = [message for _ in range(50) for message in (user("x" * 400), said("y" * 400))]
    found = prepare(rows(*messages), keep_tokens=1000, tokens_before=1)
    assert found is not None
    kept = sum(message_tokens(message) for message in found.kept)
    assert 700 <= kept <= 1000


def test_one_message_cannot_be_cut() -> None:
    assert prepare(rows(user("x" * 100_000)), keep_tokens=10, tokens_before=1) is None
    assert prepare([], keep_tokens=10, tokens_before=1) is None


def test_a_huge_last_message_stays_whole() -> None:
    first, last = user("Look at this."), user("x" * 100_000)
    found = prepare(rows(first, said(), last), keep_tokens=10, tokens_before=1)
    assert found is not None
    assert found.kept == (last,)


def test_a_blank_summary_and_a_wrong_cut_are_refused() -> None:
    messages = rows(user(), said("", "c1"), result("c1"), said("done"))
    assert problem(messages, " \n", messages[3][0]) == "the summary is empty"
    assert "would part a call from its result" in problem(messages, "S", messages[2][0])
    assert "no entry 'nowhere'" in problem(messages, "S", "nowhere")
    assert problem(messages, "S", messages[3][0]) == ""


def test_the_provider_counts_and_the_rest_is_estimated() -> None:
    counted = said("Yes.", usage=Usage(input=900, output=50, cache_read=40, cache_write=10))
    assert context_tokens([user(), counted]) == 1000
    assert 1000 < context_tokens([user(), counted, user("x" * 4000)]) < 2200
    assert context_tokens([]) == 0

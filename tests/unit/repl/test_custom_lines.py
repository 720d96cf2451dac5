"""A plugin's lines become the screen's: styles as spans, nothing that a terminal obeys, nothing too wide."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from zot_cli.repl.completion.stack import Stack
from zot_cli.repl.custom.editors import Passed, passed
from zot_cli.repl.custom.lines import drawn, spans_of
from zot_cli.repl.dialogs.questions import QuestionDialog
from zot_cli.repl.look import default_look
from zot_cli.repl.spans import line_width
from zot_cli.repl.spans import plain as text_of
from zot_cli.repl.state import Card, State, append, ended, settled
from zot_core.ui import CURSOR, Text
from zot_core.ui.completion import Found, Suggestion
from zot_core.ui.theme import built_in

LOOK = default_look("dark")
THEME = built_in("dark")


def test_styles_become_spans() -> None:
    accent = THEME.style("accent").name
    line = spans_of("a" + THEME.fg("accent", THEME.bold("b")) + "\x1b[4;31;48;5;208mc\x1b[0md")
    assert line == (("", "a"), (f"bold fg:{accent}", "b"), ("underline fg:ansired bg:#ff8700", "c"), ("", "d"))


def test_the_cursor_is_a_span() -> None:
    assert spans_of(f"ab{CURSOR}cd") == (("", "ab"), ("cursor ", "c"), ("", "d"))
    assert spans_of(f"ab{CURSOR}") == (("", "ab"), ("cursor", " "))


@pytest.mark.parametrize(
    "bad", ["\x1b[2J", "\x1b[1;1H", "\x1b]8;;http://x\x07", "\x1bc", "\x08", "\x1b[?25l", "\x1b[9999999999m"]
)
def test_all_else_is_gone(bad: str) -> None:
    assert "".join(text for _, text in spans_of(f"a{bad}b")) == "ab"


def test_lines_are_cut_in_both_directions() -> None:
    lines = drawn(["x" * 200, "日本語" * 50], 10)
    assert [line_width(line) for line in lines] == [10, 9]
    assert text_of(drawn(["a"] * 100, 10, 5, LOOK)[-1]) == "… 96 more lines"
    assert [text_of(line) for line in drawn("some words that wrap", 10)] == ["some words", "that wrap"]
    assert [text_of(line) for line in drawn(Text("one\ntwo"), 10)] == ["one", "two"]


@pytest.mark.parametrize(
    "garbage", [17, [1], {"a": 1}, object(), type("X", (), {"render": lambda self, width: None})()]
)
def test_garbage_is_an_error_in_words(garbage: Any) -> None:
    with pytest.raises(TypeError, match=r"answered|not text"):
        drawn(garbage, 10)


def test_a_key_is_passed_on_as_it_was_pressed() -> None:
    assert [(press.key, press.data) for press in passed("a")] == [("a", "a")]
    assert [(str(press.key.value), press.data) for press in passed("enter")] == [("c-m", "\r")]  # type: ignore[union-attr]
    assert len(passed("alt+enter")) == 2
    assert passed("a long text")[0].data == "a long text"
    assert all(isinstance(press, Passed) for press in passed("X"))
    assert passed("X")[0].data == "X"


def test_a_card_that_may_be_replaced_waits_for_what_comes_next() -> None:
    card = Card(id="1", custom_type="job", done=False)
    state = append(State(), card)
    assert settled(ended(state))[1] == ()
    assert len(settled(append(state, Card(id="2", custom_type="other")))[1]) == 2


class Bottom:
    async def get_suggestions(self, lines: Any, line: int, column: int, *, forced: bool) -> Found | None:
        return Found(prefix="", items=(Suggestion(value=f"bottom {forced}"),))


def asked(stack: Stack, *, forced: bool = False) -> list[str]:
    found = asyncio.run(stack.get_suggestions(["text"], 0, 4, forced=forced))
    return [] if found is None else [item.value for item in found.items]


def test_providers_stack_and_come_off_again() -> None:
    class Top:
        def __init__(self, below: Any) -> None:
            self.below = below

        async def get_suggestions(self, *where: Any, forced: bool) -> Mapping[str, Any]:
            found = await self.below.get_suggestions(*where, forced=forced)
            return {"prefix": "", "items": ["top", {"value": "both"}, *found.items]}

        def should_trigger_file_completion(self, *where: Any) -> bool:
            return False

    failed: list[Exception] = []
    stack = Stack(Bottom())
    off = stack.add(Top, failed.append)
    assert asked(stack, forced=True) == ["top", "both", "bottom False"]
    off()
    assert asked(stack, forced=True) == ["bottom True"]
    assert not failed


@pytest.mark.parametrize("factory", [lambda below: None, lambda below: 1 / 0])
def test_a_provider_that_is_none_is_said(factory: Callable[[Any], Any]) -> None:
    failed: list[Exception] = []
    stack = Stack(Bottom())
    stack.add(factory, failed.append)
    assert asked(stack) == ["bottom False"]
    assert len(failed) == 1


def test_a_suggestion_is_put_where_the_cursor_is() -> None:
    stack = Stack(Bottom())
    put = stack.apply_completion(["one", "see #1 now"], 1, 6, Suggestion(value="#17"), "#1")
    assert put == (["one", "see #17 now"], 1, 7)


def answer(questions: list[dict[str, Any]], *keys: str) -> Any:
    done: list[Any] = []
    dialog = QuestionDialog(LOOK, questions, done.append)
    for key in keys:
        assert all(line_width(line) <= 60 for line in dialog.render(60))
        dialog.handle_key(key)
    return done[-1] if done else "open"


ONE = {"id": "a", "question": "A?", "options": ["x", {"label": "y"}]}
MANY = {"id": "b", "question": "B?", "options": ["p", "q"], "multiSelect": True}


@pytest.mark.parametrize(
    ("questions", "keys", "found"),
    [
        ([ONE], ("enter",), {"a": "x"}),
        ([ONE], ("2",), {"a": "y"}),
        ([MANY], ("enter",), {"b": ["p"]}),
        ([MANY], ("down", " ", "up", " ", "enter"), {"b": ["p", "q"]}),
        ([MANY], (" ", "3", "o", "enter"), {"b": ["p", "o"]}),
        ([ONE, MANY], ("enter", "left", "down", "enter", "enter"), {"a": "y", "b": ["p"]}),
        ([{"question": "Name?"}], ("Z", "o", "enter"), {"1": "Zo"}),
        ([ONE], ("down", "down", "enter", "w", "enter"), {"a": "w"}),
    ],
)
def test_questions_are_answered(questions: list[dict[str, Any]], keys: tuple[str, ...], found: dict[str, Any]) -> None:
    assert answer(questions, *keys) == {"outcome": "answered", "answers": found}


def test_questions_are_dismissed_or_commented_on() -> None:
    assert answer([ONE], "esc") is None
    assert answer([{"question": "Name?"}], "esc") is None
    assert answer([ONE], "up", "enter", "n", "o", "enter") == {
        "outcome": "comment-submitted",
        "answers": {},
        "comment": "no",
    }
    assert answer([ONE], "up", "enter", "esc") == "open"

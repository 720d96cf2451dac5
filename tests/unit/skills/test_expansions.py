"""The contribution `expansions`: a prompt that begins with `/` and names no command, after `input`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from zot_core import Handled, hookimpl
from zot_core.types.specs import Expansion, ExpansionName


class Expands:
    """Knows `/word`; `breaks` raises, `late` answers as a coroutine."""

    def __init__(self, word: str, result: str, *, breaks: bool = False, late: bool = False) -> None:
        self.word, self.result, self.breaks, self.late = word, result, breaks, late

    @hookimpl
    def expansions(self) -> Expansion:
        return Expansion(name=self.word, expand=self.expand, names=self.names)

    def expand(self, text: str, ctx: Any) -> Any:
        if self.breaks:
            raise ValueError("broken")
        return self.answer(text) if self.late else self.result if text.startswith(f"/{self.word}") else None

    async def answer(self, text: str) -> str | None:
        return self.result if text.startswith(f"/{self.word}") else None

    def names(self, ctx: Any) -> Sequence[ExpansionName]:
        if self.breaks:
            raise ValueError("broken")
        return [ExpansionName(name=self.word)]


def test_the_first_by_rank(look: Any) -> None:
    seen = asyncio.run(look("/a", plugins=[Expands("a", "first", late=True), Expands("a", "second")]))
    assert seen.sent == ["first"]
    assert seen.names == ["a", "skill:zot-plugins"]
    assert seen.warnings == []


def test_a_broken_one_is_named_and_the_next_asked(look: Any) -> None:
    seen = asyncio.run(look("/a", plugins=[Expands("x", "", breaks=True), Expands("a", "second")]))
    assert seen.sent == ["second"]
    assert any(note.level == "error" and "broken" in note.text for note in seen.notes)


@pytest.mark.parametrize(
    ("typed", "noted"),
    [("/ab", True), ("/etc/hosts", False), ("/", False), ("/ x", False), ("//", False), ("text /ab", False)],
)
def test_only_an_unknown_name_is_noted(typed: str, noted: bool, look: Any) -> None:
    seen = asyncio.run(look(typed, plugins=[Expands("abc", "")]))
    assert seen.sent == [typed]
    assert seen.warnings == (["there is no command /ab; did you mean /abc? It is sent as text"] if noted else [])


@pytest.mark.parametrize("answer", ["rewritten", "handled"])
def test_what_input_dealt_with_is_not_noted(answer: str, look: Any) -> None:
    class Deals:
        @hookimpl
        def input(self, event: Any) -> Any:
            return Handled() if answer == "handled" else event.replace(text="/other/thing")

    seen = asyncio.run(look("/unknown", plugins=[Deals()]))
    assert seen.sent == ([] if answer == "handled" else ["/other/thing"])
    assert seen.warnings == []

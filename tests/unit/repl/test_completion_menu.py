"""The menu of completions when what it asks breaks: the person is told once, and typing goes on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from prompt_toolkit.buffer import Buffer

from zot_cli.repl.completion.menu import Menu
from zot_cli.repl.completion.stack import Stack
from zot_core.ui.completion import Found, Suggestion


class Broken:
    async def get_suggestions(self, lines: Any, line: int, column: int, *, forced: bool) -> None:
        raise PermissionError("the folder cannot be read")


def test_a_look_up_that_breaks_is_said_once_and_shows_no_menu() -> None:
    said: list[str] = []
    drawn: list[str] = []

    async def typing() -> None:
        buffer = Buffer()
        menu = Menu(buffer, lambda: Stack(Broken()), lambda: drawn.append(buffer.text), said.append)
        for key in ("@", "a", "b"):
            buffer.insert_text(key)
            while not drawn or drawn[-1] != buffer.text:
                await asyncio.sleep(0)
            assert not menu.open

    asyncio.run(typing())
    assert said == ["no completions: PermissionError: the folder cannot be read"]


class Fixed:
    def __init__(self, prefix: str, *values: str) -> None:
        self._found = Found(prefix=prefix, items=tuple(Suggestion(value=value) for value in values))

    async def get_suggestions(self, lines: Any, line: int, column: int, *, forced: bool) -> Found:
        return self._found


@pytest.mark.parametrize(
    ("text", "values", "moves", "takes"),
    [
        ("/mod", ["/model ", "/mode "], 0, True),
        ("/model", ["/models ", "/model "], 0, False),
        ("gpt-4", ["gpt-4.1", "gpt-4"], 0, False),
        ("gpt-4", ["gpt-4.1", "gpt-4"], 1, True),
        ("@src/a.py", ["@src/a.pyx ", "@src/a.py "], 0, False),
        ("@a", ["@src/a.py "], 0, True),
    ],
)
def test_enter_takes_only_what_is_not_typed_whole(text: str, values: list[str], moves: int, takes: bool) -> None:
    async def typing() -> bool:
        buffer, drawn = Buffer(), asyncio.Event()
        menu = Menu(buffer, lambda: Stack(Fixed(text, *values)), drawn.set, lambda why: None)
        buffer.insert_text(text)
        await drawn.wait()
        for _ in range(moves):
            menu.move(1)
        return menu.wants_enter

    assert asyncio.run(typing()) == takes


def test_nothing_of_an_argument_is_typed_and_enter_sends() -> None:
    async def typing() -> bool:
        buffer, drawn = Buffer(), asyncio.Event()
        menu = Menu(buffer, lambda: Stack(Fixed("", "first", "second")), drawn.set, lambda why: None)
        buffer.insert_text("/model ")
        await drawn.wait()
        return menu.open and not menu.wants_enter

    assert asyncio.run(typing())

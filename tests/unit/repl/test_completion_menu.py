"""The menu of completions when what it asks breaks: the person is told once, and typing goes on."""

from __future__ import annotations

import asyncio
from typing import Any

from prompt_toolkit.buffer import Buffer

from zot_cli.repl.completion.menu import Menu
from zot_cli.repl.completion.stack import Stack


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

"""Types into the editor without a terminal: bytes as a terminal sends them, through prompt-toolkit's own parser.

The editor has its keys, and nothing else is on the screen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.application.current import set_app
from prompt_toolkit.input import DummyInput
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.layout import Layout
from prompt_toolkit.layout.mouse_handlers import MouseHandlers
from prompt_toolkit.layout.screen import Screen, WritePosition
from prompt_toolkit.output import DummyOutput

from zot_cli.repl.editor import Editor
from zot_cli.repl.keys import Keymap
from zot_cli.repl.modified_keys import register


class Typist:
    """Hands on an editor. `history` is its file; `rows` and `cursor` are what was drawn last."""

    def __init__(self, history: Path | None = None, *, width: int = 40, custom: dict[str, Any] | None = None) -> None:
        register()
        self.width = width
        self.editor = Editor(history, lambda: ("", "› "))
        self._app: Application[None] = Application(
            layout=Layout(self.editor.window),
            key_bindings=self.editor.bindings(Keymap(custom)),
            input=DummyInput(),
            output=DummyOutput(),
        )
        self._parser = Vt100Parser(self._app.key_processor.feed)
        self._loop = asyncio.new_event_loop()
        self.rows: list[str] = []
        self.cursor = (0, 0)
        self.draw()

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        self._loop.run_until_complete(work)

    def type(self, data: str) -> Typist:
        """Sends what keys send."""

        async def typed() -> None:
            with set_app(self._app):
                self._parser.feed(data)
                self._app.key_processor.process_keys()

        self._do(typed())
        return self.draw()

    def paste(self, text: str) -> Typist:
        """A bracketed paste."""
        return self.type("\x1b[200~" + text.replace("\n", "\r") + "\x1b[201~")

    def draw(self) -> Typist:
        """A frame; the history is loaded by the first."""
        screen = Screen()

        async def drawn() -> None:
            with set_app(self._app):
                height = self.editor.window.preferred_height(self.width, 20).preferred
                self.editor.window.write_to_screen(
                    screen, MouseHandlers(), WritePosition(0, 0, self.width, height), "", False, None
                )
                loading = self.editor.buffer._load_history_task
                if loading is not None:
                    await loading

        self._do(drawn())
        lines = range(screen.height)
        self.rows = ["".join(screen.data_buffer[y][x].char for x in range(self.width)).rstrip() for y in lines]
        at = screen.get_cursor_position(self.editor.window)
        self.cursor = (at.x, at.y)
        return self

    @property
    def marked(self) -> str:
        """The text with `|` where the cursor is."""
        text, at = self.editor.shown, self.editor.buffer.cursor_position
        return f"{text[:at]}|{text[at:]}"

    def start(self, marked: str) -> Typist:
        """A text with the cursor at `|`."""
        text, at = marked.replace("|", "", 1), marked.index("|")
        self.editor.set(text)
        self.editor.buffer.cursor_position = at
        self.editor.buffer._undo_stack.clear()
        return self.draw()

    def close(self) -> None:
        """Ends its loop."""

        async def ended() -> None:
            await self._app.cancel_and_wait_for_background_tasks()

        self._do(ended())
        self._loop.close()

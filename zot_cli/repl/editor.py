"""Where people type: a buffer of several lines with history, folded pastes, and the text that is really sent.

Knows prompt-toolkit and no session.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import BufferControl, Window
from prompt_toolkit.layout.dimension import Dimension

from zot_cli.plain import clean

CHIP_LINES = 15
CHIP_CHARACTERS = 1000
"""A paste of more lines or characters is shown as a chip and sent whole."""
ROWS = 10
"""Rows of the editor before it scrolls."""
_CHIP = re.compile(r"\[paste #(\d+): [^\]\n]*\]")


class Editor:
    """The editor's buffer and window. `prompt()` is the mark before the first line."""

    def __init__(self, history: Path | None, prompt: Callable[[], tuple[str, str]]) -> None:
        self._pastes: dict[int, str] = {}
        self._prompt = prompt
        self.buffer = Buffer(multiline=True, history=_history(history), complete_while_typing=False)
        self.control = BufferControl(self.buffer, focusable=True)
        self.window = Window(
            self.control,
            height=lambda: Dimension(min=1, max=ROWS),
            wrap_lines=True,
            dont_extend_height=True,
            get_line_prefix=self._prefix,
        )

    @property
    def text(self) -> str:
        """What was typed, chips unfolded: what is sent."""
        return _CHIP.sub(lambda match: self._pastes.get(int(match[1]), match[0]), self.buffer.text)

    @property
    def shown(self) -> str:
        """What stands in the editor, chips folded."""
        return self.buffer.text

    def set(self, text: str) -> None:
        """Puts `text` in the place of what was typed, the cursor at its end."""
        self.buffer.set_document(Document(text), bypass_readonly=True)

    def take(self) -> str:
        """What was typed, unfolded; it joins the history and the editor is empty."""
        text = self.text
        if text.strip():
            self.buffer.history.append_string(text)  # unfolded: a chip means nothing in another session
        self.buffer.reset()
        self._pastes.clear()
        return text

    def prepend(self, text: str) -> None:
        """Puts `text` before what is typed: what comes back from a queue."""
        rest = self.buffer.text
        self.set(f"{text}\n{rest}" if rest.strip() else text)

    def paste(self, text: str) -> None:
        """Inserts at the cursor as a paste does: a long text folds to a chip."""
        text = clean(text).replace("\t", "    ")
        lines = text.count("\n") + 1
        if lines > CHIP_LINES or len(text) > CHIP_CHARACTERS:
            number = max(self._pastes, default=0) + 1
            self._pastes[number] = text
            size = f"{lines} lines" if lines > 1 else f"{len(text)} characters"
            text = f"[paste #{number}: {size}]"
        self.buffer.insert_text(text)

    def bindings(self) -> KeyBindings:
        """Keys that only mean editing."""
        keys = KeyBindings()

        @keys.add(Keys.BracketedPaste)
        def pasted(event: KeyPressEvent) -> None:
            self.paste(event.data)

        return keys

    def _prefix(self, line: int, wrapped: int) -> StyleAndTextTuples:
        style, mark = self._prompt()
        return [(style, mark if line == 0 and wrapped == 0 else " " * len(mark))]


def _history(path: Path | None) -> History:
    return FileHistory(str(path)) if path is not None else InMemoryHistory()

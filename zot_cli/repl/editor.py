"""Where people type: a buffer of several lines with history, folded pastes, and the text that is really sent.

Knows prompt-toolkit and no session.
"""

from __future__ import annotations

import re
import time
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
from zot_cli.repl.pictures import picture_at
from zot_core.types.content import Image

CHIP_LINES = 15
CHIP_CHARACTERS = 1000
"""A paste of more lines or characters is shown as a chip and sent whole."""
ROWS = 10
"""Rows of the editor before it scrolls."""
_PICTURE = re.compile(r"\[picture #(\d+): [^\]\n]*\]")
_CHIP = re.compile(r"\[paste #(\d+): [^\]\n]*\]")


class Editor:
    """The editor's buffer and window. `prompt()` is the mark before the first line."""

    def __init__(self, history: Path | None, prompt: Callable[[], tuple[str, str]]) -> None:
        self._pastes: dict[int, str] = {}
        self._pictures: dict[int, Image] = {}
        self.cwd = str(Path.cwd())
        self._prompt = prompt
        self.buffer = Buffer(multiline=True, history=_history(history), complete_while_typing=False)
        self.changed = 0.0
        """When what is typed changed last, by the monotonic clock."""
        self.buffer.on_text_changed += lambda _: self._mark()
        self.control = BufferControl(self.buffer, focusable=True)
        self.window = Window(
            self.control,
            height=lambda: Dimension(min=1, max=ROWS),
            wrap_lines=True,
            dont_extend_height=True,
            get_line_prefix=self._prefix,
        )

    def _mark(self) -> None:
        self.changed = time.monotonic()

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

    @property
    def pictures(self) -> list[Image]:
        """The pictures whose chips are in the text, in its order."""
        numbers = [int(match[1]) for match in _PICTURE.finditer(self.buffer.text)]
        return [self._pictures[number] for number in numbers if number in self._pictures]

    def take(self) -> str:
        """What was typed, unfolded; it joins the history and the editor is empty. Ask for `pictures` before."""
        text = self.text
        if text.strip():
            self.buffer.history.append_string(text)  # unfolded: a chip means nothing in another session
        self.buffer.reset()
        self._pastes.clear()
        self._pictures.clear()
        return text

    def prepend(self, text: str) -> None:
        """Puts `text` before what is typed: what comes back from a queue."""
        rest = self.buffer.text
        self.set(f"{text}\n{rest}" if rest.strip() else text)

    def paste(self, text: str) -> None:
        """Inserts at the cursor as a paste does: a long text folds to a chip, the path of a picture to the picture."""
        picture = picture_at(text, self.cwd)
        if picture is not None:
            self.add_picture(picture[1], picture[0])
            return
        text = clean(text).replace("\t", "    ")
        lines = text.count("\n") + 1
        if lines > CHIP_LINES or len(text) > CHIP_CHARACTERS:
            number = max(self._pastes, default=0) + 1
            self._pastes[number] = text
            size = f"{lines} lines" if lines > 1 else f"{len(text)} characters"
            text = f"[paste #{number}: {size}]"
        self.buffer.insert_text(text)

    def add_picture(self, picture: Image, name: str) -> None:
        """Puts a picture's chip at the cursor."""
        number = max(self._pictures, default=0) + 1
        self._pictures[number] = picture
        self.buffer.insert_text(f"[picture #{number}: {clean(name)}]")

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

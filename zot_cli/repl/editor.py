"""Where people type: a text of several lines with history, folded pastes, pictures, and what is really sent.

Knows prompt-toolkit and no session.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prompt_toolkit.data_structures import Point
from prompt_toolkit.document import Document
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent, merge_key_bindings
from prompt_toolkit.key_binding.key_bindings import KeyBindingsBase
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import BufferControl, Window
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.screen import Char

from zot_cli.plain import clean
from zot_cli.repl.chips import Chips
from zot_cli.repl.editing import editing
from zot_cli.repl.history import TypedBefore
from zot_cli.repl.keys import Keymap
from zot_cli.repl.pictures import picture_at
from zot_cli.repl.rows import Row, cells, place_of
from zot_cli.repl.spans import width_of
from zot_cli.repl.typed import Typing
from zot_core.types.content import Image

if TYPE_CHECKING:
    from prompt_toolkit.layout.screen import Screen, WritePosition

ROWS = 10
"""Rows of the editor before it scrolls."""


class Editor:
    """The editor's buffer and window. `prompt()` is the mark before the first line and its style."""

    def __init__(self, history: Path | None, prompt: Callable[[], tuple[str, str]]) -> None:
        self.chips = Chips()
        self.cwd = str(Path.cwd())
        self.history = TypedBefore(history, self.chips)
        self.buffer = Typing(self.history, self.chips)
        self.hint: Callable[[str], str] = lambda text: ""
        """What is shown, faint, after a text with the cursor at its end."""
        self.edited: Callable[[], None] = lambda: None
        """Called when the person's keys have changed the text; what is put there for them does not count."""
        self.changed = 0.0
        """When what is typed changed last, by the monotonic clock."""
        self.buffer.on_text_changed += lambda _: self._mark()
        self.window = EditorWindow(self.buffer, prompt, lambda: self.hint(self.buffer.text))

    def _mark(self) -> None:
        self.changed = time.monotonic()

    @property
    def text(self) -> str:
        """What was typed, pastes whole: what is sent."""
        return self.chips.unfolded(self.buffer.text)

    @property
    def shown(self) -> str:
        """What stands in the editor, chips folded."""
        return self.buffer.text

    @property
    def pictures(self) -> list[Image]:
        """The pictures whose chips are in the text, in its order."""
        return self.chips.pictures(self.buffer.text)

    def set(self, text: str) -> None:
        """Puts `text` in the place of what was typed, the cursor at its end; undo brings that back."""
        self.buffer.save_to_undo_stack()
        self.buffer.set_document(Document(text), bypass_readonly=True)

    def take(self) -> str:
        """What was typed, pastes whole; it joins the history and the editor is empty. Ask for `pictures` before."""
        text = self.text
        self.history.append_string(self.buffer.text)
        self.buffer.reset()
        return text

    def clear(self) -> None:
        """Takes away what was typed; undo and the up key bring it back, in this zot alone."""
        self.history.remember(self.buffer.text)
        self.buffer.start_over()
        self.set("")

    def prepend(self, text: str, pictures: Iterable[Image] = ()) -> None:
        """Puts `text` before what is typed: what comes back unsent, its long pastes as chips, with its pictures."""
        text = self.chips.adopted(self.chips.folded(text), pictures)
        rest = self.buffer.text
        self.set(f"{text}\n{rest}" if rest.strip() else text)

    def paste(self, text: str) -> None:
        """Inserts at the cursor as a paste does: a long text folds to a chip, the path of a picture to the picture."""
        picture = picture_at(text, self.cwd)
        if picture is not None:
            self.add_picture(picture[1], picture[0])
            return
        self.buffer.insert(self.chips.paste(clean(text).replace("\t", "    ")))

    def restore(
        self, text: str, pastes: Mapping[str, str], pictures: Mapping[str, Image], chips: Sequence[str]
    ) -> None:
        """Inserts what another process kept: a text with its `chips`, and what could be kept of what they stand for."""
        self.buffer.insert(clean(self.chips.restored(text, pastes, pictures, chips)))

    def add_picture(self, picture: Image, name: str) -> None:
        """Puts a picture's chip at the cursor."""
        self.buffer.insert(self.chips.picture(picture, clean(name)))

    def bindings(self, keymap: Keymap) -> KeyBindingsBase:
        """Keys that only mean editing."""
        keys = KeyBindings()

        @keys.add(Keys.BracketedPaste)
        def pasted(event: KeyPressEvent) -> None:
            self.paste(event.data)
            self.edited()

        return merge_key_bindings([keys, editing(self.buffer, keymap, lambda: self.edited())])


class EditorWindow(Window):
    """Draws the text by grapheme clusters: prompt-toolkit's own window goes by code points, and the cursor with it.

    The last column stays free for the cursor after a full row.
    """

    def __init__(self, typing: Typing, prompt: Callable[[], tuple[str, str]], hint: Callable[[], str]) -> None:
        super().__init__(BufferControl(typing, focusable=True), wrap_lines=True, dont_extend_height=True)
        self._typing, self._prompt, self._hint = typing, prompt, hint
        self._first = 0

    def preferred_height(self, width: int, max_available_height: int) -> Dimension:
        """As many rows as the text takes, within bounds."""
        height = min(len(self._rows(width)), ROWS, max(max_available_height, 1))
        return Dimension(min=1, max=height, preferred=height)

    def write_to_screen(
        self,
        screen: Screen,
        mouse_handlers: Any,
        write_position: WritePosition,
        parent_style: str,
        erase_bg: bool,
        z_index: int | None,
    ) -> None:
        """Draws the rows around the cursor."""
        typing, left, top = self._typing, write_position.xpos, write_position.ypos
        typing.load_history_if_not_yet_loaded()
        rows = self._rows(write_position.width)
        height = max(min(write_position.height, len(rows)), 1)
        number, column = place_of(typing.text, rows, typing.cursor_position)
        self._first = max(min(self._first, number, len(rows) - height), number - height + 1, 0)
        style, mark = self._prompt()
        chips, selected = typing.chips.spans(typing.text), typing.document.selection_range()
        chosen = selected if typing.selection_state is not None else (0, 0)
        for y, row in enumerate(rows[self._first : self._first + height]):
            x = left
            for letter in mark if row.start == 0 else " " * width_of(mark):
                x = _put(screen, top + y, x, letter, style, 1)
            self._draw_row(screen, top + y, x, row, lambda at: _style(at, chips, style, chosen))
        x = left + width_of(mark) + column
        if typing.cursor_position == len(typing.text):
            for letter in self._hint()[: max(left + write_position.width - x - 1, 0)]:
                x = _put(screen, top + number - self._first, x, letter, "fg:ansibrightblack", 1)
        screen.set_cursor_position(self, Point(x=left + width_of(mark) + column, y=top + number - self._first))
        screen.visible_windows_to_write_positions[self] = write_position
        screen.width = max(screen.width, left + write_position.width)
        screen.height = max(screen.height, top + height)

    def _draw_row(self, screen: Screen, y: int, x: int, row: Row, style: Callable[[int], str]) -> None:
        for cell in cells(self._typing.text, row):
            if cell.drawn == "    " or (len(cell.drawn) > 1 and cell.drawn.isascii()):
                for letter in cell.drawn:  # a tab, or a control in two letters
                    x = _put(screen, y, x, letter, style(cell.at), 1)
            elif cell.width:
                x = _put(screen, y, x, cell.drawn, style(cell.at), cell.width)

    def _rows(self, width: int) -> list[Row]:
        self._typing.width = max(width - width_of(self._prompt()[1]) - 1, 1)
        return self._typing.rows


def _style(at: int, chips: list[tuple[int, int]], chip: str, selected: tuple[int, int]) -> str:
    """The style of a place: a chip that stands for something is told from the same letters typed."""
    style = chip if any(start <= at < end for start, end in chips) else ""
    return f"{style} reverse" if selected[0] <= at < selected[1] else style


def _put(screen: Screen, y: int, x: int, drawn: str, style: str, width: int) -> int:
    """Draws a cluster; the column after it."""
    row = screen.data_buffer[y]
    row[x] = _char(drawn, style, width)
    for place in range(x + 1, x + width):
        row[place] = _char("", style, 0)
    return x + width


@lru_cache(maxsize=4096)
def _char(drawn: str, style: str, width: int) -> Char:
    char = Char(" ", style)
    char.char, char.width = drawn, width
    return char

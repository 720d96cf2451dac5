"""The buffer of the editor: a text with a cursor that moves and deletes by what people take for one character.

A chip is one character too. Up and down go by the rows that are seen, then to what was typed before. Knows no keys.
"""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.selection import SelectionType

from zot_cli.repl import graphemes
from zot_cli.repl.chips import Chips
from zot_cli.repl.history import TypedBefore
from zot_cli.repl.rows import Row, at_place, place_of, rows_of

KILLS = 60
"""Cuts that can be put in again."""


class Typing(Buffer):
    """`width` is the columns of a row as it was drawn last."""

    def __init__(self, history: TypedBefore, chips: Chips) -> None:
        super().__init__(multiline=True, history=history, complete_while_typing=False)
        self.chips = chips
        self.width = 78
        self.before_it = history
        self._lines: list[str] = [""]
        self._line = 0
        self._rows: tuple[str, int, list[Row]] = ("", 0, [])
        self._kills: list[str] = []
        self._after_kill: tuple[str, int] | None = None
        self._yanked: tuple[str, int, int] | None = None
        self._column: tuple[str, int, int] | None = None

    # --- what was typed before ---------------------------------------------------------------------------------------

    def reset(self, document: Document | None = None, append_to_history: bool = False) -> None:
        """An empty text, or another one, with nothing to undo."""
        self._lines, self._line = [""], 0
        super().reset(document, append_to_history)

    def start_over(self) -> None:
        """What stands here is a draft again, and no older entry."""
        self._lines, self._line = [""], 0

    def history_backward(self, count: int = 1) -> None:
        """What was typed before. What stands here is kept, a draft and a changed entry alike, until it is sent."""
        self._look_back(count)

    def history_forward(self, count: int = 1) -> None:
        """What was typed after that, at last the draft."""
        self._look_back(-count)

    def _look_back(self, step: int) -> None:
        before = self.before_it.latest
        if self._line == 0 and len(before) + 1 != len(self._lines):
            self._lines = ["", *before]
        to = max(0, min(self._line + step, len(self._lines) - 1))
        if to == self._line:
            return
        self._lines[self._line], self._line = self.text, to
        text = self._lines[to]
        self.set_document(Document(text, len(text)))
        if step < 0 and to:
            self.cursor_position = self.outside(self.line_end(0))

    # --- places ------------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> list[Row]:
        """The text in rows as they are seen."""
        if self._rows[:2] != (self.text, self.width) or not self._rows[2]:
            self._rows = (self.text, self.width, rows_of(self.text, self.width))
        return self._rows[2]

    def before(self, at: int) -> int:
        """Where the character, or the chip, before `at` begins."""
        for start, end in self.chips.spans(self.text):
            if start < at <= end:
                return start
        return graphemes.start_before(self.text, at)

    def after(self, at: int) -> int:
        """Where the character, or the chip, at `at` ends."""
        for start, end in self.chips.spans(self.text):
            if start <= at < end:
                return end
        return graphemes.end_of(self.text, graphemes.boundary(self.text, at))

    def word_before(self, at: int) -> int:
        """Where the word before `at` begins."""
        return self._back(at, self._is_word)

    def word_after(self, at: int) -> int:
        """Where the word at or after `at` ends."""
        while at < len(self.text) and not self._is_word(at):
            at = self.after(at)
        while at < len(self.text) and self._is_word(at):
            chip = self._is_chip(at)
            at = self.after(at)
            if chip:
                break
        return at

    def blank_before(self, at: int) -> int:
        """Where what stands before `at`, after the blank before it, begins."""
        return self._back(at, lambda place: not self.text[place].isspace())

    def line_start(self, at: int) -> int:
        """The beginning of the line."""
        return self.text.rfind("\n", 0, at) + 1

    def line_end(self, at: int) -> int:
        """The end of the line."""
        found = self.text.find("\n", at)
        return len(self.text) if found < 0 else found

    def outside(self, at: int) -> int:
        """`at`, or the nearer end of the chip that it is within: what stands in a chip's middle would break it."""
        for start, end in self.chips.spans(self.text):
            if start < at < end:
                return start if at - start < end - at else end
        return at

    @property
    def at_chip(self) -> bool:
        """Whether the cursor touches a chip."""
        return any(start <= self.cursor_position <= end for start, end in self.chips.spans(self.text))

    # --- moves -------------------------------------------------------------------------------------------------------

    def move(self, to: int, *, select: bool = False) -> None:
        """Puts the cursor elsewhere; `select` selects what it passes over."""
        if select and self.selection_state is None:
            self.start_selection(selection_type=SelectionType.CHARACTERS)
            if self.selection_state is not None:
                self.selection_state.enter_shift_mode()
        elif not select and self.selection_state is not None and self.selection_state.shift_mode:
            self.exit_selection()
        self.cursor_position = self.outside(max(0, min(to, len(self.text))))

    def move_rows(self, step: int) -> bool:
        """Goes up or down by rows in the same column; False where there is no further row."""
        number, column = place_of(self.text, self.rows, self.cursor_position)
        if self._column is not None and self._column[:2] == (self.text, self.cursor_position):
            column = self._column[2]
        to = max(0, min(number + step, len(self.rows) - 1))
        if to == number:
            return False
        self.move(at_place(self.text, self.rows, to, column))
        self._column = (self.text, self.cursor_position, column)
        return True

    def up(self, count: int = 1) -> None:
        """A row up; from the first one what was typed before."""
        if not self.move_rows(-count):
            self.history_backward(count)

    def down(self, count: int = 1) -> None:
        """A row down; from the last one what was typed after."""
        if not self.move_rows(count):
            self.history_forward(count)

    # --- changes -----------------------------------------------------------------------------------------------------

    def remove(self, start: int, end: int) -> str:
        """Deletes a part of the text; the cursor stands where it was."""
        gone = self.text[start:end]
        if gone:
            self.set_document(Document(self.text[:start] + self.text[end:], start))
        return gone

    def put(self, text: str, start: int, end: int) -> None:
        """Puts `text` in the place of a part of the text, the cursor after it."""
        self.set_document(Document(self.text[:start] + text + self.text[end:], start + len(text)))

    def insert(self, text: str) -> None:
        """Inserts at the cursor, in the place of what is selected by Shift."""
        self.drop_selection()
        self.cursor_position = self.outside(self.cursor_position)
        self.insert_text(text)

    def drop_selection(self) -> bool:
        """Deletes what is selected by Shift; False when nothing is."""
        if self.selection_state is None or not self.selection_state.shift_mode:
            return False
        self.cut_selection()
        return True

    def kill(self, start: int, end: int) -> None:
        """Cuts a part of the text; cuts that follow each other at once become one."""
        follows = self._after_kill == (self.text, self.cursor_position) and bool(self._kills)
        backwards = end <= self.cursor_position
        gone = self.remove(start, end)
        if gone and follows:
            self._kills[0] = gone + self._kills[0] if backwards else self._kills[0] + gone
        elif gone:
            self._kills = [gone, *self._kills[: KILLS - 1]]
        self._after_kill = (self.text, self.cursor_position)

    def yank(self) -> None:
        """Puts in what was cut last."""
        if self._kills:
            start = self.cursor_position
            self.insert_text(self._kills[0])
            self._yanked = (self.text, start, self.cursor_position)

    def yank_pop(self) -> None:
        """Puts what was cut before in the place of what was just put in."""
        if self._yanked is None or self._yanked[0] != self.text or self._yanked[2] != self.cursor_position:
            return
        self._kills = [*self._kills[1:], self._kills[0]]
        _, start, end = self._yanked
        self.put(self._kills[0], start, end)
        self._yanked = (self.text, start, self.cursor_position)

    def swap_characters(self) -> None:
        """Swaps the characters before and at the cursor; at a line's end the two before it."""
        at = self.cursor_position
        if at == self.line_end(at):
            at = self.before(at)
        left, right = self.before(at), self.after(at)
        if self.line_start(at) < at < right:
            self.put(self.text[at:right] + self.text[left:at], left, right)

    def swap_words(self) -> None:
        """Swaps the word at or before the cursor with the one before that."""
        end = self.word_after(self.cursor_position)
        if not any(self._is_word(place) for place in range(self.cursor_position, end)):
            end = self.word_after(self.word_before(self.cursor_position))
        start = self.word_before(end)
        first = self.word_before(start)
        first_end = self.word_after(first)
        if first < first_end <= start < end:
            words = self.text[start:end] + self.text[first_end:start] + self.text[first:first_end]
            self.put(words, first, end)

    def recase(self, change: Callable[[str], str]) -> None:
        """Changes the word at or after the cursor; a chip stays as it is."""
        start = self.cursor_position
        end = self.word_after(start)
        if start < end and not any(start <= first < end for first, _ in self.chips.spans(self.text)):
            self.put(change(self.text[start:end]), start, end)

    # --- helpers -----------------------------------------------------------------------------------------------------

    def _back(self, at: int, wanted: Callable[[int], bool]) -> int:
        while at > 0 and not wanted(self.before(at)):
            at = self.before(at)
        first = True
        while at > 0 and wanted(to := self.before(at)):
            chip = self._is_chip(to)
            if chip and not first:
                break
            at, first = to, False
            if chip:
                break
        return at

    def _is_chip(self, at: int) -> bool:
        return any(start == at for start, _ in self.chips.spans(self.text))

    def _is_word(self, at: int) -> bool:
        return graphemes.is_word(self.text, at) or self._is_chip(at)

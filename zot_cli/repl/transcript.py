"""What has moved up: the blocks as data, so that they can be printed again, and the lines that separate them.

A long answer moves up block by block as its Markdown closes. Knows no terminal.
"""

from __future__ import annotations

from dataclasses import replace

from zot_cli.repl.blocks import render
from zot_cli.repl.blocks.picture import has_picture
from zot_cli.repl.look import Look
from zot_cli.repl.markdown import blocks_of, final_part
from zot_cli.repl.spans import Line, last_rows, rows_of
from zot_cli.repl.state import Answer, Block, State, Thought, Told, ToolRow, settled


class Transcript:
    """The finished blocks in order. `take` moves what a state has finished here."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._looked_at = ""

    def take(self, state: State) -> tuple[State, list[Block]]:
        """The state without what is final by now, and the new finished blocks."""
        state, done = settled(state)
        found = [part for block in done for part in _parts(block)]
        if state.blocks and isinstance(first := state.blocks[0], Answer):
            state, closed = self._closed_parts(state, first)
            found += closed
        self.blocks += found
        return state, found

    def pictures(self, state: State, width: int, look: Look) -> list[Line]:
        """The lines of pictures in what `take` would move here; none where pictures are not drawn."""
        if look.gallery is None or not look.gallery.on:
            return []
        done = [block for block in settled(state)[1] if not isinstance(block, Answer | Thought | Told)]
        return [line for block in done for line in render(block, width, look) if has_picture([line])]

    def lines(self, blocks: list[Block], width: int, look: Look, before: Block | None) -> list[Line]:
        """Blocks as they are printed, with the blank lines between them; `before` is the one above."""
        lines: list[Line] = []
        for block in blocks:
            if before is not None and not _close(before, block):
                lines.append([])
            lines += render(block, width, look)
            before = block
        return lines

    def last_lines(self, width: int, look: Look, rows: int) -> list[Line]:
        """The end of the transcript, at least `rows` lines of it if there are as many, whole blocks."""
        lines: list[Line] = []
        for place in range(len(self.blocks) - 1, -1, -1):
            before = self.blocks[place - 1] if place else None
            lines[:0] = self.lines([self.blocks[place]], width, look, before)
            if len(lines) >= rows:
                break
        return lines

    def again(self, width: int, look: Look, rows: int, before: int, seen: int, held: int | None = None) -> list[Line]:
        """What is printed anew for another width: the blocks from `held` on, which were not printed at all, the last
        `seen` lines of the others as they were for `before` columns, and more where `rows` rows have room."""
        held = len(self.blocks) if held is None else held
        lines = self.lines(self.blocks[held:], width, look, self.blocks[held - 1] if held else None)
        old = 0
        for place in range(held - 1, -1, -1):
            above, block = self.blocks[place - 1] if place else None, [self.blocks[place]]
            new = self.lines(block, width, look, above)
            was, left = len(self.lines(block, before, look, above)), rows - rows_of(lines)
            if old >= seen and left <= 0:
                break
            part = min(max(seen - old, 0), was)
            if part < was:  # of a block that is seen by its end, no more than that: the rest stands above
                share = -(-rows_of(new) * part // was) + 1 if part else 0
                new = last_rows(new, max(share, left))
            lines[:0] = new
            old += was
        return lines

    def _closed_parts(self, state: State, first: Answer) -> tuple[State, list[Block]]:
        """Top-level blocks of the streaming answer that nothing can change any more."""
        whole = first.text[: first.text.rfind("\n") + 1]
        if whole == self._looked_at:
            return state, []
        self._looked_at = whole
        end = final_part(first.text)
        if not end:
            return state, []
        self._looked_at = ""
        rest = replace(first, text=first.text[end:])
        closed: list[Block] = [Answer(text=part, done=True) for part in blocks_of(first.text[:end])]
        return replace(state, blocks=(rest, *state.blocks[1:])), closed


def _parts(block: Block) -> list[Block]:
    """An answer in its top-level blocks, anything else as it is; an answer of blanks is nothing."""
    if isinstance(block, Answer) and not block.withheld:
        return [replace(block, text=part) for part in blocks_of(block.text)]
    return [block]


def _close(before: Block, block: Block) -> bool:
    """Whether two blocks stand without a blank line: calls in a row that have nothing below them."""
    return isinstance(before, ToolRow) and isinstance(block, ToolRow) and not before.result and not block.result

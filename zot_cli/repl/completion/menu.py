"""The menu of completions above the editor: looked up as one types, moved through, taken.

A look-up that is overtaken by more typing is dropped. Knows the editor's buffer and no provider.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document

from zot_cli.plain import one_line
from zot_cli.repl.completion.stack import Stack
from zot_cli.repl.look import Look
from zot_cli.repl.spans import Line, cut, width_of
from zot_core.ui.completion import Found

ROWS = 8


class Menu:
    """Suggestions for what stands before the cursor. `provider()` is asked for each look-up, and `failed` is told why
    there are none when that breaks, once for each reason."""

    def __init__(
        self,
        buffer: Buffer,
        provider: Callable[[], Stack],
        draw: Callable[[], None],
        failed: Callable[[str], None],
    ) -> None:
        self._buffer = buffer
        self._provider = provider
        self._draw = draw
        self._failed = failed
        self._failures: set[str] = set()
        self._found: Found | None = None
        self._at = 0
        self._moved = False
        self._task: asyncio.Task[None] | None = None
        self._dismissed = ""
        self._found_for = ""
        buffer.on_text_changed += lambda _: self.look_up()

    @property
    def open(self) -> bool:
        """Whether there is something to choose from."""
        return self._found is not None and bool(self._found.items)

    @property
    def wants_enter(self) -> bool:
        """Whether Enter takes the suggestion: not when what is typed is one of them already, or nothing of it is typed
        yet, unless the person has moved through the menu."""
        if self._found is None or not self._found.items:
            return False
        typed = self._found.prefix.strip()
        return self._moved or bool(typed and all(item.value.strip() != typed for item in self._found.items))

    def look_up(self, *, forced: bool = False) -> None:
        """Asks for suggestions; a Tab with only one takes it."""
        if self._task is not None:
            self._task.cancel()
        before = self._buffer.document.text_before_cursor
        if not before.strip() or (before == self._dismissed and not forced):
            self.close()
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._task = loop.create_task(self._asked(forced), name="zot:completions")

    def move(self, step: int) -> None:
        """The suggestion before or after."""
        if self._found is not None and self._found.items:
            self._at = (self._at + step) % len(self._found.items)
            self._moved = True

    def take(self) -> bool:
        """Inserts the suggestion; whether the text changed by that."""
        if self._found is None or not self._found.items:
            return False
        item, prefix = self._found.items[self._at], self._found.prefix
        if self._buffer.document.text_before_cursor != self._found_for:
            self.close()  # more was typed than was looked up: the menu speaks of something else
            return False
        changed = item.value.rstrip() != prefix.rstrip()
        self.close()
        document = self._buffer.document
        lines, line, column = self._provider().apply_completion(
            document.lines, document.cursor_position_row, document.cursor_position_col, item, prefix
        )
        at = sum(len(one) + 1 for one in lines[:line]) + column
        self._buffer.set_document(Document("\n".join(lines), max(0, min(at, len("\n".join(lines))))))
        return changed

    def close(self, *, dismiss: bool = False) -> None:
        """Closes the menu; dismissed it stays closed until something else is typed."""
        self._found = None
        self._at, self._moved = 0, False
        self._dismissed = self._buffer.document.text_before_cursor if dismiss else ""

    def lines(self, width: int, look: Look) -> list[Line]:
        """The menu, the chosen suggestion marked."""
        if self._found is None or not self._found.items:
            return []
        items = self._found.items
        first = max(0, min(self._at - ROWS // 2, len(items) - ROWS))
        shown = items[first : first + ROWS]
        column = min(max(width_of(one_line(item.label or item.value, 200)) for item in shown) + 2, width // 2)
        lines = []
        for number, item in enumerate(shown, first):
            here = number == self._at
            label = one_line(item.label or item.value, 200)
            line: Line = [
                (look.style("accent"), "› " if here else "  "),
                (look.style("selectedText") if here else "", label),
            ]
            if item.description:
                gap = " " * max(column - width_of(label), 2)
                line.append((look.style("dim"), gap + one_line(item.description, 200)))
            lines.append(cut(line, width))
        if len(items) > ROWS:
            lines.append([(look.style("dim"), f"  {self._at + 1} of {len(items)}")])
        return lines

    async def _asked(self, forced: bool) -> None:
        document = self._buffer.document
        try:
            found = await self._provider().get_suggestions(
                document.lines, document.cursor_position_row, document.cursor_position_col, forced=forced
            )
        except asyncio.CancelledError:
            raise
        except Exception as error:  # zot's own provider; the typing goes on without
            found = None
            if (reason := f"no completions: {type(error).__name__}: {error}") not in self._failures:
                self._failures.add(reason)
                self._failed(reason)
        if self._buffer.document.text_before_cursor != document.text_before_cursor:
            return
        self._found, self._at, self._moved = found, 0, False
        self._found_for = document.text_before_cursor
        if forced and found is not None and len(found.items) == 1:
            self.take()
        self._draw()

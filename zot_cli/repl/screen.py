"""The terminal: a live area that is redrawn, above it the terminal's own scrollback, which finished lines move into.

One prompt-toolkit Application for the whole session. Lines come from `above` and `below` each time a frame is drawn;
what is typed goes to the editor, or to the component that has taken its place. Must not know what the lines mean.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from prompt_toolkit.application import Application
from prompt_toolkit.application.current import set_app
from prompt_toolkit.application.run_in_terminal import in_terminal
from prompt_toolkit.data_structures import Size
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindingsBase, merge_key_bindings
from prompt_toolkit.layout import (
    ConditionalContainer,
    Container,
    DynamicContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.styles import Style

from zot_cli.repl.output import HeldOutput
from zot_cli.repl.spans import Line, to_ansi
from zot_core.ui.color import Depth

if TYPE_CHECKING:
    from prompt_toolkit.input import Input

TICK = 0.033
"""Seconds between two frames of what streams."""
PART = 0.66
"""The most of the screen that the live area takes: what a smaller terminal pushes out of it cannot be taken back."""
QUIET = 0.15
"""Seconds without a change of the width before the last screenful is printed anew."""
_DEPTHS = {
    "none": ColorDepth.DEPTH_1_BIT,
    "16": ColorDepth.DEPTH_4_BIT,
    "256": ColorDepth.DEPTH_8_BIT,
    "truecolor": ColorDepth.DEPTH_24_BIT,
}


class Screen:
    """`above(width, height)` and `below(width)` give the live lines around `body`; `resized(width)` is called once a
    change of the width has come to rest."""

    def __init__(
        self,
        *,
        input: Input | None,
        output: HeldOutput,
        body: Callable[[], Container],
        keys: Sequence[KeyBindingsBase],
        above: Callable[[int, int], list[Line]],
        below: Callable[[int], list[Line]],
        resized: Callable[[int], None],
        depth: Depth,
    ) -> None:
        self.output = output
        self.depth: Depth = depth
        self._above, self._below, self._resized = above, below, resized
        self._lines_above: list[Line] = []
        self._lines_below: list[Line] = []
        self.body = body
        self._lent = asyncio.Lock()
        self.guest: Application[Any] | None = None
        """An application that has the alternate screen meanwhile; frames are its."""
        self._tick: asyncio.TimerHandle | None = None
        self._settle: asyncio.TimerHandle | None = None
        self._width = 0
        self._rows = 0
        self._frozen = False
        self._listens = False
        self._waiting: list[Line] | None = None
        self.held_back = 0
        """Lines that came to be printed while the width changed; printing anew has to include them."""
        self._cost = 0.0
        self.app: Application[Any] = Application(
            layout=Layout(self._layout()),
            key_bindings=merge_key_bindings(list(keys)),
            style=Style([]),
            input=input,
            output=output,
            color_depth=_DEPTHS[depth],
            full_screen=False,
            erase_when_done=True,
            mouse_support=False,
            enable_page_navigation_bindings=False,
            terminal_size_polling_interval=None,
            before_render=lambda app: self._begin_frame(),
            after_render=lambda app: self._end_frame(),
        )
        self.app.ttimeoutlen = 0.05
        self.app.timeoutlen = 0.3

    # --- drawing -----------------------------------------------------------------------------------------------------

    @property
    def size(self) -> Size:
        """Rows and columns of the terminal."""
        return self.output.get_size()

    @property
    def width(self) -> int:
        """Columns that lines may take; the last one stays free, so that no line touches the edge."""
        return max(self.size.columns - 1, 20)

    def draw(self) -> None:
        """Has the next frame drawn soon, at once for what a key changed."""
        self._focus()
        if self.guest is not None:
            self.guest.invalidate()
        elif self.app.is_running and not self._frozen:
            self.app.invalidate()

    def draw_soon(self, change: Callable[[], None]) -> None:
        """Calls `change` at the next tick and draws then: for what comes many times a second."""
        if self._tick is None:
            loop = asyncio.get_running_loop()
            self._tick = loop.call_later(max(TICK, 4 * self._cost), self._ticked, change)

    def commit(self, lines: Sequence[Line]) -> None:
        """Moves lines up into the scrollback for good, and draws the live area below them, in one write."""
        if self._waiting is not None:
            self._waiting.extend(lines)
            return
        self._notice_width()
        if self._frozen:
            self.held_back += len(lines)  # the terminal has wrapped anew: nobody knows where the live area begins
            return
        text = to_ansi(lines, self.depth)
        if not self.app.is_running:
            self.output.write_raw(text)
            self.output.flush()
            return
        with self.output.held(), set_app(self.app):
            self.app.renderer.erase()
            self.output.write_raw(text)
            self._render()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Something else has the terminal: lines that come meanwhile are printed afterwards."""
        self._waiting = []
        try:
            yield
        finally:
            lines, self._waiting = self._waiting, None
            if lines:
                self.commit(lines)

    async def lend(self, app: Application[None]) -> None:
        """Runs another application in the alternate screen; returns when it is over."""
        async with self._lent:  # one after another: the lines that wait are one list
            with set_app(self.app), self.paused():
                async with in_terminal():
                    self.guest = app
                    try:
                        await app.run_async(handle_sigint=False, set_exception_handler=False)
                    finally:
                        self.guest = None
            self.size_changed()

    def end_guest(self) -> None:
        """Ends the application that has the alternate screen, if there is one."""
        if self.guest is not None and self.guest.is_running and not self.guest.is_done:
            self.guest.exit()

    def clear(self) -> None:
        """Empties screen and scrollback; only for what the person asked for."""
        with self.output.held(), set_app(self.app):
            self.app.renderer.erase()
            self.output.write_raw("\x1b[2J\x1b[3J\x1b[H")
            if self.app.is_running:
                self._render()

    def reprint(self, lines: Sequence[Line]) -> None:
        """Empties the visible screen, not the scrollback, and prints lines again at its top."""
        with self.output.held(), set_app(self.app):
            self.app.renderer.erase()
            self.output.write_raw("\x1b[H\x1b[2J" + to_ansi(lines, self.depth))
            self._render()

    def cost(self, seconds: float) -> None:
        """What the last rendering of the stream took: the next tick waits four times as long."""
        self._cost = min(seconds, 0.5)

    # --- running -----------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Draws and reads keys until `stop`. The terminal is as it was afterwards, whatever happened."""
        self._width, self._rows = self.size.columns, self.size.rows
        try:
            await self.app.run_async(handle_sigint=False, set_exception_handler=False)
        finally:
            for timer in (self._tick, self._settle):
                if timer is not None:
                    timer.cancel()

    def stop(self, error: BaseException | None = None) -> None:
        """Ends `run`."""
        if self.app.is_running and not self.app.is_done:
            with contextlib.suppress(Exception):  # a second end in the same step of the loop
                self.app.exit(exception=error) if error is not None else self.app.exit()

    def size_changed(self) -> None:
        """The terminal has another size (SIGWINCH)."""
        if self.guest is not None:
            return  # it draws; what is below is looked at when it has gone
        size = self.size
        if size.columns == self._width:
            self._rows = size.rows
            self.draw()
            return
        self._frozen = True
        if self._settle is not None:
            self._settle.cancel()
        self._settle = asyncio.get_running_loop().call_later(QUIET, self._came_to_rest)

    def _notice_width(self) -> None:
        """A burst of work may come between a change of the width and its signal."""
        if self.app.is_running and self.guest is None and self.size.columns != self._width:
            self.size_changed()

    def _came_to_rest(self) -> None:
        self._frozen, self._settle = False, None
        self._width, self._rows = self.size.columns, self.size.rows
        self._resized(self.width)

    def _ticked(self, change: Callable[[], None]) -> None:
        self._tick = None
        change()
        self.draw()

    # --- layout ------------------------------------------------------------------------------------------------------

    def _layout(self) -> HSplit:
        return HSplit(
            [
                self._window(lambda: self._lines_above),
                DynamicContainer(self.body),
                self._window(lambda: self._lines_below),
            ]
        )

    def _window(self, lines: Callable[[], list[Line]]) -> Container:
        window = Window(
            FormattedTextControl(lambda: fragments(lines()), focusable=False, show_cursor=False),
            height=lambda: Dimension.exact(len(lines())),
            dont_extend_height=True,
            wrap_lines=False,
        )
        return ConditionalContainer(window, Condition(lambda: bool(lines())))

    def _begin_frame(self) -> None:
        self._notice_width()
        self.output.hold()
        self._measure()

    def _end_frame(self) -> None:
        self.output.release()
        if not self._listens and hasattr(signal, "SIGWINCH"):
            # prompt-toolkit's own handler, which is there by now, draws at once, over lines that were wrapped anew.
            self._listens = True
            asyncio.get_running_loop().add_signal_handler(signal.SIGWINCH, self.size_changed)

    def _render(self) -> None:
        self._measure()
        self.app.render_counter += 1  # controls keep their text for as long as it stays
        self.app.renderer.render(self.app, self.app.layout)

    def _focus(self) -> Container:
        """What stands where people type has the cursor and the keys, from the next key on and not the next frame."""
        shown = self.body()
        if isinstance(shown, Window) and self.app.layout.current_window is not shown:
            self.app.layout.current_window = shown
        return shown

    def _measure(self) -> None:
        width, rows = self.width, self.size.rows
        self._lines_below = self._below(width)
        shown = self._focus()
        body = shown.preferred_height(width, rows).preferred
        most = max(int(rows * PART), rows - 12, 3)
        room = max(min(most, rows - 1) - body - len(self._lines_below), 0)
        before = len(self._lines_above)
        self._lines_above = self._above(width, room)[-room:] if room else []
        if len(self._lines_above) < before and self.app.renderer.last_rendered_screen is not None:
            # The area keeps its height otherwise, with blank rows where lines went away.
            self.app.renderer.erase()


def fragments(lines: list[Line]) -> StyleAndTextTuples:
    """Lines as prompt-toolkit has them."""
    found: StyleAndTextTuples = []
    for number, line in enumerate(lines):
        if number:
            found.append(("", "\n"))
        found.extend((_pt(style), text) for style, text in line)
    return found


def _pt(style: str) -> str:
    """A style in prompt-toolkit's words; it has no faint letters."""
    return style.replace("dim", "") if "dim" in style else style

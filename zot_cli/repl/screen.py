"""The terminal: a live area that is redrawn, above it the terminal's own scrollback, which finished lines move into.

One prompt-toolkit Application for the whole session. Lines come from `above` and `below` each time a frame is drawn;
what is typed goes to the editor, or to the component that has taken its place. Must not know what the lines mean.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from prompt_toolkit.application import Application
from prompt_toolkit.application.current import set_app
from prompt_toolkit.application.run_in_terminal import in_terminal
from prompt_toolkit.data_structures import Point, Size
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

from zot_cli.repl.ground import Ground, rewraps
from zot_cli.repl.inline import KITTY, KITTY_FORGET
from zot_cli.repl.modified_keys import KeysApplication
from zot_cli.repl.output import HeldOutput
from zot_cli.repl.spans import Line, cut, to_ansi
from zot_core.ui.color import Depth

if TYPE_CHECKING:
    from prompt_toolkit.input import Input

TICK = 0.033
"""Seconds between two frames of what streams."""
PART = 0.66
"""The most of the screen that the live area takes: what a smaller terminal pushes out of it cannot be taken back."""
QUIET = 0.15
"""Seconds without a change of the width before the last screenful is printed anew."""
QUIET_TMUX = 0.3
"""The same in tmux, which tells a size at most four times a second and wraps anew at once."""
MOVING = 0.3
"""Seconds after a change of the height in which the live area stays low: some terminals tell the next one so late."""
LOW = 4
"""Rows above the editor meanwhile."""
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
        self.lent = asyncio.Lock()
        self.guest: Application[Any] | None = None
        """An application that has the alternate screen meanwhile; frames are its."""
        self._tick: asyncio.TimerHandle | None = None
        self._settle: asyncio.TimerHandle | None = None
        self._width = self._rows = self._seen = 0
        self.width_before = 1
        """Columns that lines could take before the width changed last."""
        self._frozen = False
        self._listens = False
        self._waiting: list[tuple[Sequence[Line], int]] | None = None
        self._pictures = False
        self.held_from: int | None = None
        """Where in the transcript begins what came to be printed while the width changed: it is not printed yet."""
        self._cost = 0.0
        self._quiet = QUIET_TMUX if os.environ.get("TMUX") else QUIET
        self.ground = Ground(rewraps(os.environ))
        self.opening: list[Line] = []
        """What was printed before anything else; printed anew with the transcript's beginning."""
        self.area_rows = 0
        """Rows of the live area."""
        self._moved: asyncio.TimerHandle | None = None
        self.drawn = asyncio.Event()
        """Set with the first frame."""
        self.app: Application[Any] = KeysApplication(
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

    # --- drawing -----------------------------------------------------------------------------------------------------

    @property
    def size(self) -> Size:
        """Rows and columns of the terminal."""
        return self.output.get_size()

    @property
    def width(self) -> int:
        """Columns that lines may take; the last one stays free, so that no line touches the edge."""
        return max(self.size.columns - 1, 1)

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

    def commit(self, lines: Sequence[Line], begin: int = 0) -> None:
        """Moves lines up into the scrollback for good, and draws the live area below them, in one write. `begin` is
        where in the transcript they begin, for when they have to be made anew."""
        if self._waiting is not None:
            self._waiting.append((lines, begin))
            return
        self._notice_size()
        if self._frozen:  # the terminal has wrapped anew: nobody knows where the live area begins
            self.held_from = begin if self.held_from is None else min(self.held_from, begin)
            return
        text = self._printed(self.ground.left(lines))
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
            waiting, self._waiting = self._waiting, None
            if waiting:
                self.commit([line for lines, _ in waiting for line in lines], min(begin for _, begin in waiting))

    async def lend(self, app: Application[None]) -> None:
        """Runs another application in the alternate screen; returns when it is over."""
        async with self.lent:  # one after another: the lines that wait are one list
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
        self.forget()
        with self.output.held(), set_app(self.app):
            self.app.renderer.erase()
            self.output.write_raw("\x1b[2J\x1b[3J\x1b[H")
            if self.app.is_running:
                self._render()

    def forget(self) -> None:
        """What stands above belongs to somebody else from now on, and is not printed anew."""
        self.ground.forget()
        self.opening = []

    def suspend(self) -> None:
        """Gives the terminal to the shell until it is called back."""
        self.forget()
        self.app.suspend_to_background()

    def reprint(self, lines: Sequence[Line], *, scrollback: bool = False) -> None:
        """Prints lines in the place of what was printed before and is still seen, and leaves what others wrote above;
        `scrollback` empties that too."""
        size = self.size
        up = self.ground.erase(*reversed(size))
        with self.output.held(), set_app(self.app):
            self.app.renderer.reset()  # it would go up by rows that are others now
            if scrollback:
                self.output.write_raw("\x1b[2J\x1b[3J\x1b[H")
            else:
                self.output.write_raw("\x1b[H" if up == size.rows else f"\r\x1b[{up}A" if up else "\r")
                self.output.erase_down()
            if self._pictures:
                self.output.write_raw(KITTY_FORGET)
            self.output.write_raw(self._printed(lines))
            self._render()

    def _printed(self, lines: Sequence[Line]) -> str:
        """The bytes of lines that are printed for good."""
        text = to_ansi(self.ground.printed(lines, self.size.columns), self.depth)
        self._pictures = self._pictures or KITTY in text
        return text

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
            for timer in (self._tick, self._settle, self._moved):
                if timer is not None:
                    timer.cancel()

    def stop(self, error: BaseException | None = None) -> None:
        """Ends `run`."""
        if self.app.is_running and not self.app.is_done:
            with contextlib.suppress(Exception):  # a second end in the same step of the loop
                self.app.exit(exception=error) if error is not None else self.app.exit()

    def size_changed(self) -> None:
        """The terminal has another size (SIGWINCH)."""
        if self.guest is not None or self._waiting is not None:
            return  # who has the terminal draws; what is below is looked at when it has gone
        self._notice_size()
        self.draw()

    def _notice_size(self) -> None:
        """A burst of work may come between a change of the size and its signal."""
        if not self.app.is_running or self.guest is not None:
            return
        size, renderer = self.size, self.app.renderer
        if size.columns == self._width:
            if size.rows != self._rows and not self._frozen:
                self.ground.lowered(self._lines_above, self._cursor().y, size.rows)
                self._rows = size.rows
                renderer.erase()
                self._keep_low()
            return
        if not self._frozen:
            self._frozen = self.output.refused = True
            self.ground.drawn(renderer.last_rendered_screen, self._cursor())
        elif size.columns == self._seen:
            return
        self._seen = size.columns
        if self._settle is not None:
            self._settle.cancel()
        self._settle = asyncio.get_running_loop().call_later(self._quiet, self._came_to_rest)

    def _cursor(self) -> Point:
        """Where the terminal's cursor is in the live area."""
        shown = self.app.renderer.last_rendered_screen
        return Point(0, 0) if shown is None else shown.get_cursor_position(self.app.layout.current_window)

    def _keep_low(self) -> None:
        if self._moved is not None:
            self._moved.cancel()

        def over() -> None:
            self._moved = None
            self.draw()

        self._moved = asyncio.get_running_loop().call_later(MOVING, over)

    def _came_to_rest(self) -> None:
        self._frozen = self.output.refused = False
        self._settle = None
        self.width_before = max(self._width - 1, 1)
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
        self._notice_size()
        self.output.hold()
        self._measure()

    def _end_frame(self) -> None:
        self.output.release()
        self.drawn.set()
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
        self._lines_below = [cut(line, width) for line in self._below(width)]
        shown = self._focus()
        body = shown.preferred_height(width, rows).preferred
        most = max(int(rows * PART), rows - 12, 3)
        room = max(min(most, rows - 1) - body - len(self._lines_below), 0)
        if self._moved is not None:
            room = min(room, LOW)
        before = len(self._lines_above)
        above = self.ground.still_live(self._above(width, room + self.ground.pushed)) if room else []
        self._lines_above = [cut(line, width) for line in above[-room:]]
        self.area_rows = len(self._lines_above) + body + len(self._lines_below)
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
    return str(style.replace("dim", ""))  # a picture's style, which keeps the picture, does not go on from here

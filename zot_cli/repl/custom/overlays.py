"""Overlays: plugins' components over the conversation, in the alternate screen, so that nothing of it is lost.

Behind them stand the end of the transcript, what goes on, and the editor; lines that are finished meanwhile are printed
when the last overlay is gone. Keys are those of the focused overlay, of a dialog that was opened after it, or of the
editor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from prompt_toolkit.application import Application
from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import ConditionalKeyBindings, KeyBindings, merge_key_bindings
from prompt_toolkit.layout import (
    DynamicContainer,
    Float,
    FloatContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.styles import Style

from zot_cli.repl.components import Component, Stage
from zot_cli.repl.custom.held import Held
from zot_cli.repl.modified_keys import KeysApplication
from zot_cli.repl.screen import fragments
from zot_cli.repl.spans import Line, line_width
from zot_core.ui.overlay import OverlayOptions, Rectangle, place, width_in

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl


class Overlay:
    """An overlay, and the handle that its plugin has of it."""

    def __init__(self, overlays: Overlays, held: Held, options: OverlayOptions, hide: Callable[[], None]) -> None:
        self._overlays, self.held, self.options, self._hide = overlays, held, options, hide
        self._hidden = False
        self.lines: list[Line] = []
        self.place = Rectangle(0, 0, 1, 1)

    @property
    def is_hidden(self) -> bool:
        """Whether it is not drawn now."""
        return self._hidden

    @property
    def is_focused(self) -> bool:
        """Whether it has the keys."""
        return self._overlays.focused is self

    def focus(self) -> None:
        """Gives it the keys and brings it to the front."""
        self._overlays.focus(self)

    def unfocus(self, target: Any = None) -> None:
        """Leaves the keys to another overlay (by its handle), else to what is behind."""
        self._overlays.unfocus(self, target if isinstance(target, Overlay) else None)

    def set_hidden(self, hidden: bool) -> None:
        """Hides it or shows it again; hidden it has no keys."""
        self._hidden = hidden
        self._overlays.changed()

    def hide(self) -> None:
        """Takes it away for good; `ctx.ui.custom` answers None."""
        self._hide()


class _Keys(Stage):
    """The keys of the focused overlay."""

    def __init__(self, overlays: Overlays) -> None:
        super().__init__(lambda: None)
        self._overlays = overlays

    @property
    def active(self) -> bool:
        return self._overlays.has_keys

    def press(self, key: str) -> None:
        self._overlays.press(key)


class Overlays:
    """The overlays that are open, the front one last."""

    def __init__(self, repl: Repl) -> None:
        self._repl = repl
        self._open: list[Overlay] = []
        self.focused: Overlay | None = None
        self._depth = 0
        self._app: Application[None] | None = None
        self._behind: list[Line] = []
        self._below: list[Line] = []
        self._floats: list[Float] = []

    @property
    def has_keys(self) -> bool:
        """Whether an overlay has the keys: a dialog that was opened after it was focused goes before."""
        one = self.focused
        return one is not None and not one.is_hidden and self._repl.stage.depth <= self._depth

    def show(self, held: Held, options: OverlayOptions, hide: Callable[[], None]) -> Overlay:
        """Opens an overlay with the keys."""
        overlay = Overlay(self, held, options, hide)
        self._open.append(overlay)
        self.focus(overlay)
        return overlay

    def close(self, held: Component) -> None:
        """Takes an overlay away; the one behind it gets the keys."""
        kept = [one for one in self._open if one.held is not held]
        if len(kept) == len(self._open):
            return
        had = self.focused is not None and self.focused.held is held
        self._open = kept
        if had:
            self.focused = next((one for one in reversed(kept) if not one.is_hidden), None)
        self.changed()

    def focus(self, overlay: Overlay) -> None:
        """Gives an open overlay the keys."""
        if overlay in self._open:
            self._open = [*(one for one in self._open if one is not overlay), overlay]
            self.focused, self._depth = overlay, self._repl.stage.depth
            self.changed()

    def unfocus(self, overlay: Overlay, target: Overlay | None) -> None:
        """Takes the keys from an overlay that has them."""
        if self.focused is overlay:
            self.focused = None
            if target is not None:
                self.focus(target)
            self.changed()

    def press(self, key: str) -> None:
        """A key for the focused overlay."""
        if self.focused is not None:
            held = self.focused.held
            try:
                held.handle_key(key)
            except Exception as error:  # a plugin's component
                held.failed(error)
        self._repl.draw()

    def changed(self) -> None:
        """Opens the alternate screen for the first overlay that is to be seen, and leaves it after the last."""
        seen = any(not one.is_hidden for one in self._open)
        if seen and self._app is None:
            self._app = self._application()
            self._repl.begin(self._run(self._app), "overlays")
        elif not seen and self._app is not None:
            self.stop()
        self._repl.draw()

    def stop(self) -> None:
        """Leaves the alternate screen."""
        app, self._app = self._app, None
        if app is not None and app.is_running and not app.is_done:
            app.exit()

    # --- the alternate screen ----------------------------------------------------------------------------------------

    async def _run(self, app: Application[None]) -> None:
        if self._app is app:
            await self._repl.screen.lend(app)
        if self._app is app:  # it ended by itself
            self._app = None

    def _application(self) -> Application[None]:
        screen = self._repl.screen
        root = FloatContainer(
            HSplit(
                [self._window(lambda: self._behind), DynamicContainer(screen.body), self._window(lambda: self._below)]
            ),
            floats=self._floats,
        )
        keys = KeyBindings()
        _Keys(self).bind(keys)
        mine = Condition(lambda: self.has_keys)
        behind = screen.app.key_bindings
        assert behind is not None
        app: Application[None] = KeysApplication(
            layout=Layout(root),
            key_bindings=merge_key_bindings([ConditionalKeyBindings(behind, ~mine), keys]),
            style=Style([]),
            input=screen.app.input,
            output=screen.output,
            color_depth=screen.app.color_depth,
            full_screen=True,
            mouse_support=False,
            before_render=lambda _: self._measure(),
        )
        return app

    def _window(self, lines: Callable[[], list[Line]]) -> Window:
        control = FormattedTextControl(lambda: fragments(lines()), focusable=False, show_cursor=False)
        return Window(control, height=lambda: Dimension.exact(len(lines())), wrap_lines=False, dont_extend_height=True)

    def _measure(self) -> None:
        repl, screen = self._repl, self._repl.screen
        if screen.guest is not self._app:
            screen.end_guest()  # the last overlay went before the first frame
        size, width = screen.size, screen.width
        self._below = repl.below(width)
        body = screen.body()
        room = max(size.rows - body.preferred_height(width, size.rows).preferred - len(self._below), 0)
        lines = [*repl.transcript.last_lines(width, repl.look, room), *repl.above(width, room)]
        lines = lines[-room:] if room else []
        self._behind = [*([[]] * (room - len(lines))), *lines]
        if self._app is not None and isinstance(body, Window) and self._app.layout.current_window is not body:
            self._app.layout.current_window = body
        floats = []
        for overlay in list(self._open):
            if not overlay.is_hidden and self._lay_out(overlay, size.columns, size.rows):
                floats.append(_float(overlay))
        self._floats[:] = floats

    def _lay_out(self, overlay: Overlay, columns: int, rows: int) -> bool:
        """Draws an overlay and finds its place; False when it is not to be seen, or has broken and is closed."""
        options = overlay.options
        try:
            if options.visible is not None and not options.visible(columns, rows):
                return False
            overlay.lines = overlay.held.render(width_in(options, columns))
        except Exception as error:  # a plugin's component
            overlay.held.failed(error)
            return False
        overlay.place = place(options, columns, rows, len(overlay.lines))
        return True


def _float(overlay: Overlay) -> Float:
    where = overlay.place
    lines = [
        [*line, ("", " " * max(where.width - line_width(line), 0))]
        for line in [*overlay.lines[: where.height], *([[]] * (where.height - len(overlay.lines)))]
    ]
    window = Window(FormattedTextControl(fragments(lines), focusable=False, show_cursor=False), wrap_lines=False)
    return Float(window, left=where.left, top=where.top, width=where.width, height=where.height)

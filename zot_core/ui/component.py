"""Components: what plugins put on the screen. A component gives lines for a width and takes keys; that is all.

Lines are text with the theme's styles in it (`theme.fg`, `theme.bold`); what is too wide is cut and every other control
sequence is taken out. One that raises is closed and named, and the rest goes on. Knows no terminal.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import ClassVar

from zot_core.ui.ansi import padded, wrap

Background = Callable[[str], str]
"""Puts a whole line on a background, such as `lambda line: theme.bg("customMessageBg", line)`."""


class Component:
    """The base of components. Anything else that has these methods will do as well."""

    def render(self, width: int) -> list[str]:
        """Its lines, none wider than `width` columns. Called for each frame, so it should be cheap."""
        return []

    def handle_key(self, key: str) -> Awaitable[None] | None:
        """A key: `up`, `enter`, `esc`, `ctrl+x`, `f5`, or the character typed; a paste comes as one text. What it
        answers is awaited beside the screen, so it may be async."""
        return None

    def invalidate(self) -> None:
        """Drops what was kept of earlier frames: the theme has changed."""


class Container(Component):
    """Components below each other. Keys go to `focused`, if that is set."""

    def __init__(self, children: Iterable[Component] = ()) -> None:
        self.children: list[Component] = list(children)
        self.focused: Component | None = None

    def add(self, child: Component) -> None:
        """Adds a component at the end."""
        self.children.append(child)

    def remove(self, child: Component) -> None:
        """Takes a component out; one that is not there is nothing."""
        self.children = [one for one in self.children if one is not child]

    def clear(self) -> None:
        """Takes all out."""
        self.children.clear()

    def render(self, width: int) -> list[str]:
        """The lines of all, in order."""
        return [line for child in self.children for line in child.render(width)]

    def handle_key(self, key: str) -> Awaitable[None] | None:
        """A key for the focused component."""
        return None if self.focused is None else self.focused.handle_key(key)

    def invalidate(self) -> None:
        """Tells all."""
        for child in self.children:
            child.invalidate()


class Text(Component):
    """Text in as many lines as it needs. `key`, if given, takes the keys."""

    def __init__(
        self,
        text: str = "",
        padding_x: int = 0,
        padding_y: int = 0,
        *,
        background: Background | None = None,
        key: Callable[[str], object] | None = None,
    ) -> None:
        self._text = text
        self._padding_x, self._padding_y = padding_x, padding_y
        self._background, self._key = background, key

    @property
    def text(self) -> str:
        """What it says."""
        return self._text

    def set_text(self, text: str) -> None:
        """Says something else from the next frame on."""
        self._text = text

    def render(self, width: int) -> list[str]:
        """The text, wrapped; no line at all for an empty text."""
        if not self._text:
            return []
        room = max(width - 2 * self._padding_x, 1)
        return _framed(wrap(self._text, room), width, self._padding_x, self._padding_y, self._background)

    def handle_key(self, key: str) -> None:
        """A key for `key`."""
        if self._key is not None:
            self._key(key)


class Spacer(Component):
    """Blank lines."""

    def __init__(self, lines: int = 1) -> None:
        self.lines = lines

    def render(self, width: int) -> list[str]:
        """That many."""
        return [""] * self.lines


class Box(Container):
    """Components with room around them, on a background if one is given."""

    def __init__(
        self,
        padding_x: int = 1,
        padding_y: int = 1,
        background: Background | None = None,
        children: Iterable[Component] = (),
    ) -> None:
        super().__init__(children)
        self._padding_x, self._padding_y, self._background = padding_x, padding_y, background

    def render(self, width: int) -> list[str]:
        """The components' lines, framed; no line at all where they have none."""
        lines = super().render(max(width - 2 * self._padding_x, 1))
        return _framed(lines, width, self._padding_x, self._padding_y, self._background) if lines else []


class Border(Component):
    """A rule from edge to edge, in a style such as `lambda text: theme.fg("border", text)`."""

    def __init__(self, style: Callable[[str], str] | None = None) -> None:
        self._style = style

    def render(self, width: int) -> list[str]:
        """One line."""
        rule = "─" * width
        return [self._style(rule) if self._style is not None else rule]


class Markdown(Component):
    """Markdown as the screen shows answers. Where no screen is, the text is shown as it was written."""

    renderer: ClassVar[Callable[[str, int], list[str]] | None] = None
    """How the screen renders Markdown in a width; set by the screen."""

    def __init__(self, text: str = "", padding_x: int = 0, padding_y: int = 0) -> None:
        self._text = text
        self._padding_x, self._padding_y = padding_x, padding_y

    def set_text(self, text: str) -> None:
        """Says something else from the next frame on."""
        self._text = text

    def render(self, width: int) -> list[str]:
        """The rendered text."""
        if not self._text.strip():
            return []
        render = type(self).renderer or wrap
        lines = render(self._text, max(width - 2 * self._padding_x, 8))
        return _framed(lines, width, self._padding_x, self._padding_y, None)


def _framed(lines: list[str], width: int, padding_x: int, padding_y: int, background: Background | None) -> list[str]:
    before = " " * padding_x
    framed = [*[""] * padding_y, *(before + line for line in lines), *[""] * padding_y]
    return [background(padded(line, width)) for line in framed] if background is not None else framed

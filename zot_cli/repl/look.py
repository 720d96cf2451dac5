"""How things look: a style for each token of the theme, and what the terminal and the person's settings allow.

Immutable, so that a rendering depends on nothing else. Knows no terminal; `terminal.py` finds out what one can do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from zot_core.types.record import record
from zot_core.ui.color import Depth
from zot_core.ui.theme import Appearance, Theme, built_in
from zot_core.ui.tokens import KNOWN, is_background

if TYPE_CHECKING:
    from zot_cli.repl.custom.rendering import Rendering
    from zot_cli.repl.gallery import Gallery

ATTRIBUTES = {
    "mdHeading": "bold",
    "toolTitle": "bold",
    "userMessageText": "bold",
    "selectedText": "bold",
    "thinkingText": "italic",
    "mdQuote": "italic",
}
"""What letters of a token have beside a colour; it stays where there are no colours."""


@record(kw_only=True, eq=False)
class Look:
    """What renderers are given, compared as an object: renderings are kept by it. `expanded` shows tool results whole,
    `thinking` shows what the model thought."""

    theme: Theme
    styles: Mapping[str, str]
    depth: Depth = "truecolor"
    expanded: bool = False
    thinking: bool = True
    rendering: Rendering | None = None
    """What plugins draw themselves."""
    gallery: Gallery | None = None
    """The pictures that are ready to be drawn."""

    def style(self, token: str) -> str:
        """The style of a token of `zot_core.ui.tokens`. Raises KeyError for another."""
        return self.styles[token]

    def with_(self, **changes: object) -> Look:
        """A copy with other values."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def themed(self, theme: Theme) -> Look:
        """A copy in another theme."""
        return replace(self, theme=theme, styles=_styles(theme, self.depth))


def look_of(theme: Theme, depth: Depth = "truecolor") -> Look:
    """The look of a theme on a terminal with so many colours."""
    return Look(theme=theme, styles=_styles(theme, depth), depth=depth)


def default_look(appearance: Appearance, depth: Depth = "truecolor") -> Look:
    """The look of the built-in theme."""
    return look_of(built_in(appearance), depth)


def _styles(theme: Theme, depth: Depth) -> dict[str, str]:
    """Colours as the terminal has them: what comes nearest by itself may not be readable."""
    theme, styles = theme.at(depth), {}
    for token in KNOWN:
        colour = theme.style(token)
        where = "bg" if is_background(token) else "fg"
        words = ([] if colour.is_default else [f"{where}:{colour.name}"]) + (
            [ATTRIBUTES[token]] if token in ATTRIBUTES else []
        )
        styles[token] = " ".join(words)
    return styles

"""How things look: a style for each token of the theme, and what the terminal and the person's settings allow.

Immutable, so that a rendering depends on nothing else. Knows no terminal; `terminal.py` finds out what one can do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Literal

from zot_cli.repl.spans import Depth
from zot_core.types.record import record

DARK: Mapping[str, str] = {
    "text": "",
    "accent": "fg:#7aa2f7",
    "muted": "fg:#8b93a7",
    "dim": "fg:#6b7386",
    "success": "fg:#7fbf7f",
    "error": "fg:#f07178",
    "warning": "fg:#e0af68",
    "border": "fg:#4b5263",
    "user": "fg:#c0caf5 bold",
    "thinking": "fg:#8b93a7 italic",
    "toolTitle": "bold",
    "toolOutput": "fg:#a0a8bb",
    "toolDiffAdded": "fg:#7fbf7f",
    "toolDiffRemoved": "fg:#f07178",
    "toolDiffContext": "fg:#8b93a7",
    "mdHeading": "fg:#e0af68 bold",
    "mdLink": "fg:#7aa2f7",
    "mdCode": "fg:#94c9b7",
    "mdQuote": "fg:#8b93a7",
    "mdListBullet": "fg:#7aa2f7",
    "mdHr": "fg:#4b5263",
    "selected": "fg:#c0caf5 bold",
}
LIGHT: Mapping[str, str] = {
    "text": "",
    "accent": "fg:#2257c5",
    "muted": "fg:#5a6072",
    "dim": "fg:#6d7384",
    "success": "fg:#1d7a34",
    "error": "fg:#b3261e",
    "warning": "fg:#8a5a00",
    "border": "fg:#b4b9c6",
    "user": "fg:#1f2a4d bold",
    "thinking": "fg:#5a6072 italic",
    "toolTitle": "bold",
    "toolOutput": "fg:#4d5466",
    "toolDiffAdded": "fg:#1d7a34",
    "toolDiffRemoved": "fg:#b3261e",
    "toolDiffContext": "fg:#5a6072",
    "mdHeading": "fg:#8a5a00 bold",
    "mdLink": "fg:#2257c5",
    "mdCode": "fg:#0b6b57",
    "mdQuote": "fg:#5a6072",
    "mdListBullet": "fg:#2257c5",
    "mdHr": "fg:#b4b9c6",
    "selected": "fg:#1f2a4d bold",
}


@record(kw_only=True, eq=False)
class Look:
    """What renderers are given, compared as an object: renderings are kept by it. `expanded` shows tool results whole,
    `thinking` shows what the model thought."""

    styles: Mapping[str, str] = field(default_factory=lambda: DARK)
    kind: Literal["dark", "light"] = "dark"
    code_theme: str = "monokai"
    depth: Depth = "truecolor"
    expanded: bool = False
    thinking: bool = True
    unicode: bool = True

    def style(self, token: str) -> str:
        """The style of a token; nothing for one that the theme does not have."""
        return self.styles.get(token, "")

    def with_(self, **changes: object) -> Look:
        """A copy with other values."""
        return replace(self, **changes)  # type: ignore[arg-type]


def built_in(kind: Literal["dark", "light"], depth: Depth = "truecolor") -> Look:
    """The look without a theme of anybody."""
    light = kind == "light"
    return Look(styles=LIGHT if light else DARK, kind=kind, code_theme="default" if light else "monokai", depth=depth)

"""A theme: a colour for every token. `load_theme` reads one from a file, `built_in` gives dark and light.

Light to import: checking a file, and pydantic with it, comes with the first `load_theme`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from zot_core.config.problems import Problem
from zot_core.types.failure import ZotError
from zot_core.types.record import record
from zot_core.ui.color import DEFAULT, Color, Depth, Rgb, color_of, readable
from zot_core.ui.tokens import INSTEAD, is_background, nearest_token, token_of

Appearance: TypeAlias = Literal["dark", "light"]
"""What a theme is for: light text on dark, or dark text on light."""
FOLDER = Path(__file__).parent
BUILT_IN = (str(FOLDER / "dark.json"), str(FOLDER / "light.json"))
"""The files of the built-in themes."""


class ThemeError(ZotError):
    """A theme that cannot be used; `problems` is everything that is wrong with its file, each with its place."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


@record
class Spinner:
    """What moves while zot works. Empty or 0: the screen's own."""

    frames: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    interval_ms: int = 0


_BEHIND: dict[tuple[Appearance, Depth], Rgb] = {
    ("dark", "16"): (0, 0, 0),
    ("light", "16"): (255, 255, 255),
    ("dark", "256"): (40, 44, 52),
    ("light", "256"): (253, 246, 227),
}
"""What text is read on at the worst; terminals of sixteen colours have the plain one and choose theirs to fit it."""


@record(kw_only=True)
class Theme:
    """Colours by token. `missing` are those that the file does not have, so that they are the built-in theme's of the
    same appearance; `problems` says so, and what else was odd. `depth` is how many colours `style` may answer with."""

    name: str
    appearance: Appearance
    colors: Mapping[str, Color]
    path: str = ""
    description: str = ""
    spinner: Spinner = Spinner()
    missing: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    depth: Depth = "truecolor"

    def style(self, token: str) -> Color:
        """The colour of a token, as near as `depth` allows. Raises ThemeError for a token that there is not."""
        known = token_of(token)
        if known is None:
            near = nearest_token(token)
            hint = f"; did you mean {near}?" if near else ""
            raise ThemeError([Problem("error", "", None, f"there is no colour token {token!r}{hint}")])
        found = self.colors.get(known)
        if found is None:
            found = self.colors.get(INSTEAD.get(known, ""), DEFAULT)
        near_one = found.at(self.depth)
        if self.depth == "16" and is_background(known) and near_one != found:
            return DEFAULT  # a hint of colour behind text would become one of sixteen loud ones
        if near_one.index is None or near_one == found or is_background(known):
            return near_one
        return readable(near_one, found, _BEHIND[self.appearance, self.depth])

    def at(self, depth: Depth) -> Theme:
        """The theme for a terminal with so many colours."""
        return replace(self, depth=depth)

    def fg(self, token: str, text: str) -> str:
        """`text` in the colour of a token, as a terminal takes it."""
        return self._within(self.style(token).sgr(), text, "39")

    def bg(self, token: str, text: str) -> str:
        """`text` on the colour of a token."""
        return self._within(self.style(token).sgr(background=True), text, "49")

    def bold(self, text: str) -> str:
        """`text` in bold."""
        return self._within("1", text, "22")

    def italic(self, text: str) -> str:
        """`text` in italics."""
        return self._within("3", text, "23")

    def underline(self, text: str) -> str:
        """`text` underlined."""
        return self._within("4", text, "24")

    def strikethrough(self, text: str) -> str:
        """`text` struck through."""
        return self._within("9", text, "29")

    def _within(self, on: str, text: str, off: str) -> str:
        return text if not text or on == off else f"\x1b[{on}m{text}\x1b[{off}m"


def load_theme(path: str | Path, *, terminal: Appearance = "dark") -> Theme:
    """The theme in a file. Raises ThemeError with everything that is wrong with it.

    `terminal` is what the terminal looks like; it counts for a file that does not say what it is for.
    """
    from zot_core.ui.theme_file import read_theme

    return read_theme(str(path), terminal)


@cache
def built_in(appearance: Appearance) -> Theme:
    """The theme that is always there. Its file is zot's own, so that nothing checks it here; a test does."""
    path = str(FOLDER / f"{appearance}.json")
    data: dict[str, Any] = json.loads(Path(path).read_bytes())
    colors = {token: color_of(data["vars"].get(value, value)) or DEFAULT for token, value in data["colors"].items()}
    return Theme(
        name=data["name"], appearance=appearance, colors=colors, path=path, description=data.get("description", "")
    )

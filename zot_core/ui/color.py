"""Colours of themes: how they are written, how they look in 256 or 16 colours, how well one is read on another.

Numbers only; knows no token and no terminal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, TypeAlias

from zot_core.types.record import record

Depth: TypeAlias = Literal["none", "16", "256", "truecolor"]
"""How many colours a terminal has."""
Rgb: TypeAlias = tuple[int, int, int]

ANSI = (
    ("black", (0, 0, 0)),
    ("red", (205, 0, 0)),
    ("green", (0, 205, 0)),
    ("yellow", (205, 205, 0)),
    ("blue", (0, 0, 238)),
    ("magenta", (205, 0, 205)),
    ("cyan", (0, 205, 205)),
    ("gray", (229, 229, 229)),
    ("brightblack", (127, 127, 127)),
    ("brightred", (255, 0, 0)),
    ("brightgreen", (0, 255, 0)),
    ("brightyellow", (255, 255, 0)),
    ("brightblue", (92, 92, 255)),
    ("brightmagenta", (255, 0, 255)),
    ("brightcyan", (0, 255, 255)),
    ("white", (255, 255, 255)),
)
"""The first sixteen of 256 colours: their names, and what xterm makes of them; a terminal may show others."""
TEXT, FEW, DIM = 4.5, 4.2, 3.0
"""The contrast that text wants; what is enough of sixteen, where blue has no more; and for what may stand back."""
_HUES = (1, 3, 2, 6, 4, 5)
_LEVELS = (0, 95, 135, 175, 215, 255)
_HEX = re.compile(r"#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})", re.ASCII)


@record
class Color:
    """One of 256 colours (`index`), a mixture (`rgb`), or with neither the terminal's own."""

    index: int | None = None
    rgb: Rgb | None = None

    @property
    def is_default(self) -> bool:
        """Whether it is the terminal's own."""
        return self.index is None and self.rgb is None

    @property
    def name(self) -> str:
        """`#rrggbb`, `ansi` with a name for the first sixteen, "" for the terminal's own."""
        if self.index is not None and self.index < 16:
            return f"ansi{ANSI[self.index][0]}"
        rgb = self.as_rgb()
        return "" if rgb is None else "#{:02x}{:02x}{:02x}".format(*rgb)

    def as_rgb(self) -> Rgb | None:
        """Red, green and blue from 0 to 255; None for the terminal's own."""
        return self.rgb if self.index is None else rgb_of(self.index)

    def at(self, depth: Depth) -> Color:
        """The colour that comes nearest where there are no more than `depth`."""
        rgb = self.as_rgb()
        if rgb is None or depth == "truecolor":
            return self
        if depth == "none":
            return DEFAULT
        if self.index is not None and (depth == "256" or self.index < 16):
            return self
        return Color(_of_256(rgb) if depth == "256" else _of_16(rgb))

    def sgr(self, background: bool = False) -> str:
        """The numbers of the escape sequence that sets it, such as `38;5;208`."""
        base = 40 if background else 30
        if self.rgb is not None:
            return f"{base + 8};2;{self.rgb[0]};{self.rgb[1]};{self.rgb[2]}"
        if self.index is None:
            return str(base + 9)
        if self.index >= 16:
            return f"{base + 8};5;{self.index}"
        return str(base + self.index if self.index < 8 else base + 52 + self.index)


DEFAULT = Color()
"""The terminal's own colour."""


def color_of(value: object) -> Color | None:
    """The colour that a theme writes as `#rrggbb`, `#rgb`, a number from 0 to 255, or ""; None for all else."""
    if value == "":
        return DEFAULT
    if isinstance(value, int) and not isinstance(value, bool):
        return Color(value) if 0 <= value <= 255 else None
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        return None
    digits = value[1:] if len(value) == 7 else "".join(digit * 2 for digit in value[1:])
    return Color(None, (int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)))


def named(name: str) -> Color:
    """The colour of a `Color.name`. Raises ValueError for another text."""
    if name in ("", "default"):
        return DEFAULT
    for index, (known, _) in enumerate(ANSI):
        if name == f"ansi{known}":
            return Color(index)
    found = color_of(name)
    if found is None:
        raise ValueError(f"{name!r} is no colour")
    return found


def rgb_of(index: int) -> Rgb:
    """What xterm shows for one of its 256 colours."""
    if index < 16:
        return ANSI[index][1]
    if index >= 232:
        return (8 + 10 * (index - 232),) * 3
    cube = index - 16
    return _LEVELS[cube // 36], _LEVELS[cube // 6 % 6], _LEVELS[cube % 6]


@lru_cache(maxsize=1024)
def _of_256(rgb: Rgb) -> int:
    return min(range(16, 256), key=lambda index: _distance(rgb_of(index), rgb))


def _of_16(rgb: Rgb) -> int:
    """By hue, since the nearest of sixteen mixtures to a soft blue is a grey."""
    from colorsys import rgb_to_hls  # only for terminals of sixteen colours

    exact = next((index for index, (_, known) in enumerate(ANSI) if known == rgb), None)
    if exact is not None:
        return exact
    hue, light, _ = rgb_to_hls(*(part / 255 for part in rgb))
    if max(rgb) - min(rgb) < 40:
        return 0 if light < 0.2 else 8 if light < 0.6 else 7 if light < 0.85 else 15
    return _HUES[round(hue * 6) % 6] + (8 if light > 0.45 else 0)


def _distance(one: Rgb, other: Rgb) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def luminance(rgb: Rgb) -> float:
    """How bright a colour is, from 0 to 1, as WCAG 2 reckons."""
    parts = (part / 255 for part in rgb)
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Rgb, other: Rgb) -> float:
    """How well one colour is read on another, from 1 to 21, as WCAG 2 reckons; text wants 4.5."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def readable(color: Color, wanted: Color, behind: Rgb) -> Color:
    """`color`, which stands for `wanted` where there are few, or the one next to it that can be read on `behind`: of
    sixteen that of the other brightness, grey, or in the end the terminal's own; of 256 the nearest that can be."""
    rgb, goal = color.as_rgb(), wanted.as_rgb()
    if rgb is None or goal is None or color.index is None:
        return color
    least = min(contrast(goal, behind), TEXT if color.index >= 16 else FEW)
    if contrast(rgb, behind) >= least:
        return color
    if color.index >= 16:
        return Color(_readable_of_256(goal, behind, least))
    grey = len(set(rgb)) == 1
    for index in (color.index, color.index ^ 8, *((8,) if grey else ())):
        if contrast(rgb_of(index), behind) >= (DIM if grey else least):
            return Color(index)
    return DEFAULT


@lru_cache(maxsize=1024)
def _readable_of_256(rgb: Rgb, behind: Rgb, least: float) -> int:
    found = [index for index in range(16, 256) if contrast(rgb_of(index), behind) >= least]
    return min(found or range(16, 256), key=lambda index: _distance(rgb_of(index), rgb))


def depth_of(env: Mapping[str, str]) -> Depth:
    """How many colours a terminal has by its environment: `NO_COLOR`, `COLORTERM` and `TERM`."""
    term = env.get("TERM", "")
    if env.get("NO_COLOR") or term == "dumb":
        return "none"
    if env.get("COLORTERM") in ("truecolor", "24bit") or env.get("WT_SESSION") or term.endswith("-direct"):
        return "truecolor"
    return "256" if "256color" in term else "16"

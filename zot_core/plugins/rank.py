"""The order of plugins as data: who stands before whom, and why. Knows no plugin object."""

from __future__ import annotations

from typing import Final, NamedTuple

from zot_core.hooks.markers import Mark

EXPLICIT: Final = 0
PROJECT: Final = 1
USER: Final = 2
INSTALLED: Final = 3
BUILTIN: Final = 4
TIER_NAMES: Final = ("explicit", "project", "user", "installed", "built-in")
"""Names of the tiers by number: `--ext` and `--plugin`, the project's, the home's, installed packages, zot's own."""

FIRST: Final = 0
PLAIN: Final = 1
LAST: Final = 2
BAND_NAMES: Final = ("tryfirst", "", "trylast")


class Rank(NamedTuple):
    """An implementation's place in its chain; the smaller is asked first. `line` orders those of one plugin."""

    band: int
    tier: int
    position: int
    name: str
    line: int


def rank_of(mark: Mark, tier: int, position: int, name: str, line: int | None = None) -> Rank:
    """The rank of the implementation `mark` of the plugin `name`; `line` replaces the source line."""
    band = FIRST if mark.tryfirst else LAST if mark.trylast else PLAIN
    return Rank(band, tier, position, name, mark.line if line is None else line)

"""Panels: lines of text that a plugin shows in the editor's place and that get the person's keys.

Data only; the front end draws them and the plugin decides what a key does.
"""

from __future__ import annotations

from typing import Protocol

from zot_core.types.record import record

KEYS = (
    "up",
    "down",
    "left",
    "right",
    "enter",
    "esc",
    "tab",
    "pageup",
    "pagedown",
    "home",
    "end",
    "backspace",
    "delete",
    "rune",
)
"""The names that a panel's keys go by, as the extension protocol has them; `rune` comes with the character typed."""


@record(kw_only=True)
class Panel:
    """What a panel shows. `id` is its plugin's own name for it."""

    id: str
    title: str = ""
    lines: tuple[str, ...] = ()
    footer: str = ""


class PanelHandle(Protocol):
    """An open panel. After its end, whoever ended it, both methods do nothing."""

    def update(self, panel: Panel) -> None:
        """Shows `panel` in the place of what the panel showed."""

    def close(self) -> None:
        """Takes the panel away; its plugin is not told, since it asked."""

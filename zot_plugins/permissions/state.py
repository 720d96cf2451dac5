"""What a person has decided so far: the preset for the process, what was allowed for good by session. Knows no tool."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MOST = 100
"""Sessions that are remembered in one process, the latest."""


@dataclass(slots=True)
class Decided:
    """What was allowed for good in a session."""

    tools: set[str] = field(default_factory=set)
    everything: bool = False


_sessions: dict[str, Decided] = {}
_presets: dict[str, str] = {}
"""The preset that was chosen last in this process, by zot's home: a new session must not run what is asked about."""


def chosen_preset(ctx: Any) -> str:
    """The preset that a command chose, by a context or a session's facts; "" is the line's or the settings'."""
    return _presets.get(str(ctx.home), "")


def choose_preset(ctx: Any, preset: str) -> None:
    """Takes a preset for all sessions of this process; what was allowed for good in this one is asked about again."""
    _presets[str(ctx.home)] = preset
    state = decided(ctx.session.id)
    state.tools.clear()
    state.everything = False


def decided(session_id: str) -> Decided:
    """The session's decisions; a reload keeps them."""
    if session_id not in _sessions:
        for old in list(_sessions)[: len(_sessions) - MOST + 1]:
            del _sessions[old]
        _sessions[session_id] = Decided()
    return _sessions[session_id]

"""What a session's person has decided so far, by the session's id. Knows no tool."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST = 100
"""Sessions that are remembered in one process, the latest."""


@dataclass(slots=True)
class Decided:
    """The preset that was chosen in the session ("" is the line's or the settings'), and what was allowed for good."""

    preset: str = ""
    tools: set[str] = field(default_factory=set)
    everything: bool = False


_sessions: dict[str, Decided] = {}


def decided(session_id: str) -> Decided:
    """The session's decisions; a reload keeps them."""
    if session_id not in _sessions:
        for old in list(_sessions)[: len(_sessions) - MOST + 1]:
            del _sessions[old]
        _sessions[session_id] = Decided()
    return _sessions[session_id]

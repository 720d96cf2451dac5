"""What a session's person has decided so far, by the session's id. Knows no tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Decided:
    """The preset in force, the tools that were allowed for good, and the gate's own end."""

    preset: str = "full-access"
    tools: set[str] = field(default_factory=set)
    everything: bool = False
    down: Callable[[], None] | None = None


_sessions: dict[str, Decided] = {}


def decided(session_id: str) -> Decided:
    """The session's decisions."""
    return _sessions.setdefault(session_id, Decided())


def forget(session_id: str) -> None:
    """Drops a session's decisions."""
    _sessions.pop(session_id, None)

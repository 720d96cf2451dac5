"""Events of plugins themselves."""

from __future__ import annotations

from typing import Literal

from zot_core.events.base import Fact
from zot_core.types.record import record

__all__ = ["PluginErrorEvent", "ProcessStopEvent"]


@record(kw_only=True)
class PluginErrorEvent(Fact):
    """Sent to all plugins but the culprit when one of them broke; `hook_name` is where, `traceback` is text."""

    plugin: str
    hook_name: str
    message: str
    traceback: str = ""


@record(kw_only=True)
class ProcessStopEvent(Fact):
    """Sent to a plugin that a reload replaced or another session has no more, and to all at exit, side by side: release
    what outlasted sessions, such as what was made at import."""

    reason: Literal["replaced", "exit"]
    budget = (2.0, 10.0)

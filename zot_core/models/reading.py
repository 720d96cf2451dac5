"""What the parsers of all wire formats share: reading an event's JSON, ending with a failure, counting tokens.

Knows no wire format. A parser calls `scan` itself, because a call more for each delta is what it would cost.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from zot_core.models.failures import network_failure
from zot_core.net.sse import ServerEvent
from zot_core.types.failure import Failure
from zot_core.types.stream import Failed, StreamPart

scan: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
"""What `json.loads` calls in the end; without what it does before and after, a delta takes a fifth less."""


class EventParser:
    """Reads one response: `feed` each event, `finish` when the body has ended. After the last part nothing counts."""

    __slots__ = ("_ended",)

    def __init__(self) -> None:
        self._ended = False

    def feed(self, event: ServerEvent) -> list[StreamPart]:
        """The parts that an event brings."""
        raise NotImplementedError

    def _fail(self, failure: Failure) -> list[StreamPart]:
        self._ended = True
        return [Failed(failure)]

    def _odd(self, event: ServerEvent) -> list[StreamPart]:
        """What is no JSON is passed over, as keep-alives are; half an object means that something was lost."""
        plain = event.data.strip()
        if plain != event.data:
            return self.feed(ServerEvent(event.event, plain))
        if self._ended or not plain.startswith("{"):
            return []
        return self._fail(network_failure("a piece of the answer was damaged on the way"))


def count(value: Any) -> int:
    """A number of tokens as a server says it; 0 for what cannot be one."""
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e15 else 0

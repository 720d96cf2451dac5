"""Which failures another model may mend, and how long a model that failed is left alone.

A process's memory of accounts and servers, and so shared by its sessions.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from zot_core.types.failure import Failure

SECONDS = {"rate_limit": 60.0, "overloaded": 30.0, "network": 30.0, "provider": 60.0, "auth": 300.0}
"""By kind of failure; a server that asks for more gets it."""
SPENT = 3600.0
"""For an account without credit, which waiting does not mend soon, and for a model that is not there."""


def may_fall_back(failure: Failure) -> bool:
    """Whether another model could answer. A wrong request is wrong everywhere, and a full window is for compaction."""
    return failure.kind in SECONDS or failure.kind == "refused" or _is_gone(failure)


def seconds_for(failure: Failure) -> float:
    """How long the model is left alone; 0 for what depends on the request alone."""
    if _is_gone(failure) or (failure.kind == "rate_limit" and not failure.retryable and failure.retry_after is None):
        return SPENT
    own = SECONDS.get(failure.kind, 0.0)
    return max(own, failure.retry_after or 0.0)


def _is_gone(failure: Failure) -> bool:
    return failure.kind == "bad_request" and failure.status == 404


class Cooldowns:
    """Until when each model is left alone, and why."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._rows: dict[str, tuple[float, str]] = {}

    def note(self, model: str, failure: Failure) -> None:
        """The model failed."""
        if seconds := seconds_for(failure):
            self._rows[model] = (self._clock() + seconds, failure.kind)

    def left(self, model: str) -> float:
        """Seconds that are left of its cooldown; 0 when it has none."""
        until, _ = self._rows.get(model, (0.0, ""))
        return max(0.0, until - self._clock())

    def why(self, model: str) -> str:
        """The kind of failure that began its cooldown."""
        return self._rows.get(model, (0.0, ""))[1]

    def clear(self) -> None:
        """Forgets everything."""
        self._rows.clear()


COOLDOWNS = Cooldowns()

"""What a Messages answer says it used, and what that costs where a price list is more than one line.

Pure. Counts come twice, at the start and with the end, and what comes later replaces what it names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zot_core.models.reading import count
from zot_core.types.specs import ModelSpec
from zot_core.types.usage import Usage

HOUR_FACTOR = 2.0
"""What writing to the cache for an hour costs, in input prices; the price list of a model knows five minutes."""


class Counts:
    """The tokens of one answer as counted so far."""

    __slots__ = ("_hour", "_model", "_seen")

    def __init__(self, model: ModelSpec) -> None:
        self._model = model
        self._seen: dict[str, int] = {}
        self._hour = 0

    def take(self, usage: Mapping[str, Any]) -> Usage:
        """All that is known after `usage`. A zero where there was a number is a server that repeats only some."""
        for name in ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"):
            if tokens := count(usage.get(name)):
                self._seen[name] = tokens
        created = usage.get("cache_creation")
        if isinstance(created, Mapping):
            self._hour = count(created.get("ephemeral_1h_input_tokens")) or self._hour
        seen = self._seen.get
        found = Usage(
            input=seen("input_tokens", 0),
            output=seen("output_tokens", 0),
            cache_read=seen("cache_read_input_tokens", 0),
            cache_write=seen("cache_creation_input_tokens", 0),
        )
        return self._priced(found)

    def _priced(self, usage: Usage) -> Usage:
        """With its cost where the model's prices alone do not say it; else whoever counts costs does."""
        prices, times = self._model.prices, self._times(usage)
        hour = min(self._hour, usage.cache_write)
        if prices is None or (not hour and times == 1.0):
            return usage
        cost = (
            usage.input * prices.input
            + usage.output * prices.output
            + usage.cache_read * prices.cache_read
            + (usage.cache_write - hour) * prices.cache_write
            + hour * prices.input * HOUR_FACTOR
        )
        return Usage(
            input=usage.input,
            output=usage.output,
            cache_read=usage.cache_read,
            cache_write=usage.cache_write,
            cost=cost * times / 1_000_000,
        )

    def _times(self, usage: Usage) -> float:
        long = self._model.compat.get("longPrompts")
        if not isinstance(long, Mapping):
            return 1.0
        above, times = long.get("above"), long.get("times")
        if not isinstance(above, (int, float)) or not isinstance(times, (int, float)):
            return 1.0
        return float(times) if usage.input + usage.cache_read + usage.cache_write > above else 1.0

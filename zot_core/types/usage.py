"""What a model call used and what it cost, as counted by the provider."""

from __future__ import annotations

from zot_core.types.record import record


@record(kw_only=True)
class Usage:
    """Tokens of one or more model calls. `input` leaves out what came from the cache; `cost` is in US dollars."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float = 0.0

    @property
    def total(self) -> int:
        """All tokens together: what the call took of the model's window."""
        return self.input + self.output + self.cache_read + self.cache_write

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            cost=self.cost + other.cost,
        )

"""Events of one request to a model's server; only providers that speak HTTP have the first three."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zot_core.events.base import Fact, Gate
from zot_core.types.record import record

__all__ = [
    "AfterProviderResponseEvent",
    "BeforeProviderHeadersEvent",
    "BeforeProviderRequestEvent",
    "ProviderStreamEventEvent",
]


@record(kw_only=True)
class BeforeProviderHeadersEvent(Gate):
    """Sent once per request, after its headers are assembled; retries use the result again. A value of None removes a
    header. Holds the credential: do not log it."""

    provider: str
    model: str
    headers: Mapping[str, str | None]
    rewritable = frozenset({"headers"})
    modes = "all, HTTP"

    def withheld(self, notice: str) -> Any:
        return self.replace(headers={})


@record(kw_only=True)
class BeforeProviderRequestEvent(Gate):
    """Sent after `before_provider_headers`, with the payload in the provider's own format, right before it is sent."""

    provider: str
    model: str
    api: str
    payload: Any
    rewritable = frozenset({"payload"})
    modes = "all, HTTP"


@record(kw_only=True)
class AfterProviderResponseEvent(Fact):
    """Sent when the status and headers are there, before the body is read, for each attempt. Header names are lower
    case."""

    provider: str
    model: str
    status: int
    headers: Mapping[str, str]
    modes = "all, HTTP"


@record(kw_only=True)
class ProviderStreamEventEvent(Fact):
    """Sent for each event that the provider streams, in order, before it is made into parts. Read only, not stored."""

    provider: str
    model: str
    api: str
    data: Any

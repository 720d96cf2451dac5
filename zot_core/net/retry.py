"""When a failed request is tried again, and how long to wait before. Pure: no clock, no sleep, no network."""

from __future__ import annotations

import math
from collections.abc import Mapping

from zot_core.types.failure import Failure
from zot_core.types.record import record

RETRY_STATUS = frozenset({408, 409, 425, 429})
"""Statuses below 500 that may pass; every 5xx may."""


@record(kw_only=True)
class RetryPolicy:
    """`tries` counts the first request too. The wait before the n-th retry is `base * 2**(n-1)` seconds, plus up to
    `jitter` of itself; a server that asks for more than `longest` seconds is not waited for."""

    tries: int = 3
    base: float = 2.0
    jitter: float = 0.25
    longest: float = 60.0


def is_retryable_status(status: int) -> bool:
    """Whether a response with this status is worth another try, if its body does not say otherwise."""
    return status in RETRY_STATUS or 500 <= status < 600


def delay_before_retry(policy: RetryPolicy, attempt: int, failure: Failure, dice: float = 0.0) -> float | None:
    """Seconds to wait after the failed `attempt` (from 1), or None if that was the last word.

    `dice` is a random number from 0 to 1. A short Retry-After is a floor, never a reason to be faster.
    """
    if not failure.retryable or attempt >= policy.tries:
        return None
    asked = failure.retry_after or 0.0
    if asked > policy.longest:
        return None
    own = policy.base * 2 ** (attempt - 1)
    return float(max(asked, own + own * policy.jitter * dice))


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that a response asks to wait, from `retry-after-ms` or `retry-after` (seconds or an HTTP date).

    `headers` are lower case; `now` is seconds since the epoch. Past dates and negative numbers are 0; what makes no
    sense is None.
    """
    millis = _number(headers.get("retry-after-ms", ""))
    if millis is not None:
        return max(0.0, millis / 1000)
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    seconds = _number(text)
    if seconds is None:
        moment = _http_date(text)
        seconds = None if moment is None else moment - now
    return None if seconds is None else max(0.0, seconds)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _http_date(text: str) -> float | None:
    from email.utils import parsedate_to_datetime  # rare, and httpx has imported it by then

    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return None

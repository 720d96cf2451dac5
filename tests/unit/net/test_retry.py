"""Which failures are tried again, and how long the wait is."""

from __future__ import annotations

import pytest

from zot_core.net.retry import RetryPolicy, delay_before_retry, is_retryable_status, retry_after
from zot_core.types.failure import Failure

NOW = 1_700_000_000.0
PASSING = Failure(kind="overloaded", message="busy", retryable=True)


def wait(
    attempt: int, failure: Failure = PASSING, dice: float = 0.0, policy: RetryPolicy | None = None
) -> float | None:
    return delay_before_retry(policy or RetryPolicy(), attempt, failure, dice)


def test_three_tries_in_all_and_the_wait_doubles() -> None:
    assert [wait(attempt) for attempt in (1, 2, 3)] == [2.0, 4.0, None]


def test_jitter_only_adds() -> None:
    assert wait(1, dice=1.0) == 2.5
    assert 2.0 <= (wait(1, dice=0.3) or 0) <= 2.5


def test_what_is_not_retryable_is_not_tried_again() -> None:
    assert wait(1, Failure(kind="bad_request", message="no")) is None


@pytest.mark.parametrize(
    ("asked", "waited"), [(0.0, 2.0), (1.0, 2.0), (7.0, 7.0), (60.0, 60.0), (61.0, None), (11000, None)]
)
def test_a_short_hint_is_the_least_wait_and_a_long_one_ends_it(asked: float, waited: float | None) -> None:
    failure = Failure(kind="rate_limit", message="slow down", retryable=True, retry_after=asked)
    assert wait(1, failure) == waited


def test_a_hint_holds_even_when_the_own_wait_is_nothing() -> None:
    failure = Failure(kind="rate_limit", message="slow down", retryable=True, retry_after=2.0)
    assert wait(1, failure, policy=RetryPolicy(base=0)) == 2.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": " 11000 "}, 11000.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:50 GMT"}, 30.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:00 GMT"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "99"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Tue, 99 Foo 2023"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_every_form_of_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


def test_which_statuses_may_pass() -> None:
    passing = [status for status in range(200, 600) if is_retryable_status(status)]
    assert passing == [408, 409, 425, 429, *range(500, 600)]

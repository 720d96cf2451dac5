"""How a run or a model call can fail, in words that front ends, retry and exit codes share."""

from __future__ import annotations

from typing import Literal, TypeAlias

from zot_core.types.record import record

ErrorKind: TypeAlias = Literal[
    "auth",
    "rate_limit",
    "overloaded",
    "context_overflow",
    "bad_request",
    "refused",
    "network",
    "provider",
    "session",
    "blocked",
    "max_steps",
    "internal",
]
"""`network` includes a stream that was cut or went silent; `provider` is an error that has no better name;
`session` is a transcript that could not be written; `internal` is a fault of zot itself."""

StopReason: TypeAlias = Literal["end_turn", "tool_use", "length", "error", "aborted", "blocked"]
"""Why a turn ended, in the words of the command line's JSON events."""


@record(kw_only=True)
class Failure:
    """One failure: what happened in a sentence for a person, and what a program needs to go on.

    `retry_after` is in seconds, as the provider asked; `status` is its HTTP status.
    """

    kind: ErrorKind
    message: str
    retryable: bool = False
    retry_after: float | None = None
    status: int | None = None


class ZotError(Exception):
    """Base of the errors that zot raises on purpose; the message is meant to be read by a person."""


class UsageError(ZotError):
    """The command line or an argument is wrong: what was wrong, the nearest valid spelling, where help is. Exit 2."""


class RunFailed(ZotError):
    """A run that could not go on; `failure` says why. Raised across rooms, never across a provider's stream."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure

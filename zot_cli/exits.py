"""Exit codes, and the end of a process that something went wrong in: one line for a person, never a traceback.

Knows failures, no mode. What zot did not expect goes to a log file, with its traceback.
"""

from __future__ import annotations

import os
import time
import traceback
from typing import TYPE_CHECKING

from zot_core.types.failure import Failure, RunFailed, UsageError, ZotError
from zot_core.types.safe_text import error_text

if TYPE_CHECKING:
    from zot_core.types.failure import StopReason

DONE, FAILED, USAGE, BUSY = 0, 1, 2, 75
INTERRUPTED, TERMINATED, HUNG_UP = 130, 143, 129
_REASONS = {"error": "the run failed", "aborted": "the run was aborted", "blocked": "a plugin blocked the run"}
_BUSY_KINDS = frozenset({"rate_limit", "overloaded"})


def code_of(stop: StopReason, failure: Failure | None) -> int:
    """The exit code of a run that ended in this way by itself."""
    if failure is not None:
        return BUSY if failure.kind in _BUSY_KINDS else FAILED
    return FAILED if stop in ("error", "aborted", "blocked") else DONE


def reason_of(stop: StopReason, failure: Failure | None) -> str:
    """What to say of a run that failed; empty for one that did not."""
    if failure is not None:
        return failure.message
    return _REASONS.get(stop, "")


def failure_of(error: BaseException) -> Failure | UsageError:
    """What an exception that ended a run means. One that zot did not raise on purpose is logged with its traceback."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if isinstance(error, UsageError):
        return error
    if isinstance(error, RunFailed):
        return error.failure
    if isinstance(error, ZotError):
        return Failure(kind="internal", message=str(error))
    where = _log(error)
    said = f"internal error: {error_text(error)}"
    return Failure(kind="internal", message=f"{said}; log at {where}" if where else said)


def _log(error: BaseException) -> str:
    """Writes the traceback below zot's home and returns the file's path; empty when nothing can be written."""
    text = "".join(traceback.format_exception(error))
    try:
        from zot_core.config.paths import Paths, make_private

        paths = Paths.find()
        make_private(paths.home)
        make_private(paths.logs)
        file = paths.logs / "errors.log"
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} pid {os.getpid()}\n{text}\n")
        return str(file)
    except (OSError, ImportError, ZotError):
        # Not even a log can be written: the message on stderr carries what there is.
        return ""

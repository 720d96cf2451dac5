"""What a run does, as lines on a terminal's stderr: tool calls, retries, and one short line that is wiped again.

Knows a terminal's two simplest tricks (erase the line, dim text) and no events.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

from zot_cli.plain import one_line

if TYPE_CHECKING:
    from zot_core.app import App
    from zot_core.types.stream import Retrying

_BUSY = {"rate_limit": "rate limited", "overloaded": "the model's server is overloaded"}
_MAIN_ARGUMENTS = ("path", "command", "pattern", "url", "query")


class Progress:
    """Writes to a terminal, stderr's unless told otherwise. Raises OSError when the terminal is gone."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        dumb = os.environ.get("TERM", "dumb") == "dumb"
        self._erase = "" if dumb else "\r\x1b[K"
        self._dim, self._plain = ("", "") if dumb or os.environ.get("NO_COLOR") else ("\x1b[2m", "\x1b[0m")
        self._status = ""

    def line(self, text: str) -> None:
        """A line that stays. What is foreign in the text was cleaned by the caller, as `call_line` does."""
        self.status("")
        self._put(f"{self._dim}{text}{self._plain}\n")

    def status(self, text: str) -> None:
        """The line that the next one wipes; empty wipes it. Nothing on a terminal that cannot erase."""
        if not self._erase or text == self._status:
            return
        if self._status:
            self._put(self._erase)
        self._status = text
        if text:
            self._put(f"{self._dim}{one_line(text, 60)}{self._plain}")

    def _put(self, text: str) -> None:
        stream = self._stream or sys.stderr
        stream.write(text)
        stream.flush()


def call_line(name: str, args: Mapping[str, Any]) -> str:
    """A tool call in one line: its name and the argument that says most."""
    known = [str(args[key]) for key in _MAIN_ARGUMENTS if args.get(key)]
    others = [str(value) for value in args.values() if isinstance(value, (str, int)) and value]
    return f"· {one_line(name, 60)}  {one_line((known or others or [''])[0], 120)}".rstrip()


def failed_line(name: str, text: str) -> str:
    """A call that failed, with the beginning of what it answered."""
    return f"  {one_line(name, 60)} failed: {one_line(text, 120)}"


def retry_text(part: Retrying, retries: int) -> str:
    """A request that starts over: why, when, and which of how many `retries` it is."""
    why = _BUSY.get(part.failure.kind) or one_line(part.failure.message, 200).rstrip(".")
    if not part.delay:
        return f"{why}; trying another model"
    when = f"{part.delay:.0f} s" if part.delay >= 1 else f"{part.delay:.1f} s"
    return f"{why}; trying again in {when} ({part.attempt} of {max(retries, part.attempt)})"


def retries_of(app: App) -> int:
    """How often a request is sent again at most."""
    return max(app.runtime.settings.values.retry.attempts - 1, 0)

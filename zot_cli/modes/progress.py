"""What a run does, as lines on a terminal's stderr: tool calls, retries, and one short line that is wiped again.

Knows a terminal's two simplest tricks (erase the line, dim text) and no events.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from zot_cli.plain import one_line

_MAIN_ARGUMENTS = ("path", "command", "pattern", "url", "query")


class Progress:
    """Writes to a terminal. Raises OSError when the terminal is gone."""

    def __init__(self) -> None:
        dumb = os.environ.get("TERM", "dumb") == "dumb"
        self._erase = "" if dumb else "\r\x1b[K"
        self._dim, self._plain = ("", "") if dumb or os.environ.get("NO_COLOR") else ("\x1b[2m", "\x1b[0m")
        self._status = ""

    def line(self, text: str) -> None:
        """A line that stays. The text is cleaned and cut here."""
        self.status("")
        self._put(f"{self._dim}{one_line(text, 160)}{self._plain}\n")

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
        sys.stderr.write(text)
        sys.stderr.flush()


def call_line(name: str, args: Mapping[str, Any]) -> str:
    """A tool call in one line: its name and the argument that says most."""
    known = [str(args[key]) for key in _MAIN_ARGUMENTS if args.get(key)]
    others = [str(value) for value in args.values() if isinstance(value, (str, int)) and value]
    return f"· {name}  {(known or others or [''])[0]}".rstrip()

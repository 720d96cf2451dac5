"""The trace: who changed what, in which order, how long it took. A ring in memory; knows no file."""

from __future__ import annotations

from collections import deque
from typing import Literal

from zot_core.types.record import record

AnswerKind = Literal["none", "changed", "stopped", "answered", "ignored", "error"]


@record
class CallRecord:
    """One call of one implementation. `changed` are the fields that it rewrote; `elapsed_s` includes waiting."""

    hook: str
    plugin: str
    answer: AnswerKind
    changed: tuple[str, ...] = ()
    elapsed_s: float = 0.0
    error: str = ""


class Trace:
    """Keeps the last `size` calls that had an effect; with `everything` set also those that answered nothing."""

    def __init__(self, size: int = 2000, *, everything: bool = False) -> None:
        self.everything = everything
        self._ring: deque[CallRecord] = deque(maxlen=size)

    def add(self, record: CallRecord) -> None:
        """Adds a record; the oldest leaves when the ring is full."""
        self._ring.append(record)

    @property
    def rows(self) -> tuple[CallRecord, ...]:
        """The records, oldest first."""
        return tuple(self._ring)

    def clear(self) -> None:
        """Empties the ring."""
        self._ring.clear()

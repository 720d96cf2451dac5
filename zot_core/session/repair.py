"""Mending a session file that a crash or a bad disk left damaged: nothing readable is lost, nothing is said twice.

Only for a file whose lock is held.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from zot_core.session.errors import shown
from zot_core.session.scan import Scan
from zot_core.session.store import SessionFile, keep_aside
from zot_core.types.record import record


@record(kw_only=True)
class Repair:
    """What was found damaged and what became of it. `cut` bytes of a torn last line are in the file `kept_in` beside
    the session; `skipped` are the offsets of lines that cannot be read and stay where they are."""

    path: Path
    cut: int = 0
    kept_in: str = ""
    skipped: tuple[int, ...] = ()

    @property
    def message(self) -> str:
        """For a person, in a line."""
        parts = []
        if self.cut:
            parts.append(f"its last entry was not written to the end ({self.cut} bytes, kept in {self.kept_in})")
        if self.skipped:
            parts.append(f"{len(self.skipped)} of its lines could not be read and were left out")
        return f"session {shown(self.path)} was damaged: {'; '.join(parts)}; everything else is there"

    def fields(self) -> dict[str, Any]:
        """For the `repair` record."""
        return {"cut": self.cut, "kept_in": self.kept_in or None, "skipped": list(self.skipped)}


def mend(file: SessionFile, found: Scan, known: set[int]) -> Repair | None:
    """Makes the file end in a whole line. Returns what has to be said; nothing when nothing was lost.

    `known` are the offsets that earlier repairs told of. Raises SessionError if the file cannot be mended.
    """
    kept_in = keep_aside(file.path, found.tail) if found.tail else ""
    # What is torn is safe now; cutting it off also takes away stray blanks.
    file.truncate(found.size)
    if found.needs_newline:
        file.append(b"\n")
    skipped = tuple(offset for offset in found.lost if offset not in known)
    if not kept_in and not skipped:
        return None
    return Repair(path=file.path, cut=len(found.tail), kept_in=kept_in, skipped=skipped)

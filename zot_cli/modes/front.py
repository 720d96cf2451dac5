"""What the one-shot front ends share: an output that may break, and notes as lines on stderr.

A broken output ends the run by its own door (abort), so that the session stays whole and children are gone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from zot_cli import stdio
from zot_cli.plain import clean, one_line
from zot_cli.stdio import Output, OutputFailed, OutputGone

if TYPE_CHECKING:
    from zot_core.agent.sink import Stored
    from zot_core.frontend import Note

NOTE_WIDTH = 400


class Broken:
    """Base of print and JSON mode: writes until the output breaks, then remembers how and aborts the run."""

    plugin: object = None
    """None: a one-shot mode brings no plugin of its own."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self.broken: OutputGone | OutputFailed | None = None
        self.abort: Callable[[], object] | None = None

    def write(self, data: bytes) -> None:
        """Writes `data` unless the output broke before."""
        if self.broken is not None:
            return
        try:
            self._out.write(data)
        except (OutputGone, OutputFailed) as error:
            self.give_up(error)

    def give_up(self, error: OutputGone | OutputFailed) -> None:
        """Nothing more can be shown: ends the run."""
        self.broken = error
        if self.abort is not None:
            self.abort()


def note_text(note: Note, *, verbose: bool) -> str:
    """A note as text for stderr; empty for what only a screen shows. `verbose` lets zot's own small talk through."""
    if note.kind == "clear" or (note.kind == "diagnostic" and note.level in ("info", "success") and not verbose):
        return ""
    text = clean(note.text).strip("\n")
    source = one_line(note.by, 60)
    if note.kind == "plugin_error":
        return f"zot: plugin {source} failed in {note.hook}: {one_line(text, NOTE_WIDTH)}"
    if note.kind == "diagnostic":
        about = f"{source}: " if source else ""
        return f"zot: {note.level}: {about}{one_line(text, NOTE_WIDTH)}"
    level = f"{note.level}: " if note.level in ("warning", "error") else ""
    return f"[{source or 'zot'}] {level}{text}"


def withheld_by(stored: Stored) -> str:
    """Who withheld a message, and why, as far as that is known."""
    by = one_line(stored.plugin.removeprefix("ext:") or "a plugin", 60)
    return f"{by}: {one_line(stored.reason, NOTE_WIDTH)}" if stored.reason else by


def show_note(note: Note, *, verbose: bool = False) -> None:
    """A note on stderr."""
    text = note_text(note, verbose=verbose)
    if text:
        stdio.complain(text)

"""What stands between the transcript and the editor: working row, queue, notes. Pure: a state in, lines out."""

from __future__ import annotations

from zot_cli.plain import clean, one_line
from zot_cli.repl.custom.lines import spans_of
from zot_cli.repl.look import Look
from zot_cli.repl.numbers import arrows, duration, money
from zot_cli.repl.spans import Line, cut, wrap
from zot_cli.repl.state import Flash, State, Waiting
from zot_core.ui.editor import Working

SPINNER = ("⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏")
_TOKENS = {"info": "muted", "success": "success", "warning": "warning", "error": "error"}


def working_of(state: State, now: float, frame: str, words: str, hint: str) -> Working:
    """What goes on, for how long, what the run has used, and how to end it."""
    time = duration(max(now - state.since, 0))
    used = state.run_usage
    parts = (time, arrows(used) if used.total else "", money(used.cost) if used.cost else "", hint)
    return Working(frame=frame, words=words, details=" · ".join(filter(None, parts)))


def working_line(working: Working, look: Look) -> Line:
    """The working row."""
    line: Line = []
    if working.frame:
        accent = look.style("accent")
        line = [*((style or accent, text) for style, text in spans_of(working.frame)), ("", " ")]
    return [*line, ("", working.words), (look.style("dim"), f"  {working.details}")]


def waiting_lines(waiting: tuple[Waiting, ...], width: int, look: Look, hint: str) -> list[Line]:
    """What was typed meanwhile, in the order in which it will be sent."""
    words = {"steer": "next step", "follow_up": "afterwards"}
    lines = [cut([(look.style("muted"), f"  {words[one.kind]}: {one_line(one.text, 300)}")], width) for one in waiting]
    return [*lines, cut([(look.style("dim"), f"  {hint}")], width)] if lines and hint else lines


def flash_lines(flashes: tuple[Flash, ...], width: int, look: Look) -> list[Line]:
    """One-shot notes, the plugin's name in brackets."""
    lines: list[Line] = []
    for note in flashes:
        style = look.style(_TOKENS[note.level])
        source = one_line(note.source, 60) or "zot"
        lines += wrap(clean(note.text).strip("\n"), width, style, [(style, f"[{source}] ")], [("", "  ")])
    return lines

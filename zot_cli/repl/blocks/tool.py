"""A tool call as lines: its name, its arguments in short, how it goes, and its result folded. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zot_cli.plain import clean, one_line
from zot_cli.repl.blocks.picture import has_picture, picture_lines
from zot_cli.repl.look import Look
from zot_cli.repl.numbers import duration
from zot_cli.repl.spans import Line, cut, wrap
from zot_cli.repl.state import ToolRow
from zot_core.types.content import text_of

FOLDED = 12
"""Lines of a result that are shown before `ctrl+o`."""
LEAST = 12
"""Columns that a call keeps beside how it went."""
_SIGNS = {
    "writing": ("muted", "○"),
    "waiting": ("muted", "○"),
    "running": ("accent", "●"),
    "done": ("success", "●"),
    "failed": ("error", "●"),
    "blocked": ("warning", "●"),
    "aborted": ("warning", "●"),
}
_MAIN = ("command", "path", "pattern", "url", "query", "name")
"""Arguments that say most of a call, in this order."""


def tool_lines(row: ToolRow, width: int, look: Look, now: float) -> list[Line]:
    """The row and what came of it, drawn by the tool's plugin where it does so."""
    drawing = look.rendering
    if drawing is None:
        return [*_head(row, width, look, now), *_body(row, width, look)]
    own = drawing.own_shell(row)
    room = width if own else max(width - 2, 1)
    call, result = drawing.call(row, room, look), drawing.result(row, room, look)
    token, sign = _SIGNS[row.status]
    if call is not None and not own:
        call = [[(look.style(token) if not n else "", "  " if n else f"{sign} "), *line] for n, line in enumerate(call)]
    if result is not None and not own:
        result = [[("", "  "), *line] for line in result]
        if row.done and not has_picture(result):
            result += picture_lines(row.result, width, look, [("", "  ")])
    head = _head(row, width, look, now) if call is None else call
    return [*head, *(_body(row, width, look) if result is None else result)]


def _head(row: ToolRow, width: int, look: Look, now: float) -> list[Line]:
    token, sign = _SIGNS[row.status]
    head: Line = [(look.style(token), f"{sign} "), (look.style("toolTitle"), one_line(row.name, 60))]
    said = summary(row.args)
    if said:
        head.append((look.style("muted"), f"  {said}"))
    words, time = _after(row, now)
    after = " · ".join(filter(None, (words, time)))
    if width - len(after) - 2 < LEAST:
        after = words
    if after:
        head = cut(head, max(width - len(after) - 2, LEAST))
        head.append((look.style("dim"), f"  {after}"))
    return [cut(head, width)]


def summary(args: Mapping[str, Any]) -> str:
    """The argument that says most, and the others in short."""
    main = next((name for name in _MAIN if args.get(name)), None)
    rest = [f"{name}={one_line(str(value), 40)}" for name, value in args.items() if name != main and _short(value)]
    first = [one_line(str(args[main]), 300)] if main else []
    return "  ".join([*first, *rest])


def _short(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool)) and value not in ("", None) and len(str(value)) <= 60


def _after(row: ToolRow, now: float) -> tuple[str, str]:
    """How it went, and how long it took where that is worth a word."""
    took = row.took if row.took is not None else (now - row.since if row.status == "running" and row.since else 0)
    words = row.status if row.status in ("blocked", "aborted", "failed") else ""
    return words, duration(took, 1) if took >= 1 else ""


def _body(row: ToolRow, width: int, look: Look) -> list[Line]:
    if row.details and isinstance(diff := row.details.get("diff"), str) and diff and row.status == "done":
        return _folded(diff_lines(diff, width, look), width, look, "lines of the diff")
    text = clean(text_of(row.result) if row.done else row.progress).strip("\n")
    style = look.style("error" if row.status in ("failed", "blocked") else "toolOutput")
    if not row.done:
        lines = wrap("\n".join(text.split("\n")[-FOLDED:]), width, style, [("", "  ")]) if text else []
        return lines[-FOLDED:]
    said = _folded(wrap(text, width, style, [("", "  ")]), width, look, "lines") if text else []
    return [*said, *_folded(picture_lines(row.result, width, look, [("", "  ")]), width, look, "pictures")]


def _folded(lines: list[Line], width: int, look: Look, what: str) -> list[Line]:
    hidden = len(lines) - FOLDED
    if look.expanded or hidden < 2:
        return lines
    return [*lines[:FOLDED], cut([(look.style("dim"), f"  … {hidden} more {what} (ctrl+o)")], width)]


def diff_lines(diff: str, width: int, look: Look) -> list[Line]:
    """A unified diff, its header left out, added and removed lines coloured."""
    tokens = {"+": "toolDiffAdded", "-": "toolDiffRemoved", "@": "dim"}
    lines: list[Line] = []
    for text in clean(diff).rstrip("\n").split("\n"):
        if text.startswith(("--- ", "+++ ")):
            continue
        style = look.style(tokens.get(text[:1], "toolDiffContext"))
        lines += wrap(text, width, style, [("", "  ")])
    return lines

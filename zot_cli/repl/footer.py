"""The footer: where one is, which model, how full its window is, what was used, and what is wrong. Pure: facts in,
lines out.

What does not fit gives way in an order; the model and its window stay longest. Knows no session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from zot_cli.plain import one_line
from zot_cli.repl.look import Look
from zot_cli.repl.numbers import amount, arrows, money
from zot_cli.repl.spans import Line, cut, cut_left, line_width, width_of
from zot_core.types.record import record
from zot_core.types.usage import Usage

FULL = 80
"""Percent of the window from which on its share is coloured."""
LEAST = 12
"""Columns below which the folder says nothing any more."""


@record(kw_only=True)
class Facts:
    """What the footer tells of the session. `window` 0: no model is chosen. `used` is what the whole session used;
    `warnings` are a few words each."""

    cwd: str = ""
    branch: str = ""
    model: str = ""
    level: str = ""
    tokens: int = 0
    window: int = 0
    cost: float = 0.0
    used: Usage = field(default_factory=Usage)
    session: str = ""
    subagents: float | None = None
    warnings: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """Percent of the window in use, 0 without a model."""
        return 100 * self.tokens / self.window if self.window else 0.0


def footer_lines(facts: Facts, statuses: Mapping[str, str], width: int, look: Look) -> list[Line]:
    """One line, and a second one for what it has no room for, for warnings and for what plugins say."""
    style = look.style("dim")
    right, counts = _right(facts, width, look), _counts(facts, style)
    told: list[Line] = [[(look.style("warning"), f"! {one_line(text, 60)}")] for text in facts.warnings]
    said: list[Line] = [[(style, one_line(text, 60))] for _, text in sorted(statuses.items()) if text]
    whole = [*right, *counts]
    room = width - line_width(_joined(whole, style)) - 3
    if width_of(_place(facts)) <= room:
        first, second = [[(style, _place(facts))], *whole], [*told, *said]
    else:
        room = width - line_width(_joined(right, style)) - 3
        place = _place_within(facts, room)
        first, second = [*([[(style, place)]] if place else []), *right], _fitting(told, counts, said, width)
    lines = [cut(_joined(first, style), width)]
    return [*lines, cut(_joined(second, style), width)] if second else lines


def _right(facts: Facts, width: int, look: Look) -> list[Line]:
    """Model, level and window; of too long a name the end goes, the level before it."""
    style = look.style("dim")
    model = facts.model or "no model"
    level = facts.level if facts.level != "off" else ""
    window: list[Line] = []
    if facts.window:
        share = f"{facts.share:.0f}% of {amount(facts.window)}"
        window = [[(look.style("warning") if facts.share > FULL else style, share)]]
    rest = line_width(_joined(window, style)) + 3 if window else 0
    if level and width_of(model) + 3 + width_of(level) + rest > width:
        level = ""
    name = cut([(style, model)], max(width - rest, 1))
    return [name, *([[(style, level)]] if level else []), *window]


def _counts(facts: Facts, style: str) -> list[Line]:
    """Tokens to and from models, and the cost with that of sub-agents."""
    parts: list[Line] = []
    if facts.used.total:
        parts.append([(style, arrows(facts.used))])
    if facts.cost or facts.subagents is not None:
        more = "" if facts.subagents is None else f" (+{money(facts.subagents)[1:]})"
        parts.append([(style, (money(facts.cost) if facts.cost else "$0") + more)])
    return parts


def _fitting(told: list[Line], counts: list[Line], said: list[Line], width: int) -> list[Line]:
    """The second line: tokens and then the cost give way to what plugins say, and everything to warnings."""
    while counts and line_width(_joined([*told, *counts, *said], "")) > width:
        counts = counts[1:]
    return [*told, *counts, *said]


def _place(facts: Facts) -> str:
    return " · ".join(filter(None, (_folder(facts.cwd, facts.branch), facts.session)))


def _folder(cwd: str, branch: str) -> str:
    return f"{cwd} ({branch})" if branch else cwd


def _place_within(facts: Facts, room: int) -> str:
    """The place in so many columns: the folder's path goes first, then the session's name, then the branch."""
    short = facts.cwd.rpartition("/")[2] or facts.cwd
    last = f"…/{short}" if width_of(short) + 2 < width_of(facts.cwd) else facts.cwd
    tries: Sequence[str] = (
        _place(facts),
        " · ".join(filter(None, (_folder(last, facts.branch), facts.session))),
        _folder(facts.cwd, facts.branch),
        _folder(last, facts.branch),
        last,
    )
    found = next((text for text in tries if width_of(text) <= room), None)
    if found is not None:
        return found
    return cut_left(facts.cwd, room) if room >= LEAST else ""


def _joined(parts: list[Line], style: str) -> Line:
    line: Line = []
    for part in parts:
        line += [(style, " · "), *part] if line else part
    return line

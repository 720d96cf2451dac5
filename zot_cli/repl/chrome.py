"""What stands around the transcript: working row, queue, notes, footer. Pure: facts in, lines out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from zot_cli.plain import clean, one_line
from zot_cli.repl.custom.lines import spans_of
from zot_cli.repl.look import Look
from zot_cli.repl.spans import Line, cut, cut_left, line_width, width_of, wrap
from zot_cli.repl.state import Flash, State, Waiting
from zot_core.types.record import record

SPINNER = ("⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏")
_TOKENS = {"info": "muted", "success": "success", "warning": "warning", "error": "error"}


@record(kw_only=True)
class Facts:
    """What the footer tells of the session. `window` 0: no model is chosen."""

    cwd: str = ""
    branch: str = ""
    model: str = ""
    level: str = ""
    tokens: int = 0
    window: int = 0
    cost: float = 0.0
    session: str = ""
    subagents: float | None = None
    hints: Mapping[str, str] = field(default_factory=dict)


def working_line(state: State, look: Look, now: float, frame: str, words: str, hint: str) -> Line:
    """The spinner, what goes on, for how long, and what the run has used."""
    passed = max(now - state.since, 0)
    time = f"{passed:.0f} s" if passed < 60 else f"{passed // 60:.0f} min {passed % 60:.0f} s"
    used = state.run_usage
    parts = [time]
    if used.total:
        parts.append(f"↑{amount(used.input + used.cache_read + used.cache_write)} ↓{amount(used.output)}")
    if used.cost:
        parts.append(money(used.cost))
    if hint:
        parts.append(hint)
    line: Line = []
    if frame:
        accent = look.style("accent")
        line = [*((style or accent, text) for style, text in spans_of(frame)), ("", " ")]
    return [*line, ("", words), (look.style("dim"), f"  {' · '.join(parts)}")]


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


def footer_lines(facts: Facts, statuses: Mapping[str, str], width: int, look: Look) -> list[Line]:
    """Where one is, which model, how full its window is, what it cost; and what plugins say."""
    style, warn = look.style("dim"), look.style("warning")
    place = (
        facts.cwd + (f" ({facts.branch})" if facts.branch else "") + (f" · {facts.session}" if facts.session else "")
    )
    model = facts.model + (f" · {facts.level}" if facts.level and facts.level != "off" else "")
    parts: list[Line] = [[(style, model or "no model")]]
    if facts.window:
        percent = 100 * facts.tokens / facts.window
        used = f"{percent:.0f}% of {amount(facts.window)}"
        parts.append([(warn if percent > 80 else style, used)])
    if facts.cost or facts.subagents is not None:
        more = "" if facts.subagents is None else f" (+{money(facts.subagents)[1:]})"
        parts.append([(style, (money(facts.cost) if facts.cost else "$0") + more)])
    right = _joined(parts, style)
    room = width - line_width(right) - 3
    if room >= 12 or width_of(place) <= room:
        lines = [cut([(style, cut_left(place, max(room, 1))), (style, " · "), *right], width)]
    else:
        lines = [cut(right, width)]
    told = "  ".join(one_line(text, 60) for _, text in sorted(statuses.items()) if text)
    return [*lines, cut([(style, told)], width)] if told else lines


def amount(tokens: int) -> str:
    """Tokens in short: 950, 12.3k, 1.2M."""
    if tokens < 1000:
        return str(tokens)
    if tokens < 1_000_000:
        return f"{tokens / 1000:.1f}k" if tokens < 100_000 else f"{tokens / 1000:.0f}k"
    return f"{tokens / 1_000_000:.1f}M"


def money(dollars: float) -> str:
    """US dollars, with as many places as say something."""
    return f"${dollars:.2f}" if dollars >= 0.1 else f"${dollars:.4f}"


def _joined(parts: list[Line], style: str) -> Line:
    line: Line = []
    for part in parts:
        line += [(style, " · "), *part] if line else part
    return line

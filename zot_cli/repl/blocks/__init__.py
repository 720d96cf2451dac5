"""How each kind of block looks: a block, a width and a look give lines. Pure; knows no screen and no session.

What models, tools and plugins wrote is cleaned of control sequences here, in one place, before it becomes a line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zot_cli.plain import clean, one_line
from zot_cli.repl.blocks.picture import picture_lines
from zot_cli.repl.blocks.tool import tool_lines
from zot_cli.repl.look import Look
from zot_cli.repl.markdown import blocks_of, render_block
from zot_cli.repl.spans import Line, cut, plain, wrap
from zot_cli.repl.state import Answer, Block, Card, Custom, Said, Thought, Told, ToolRow
from zot_core.types.content import text_of

THOUGHT_LINES = 6
"""Lines of thinking that are shown folded, the last ones."""
_SIGNS = {"info": "", "success": "✓ ", "warning": "! ", "error": "✗ "}


def render(block: Block, width: int, look: Look, now: float = 0.0) -> list[Line]:
    """The lines of a block, none wider than `width`. `now` is for what still runs."""
    return _RENDERERS[type(block)](block, width, look, now)


def _said(block: Said, width: int, look: Look, now: float) -> list[Line]:
    text = clean(_changed(block.text, "user", False, width - 2, look)).rstrip("\n")
    first: Line = [(look.style("accent"), "› ")]
    lines = wrap(text, width, look.style("userMessageText"), first, [("", "  ")])
    pictures = picture_lines(block.pictures, width, look, [("", "  ")])
    if pictures and not text:
        return [[*first, *pictures[0][1:]], *pictures[1:]]
    return [*lines, *pictures]


def _answer(block: Answer, width: int, look: Look, now: float) -> list[Line]:
    if block.withheld:
        why = f": {one_line(block.reason, 500)}" if block.reason else ""
        return wrap(f"(a plugin withheld this answer{why})", width, look.style("muted"))
    lines: list[Line] = []
    for part in blocks_of(clean(_changed(block.text, "assistant", not block.done, width, look))):
        if lines:
            lines.append([])
        lines += render_block(part, width, look)
    return lines


def _thought(block: Thought, width: int, look: Look, now: float) -> list[Line]:
    if not look.thinking:
        return [[(look.style("thinkingText"), "Thought." if block.done else "Thinking …")]]
    text = _changed(block.text, "assistant-thinking", not block.done, width - 2, look)
    lines = wrap(clean(text).strip("\n"), width, look.style("thinkingText"), [("", "  ")])
    hidden = len(lines) - THOUGHT_LINES
    if look.expanded or hidden < 2:
        return lines
    return [cut([(look.style("dim"), f"  … {hidden} lines of thinking")], width), *lines[-THOUGHT_LINES:]]


def _told(block: Told, width: int, look: Look, now: float) -> list[Line]:
    style = look.style({"info": "muted", "success": "success", "warning": "warning", "error": "error"}[block.level])
    source = _label(block.source, width) if block.source else ""
    first: Line = [(style, f"{_SIGNS[block.level]}{source}")] if source or _SIGNS[block.level] else []
    if block.markdown:
        lines: list[Line] = [first] if first else []
        for part in blocks_of(clean(block.text)):
            lines += [*([[]] if lines and lines != [first] else []), *render_block(part, width, look)]
        return lines
    return wrap(clean(block.text).strip("\n"), width, style, first, [("", "  ")] if first else [])


def _custom(block: Custom, width: int, look: Look, now: float) -> list[Line]:
    own = look.rendering.message(block, width, look) if look.rendering is not None else None
    if own is not None:
        return own
    text = clean(text_of(block.content))
    first: Line = [(look.style("accent"), _label(block.custom_type, width))]
    lines = wrap(text, width, look.style("muted"), first, [("", "  ")])
    return [*lines, *picture_lines(block.content, width, look, [("", "  ")])]


def _card(block: Card, width: int, look: Look, now: float) -> list[Line]:
    own = look.rendering.entry(block, width, look) if look.rendering is not None else None
    if own is not None:
        return own
    said = one_line(" ".join(f"{name}={value}" for name, value in block.data.items()), 300)
    label = _label(block.custom_type, width)
    return wrap(said, width, look.style("muted"), [(look.style("accent"), label)], [("", "  ")])


def _label(source: str, width: int) -> str:
    """Whose it is, in brackets, with room left for what it says."""
    return f"[{plain(cut([('', one_line(source, 60))], max(width // 2 - 3, 1)))}] "


def _changed(text: str, kind: Any, streaming: bool, width: int, look: Look) -> str:
    """The text as plugins want it shown."""
    return look.rendering.markdown(text, kind, streaming, width) if look.rendering is not None else text


_RENDERERS: dict[type[Any], Callable[[Any, int, Look, float], list[Line]]] = {
    Said: _said,
    Answer: _answer,
    Thought: _thought,
    ToolRow: tool_lines,
    Told: _told,
    Custom: _custom,
    Card: _card,
}

"""How each kind of block looks: a block, a width and a look give lines. Pure; knows no screen and no session.

What models, tools and plugins wrote is cleaned of control sequences here, in one place, before it becomes a line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zot_cli.plain import clean, one_line
from zot_cli.repl.blocks.tool import tool_lines
from zot_cli.repl.look import Look
from zot_cli.repl.markdown import blocks_of, render_block
from zot_cli.repl.spans import Line, wrap
from zot_cli.repl.state import Answer, Block, Card, Custom, Said, Thought, Told, ToolRow
from zot_core.types.content import text_of

THOUGHT_LINES = 6
"""Lines of thinking that are shown folded, the last ones."""
_SIGNS = {"info": "", "success": "✓ ", "warning": "! ", "error": "✗ "}


def render(block: Block, width: int, look: Look, now: float = 0.0) -> list[Line]:
    """The lines of a block, none wider than `width`. `now` is for what still runs."""
    return _RENDERERS[type(block)](block, width, look, now)


def _said(block: Said, width: int, look: Look, now: float) -> list[Line]:
    pictures = f"[{block.pictures} picture{'s' if block.pictures > 1 else ''}]" if block.pictures else ""
    text = _changed(block.text, "user", False, width - 2, look)
    text = "\n".join(filter(None, (clean(text).rstrip("\n"), pictures)))
    style = look.style("userMessageText")
    return wrap(text, width, style, [(look.style("accent"), "› ")], [("", "  ")])


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
    return [[(look.style("dim"), f"  … {hidden} lines of thinking")], *lines[-THOUGHT_LINES:]]


def _told(block: Told, width: int, look: Look, now: float) -> list[Line]:
    style = look.style({"info": "muted", "success": "success", "warning": "warning", "error": "error"}[block.level])
    source = f"[{block.source}] " if block.source else ""
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
    return wrap(
        text, width, look.style("muted"), [(look.style("accent"), f"[{clean(block.custom_type)}] ")], [("", "  ")]
    )


def _card(block: Card, width: int, look: Look, now: float) -> list[Line]:
    own = look.rendering.entry(block, width, look) if look.rendering is not None else None
    if own is not None:
        return own
    said = one_line(" ".join(f"{name}={value}" for name, value in block.data.items()), 300)
    style = look.style("muted")
    return wrap(said, width, style, [(look.style("accent"), f"[{one_line(block.custom_type, 60)}] ")], [("", "  ")])


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

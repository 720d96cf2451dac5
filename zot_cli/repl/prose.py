"""Blocks of Markdown that need no library to be drawn: paragraphs, headings and code, which is most of what models
write. Drawn as `rich_lines.py` draws them, at a tenth of its cost, and without its import.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from zot_cli.repl.spans import Line, Span, plain, split, wrap_line

if TYPE_CHECKING:
    from zot_cli.repl.look import Look

_OPEN = {"strong_open": "bold", "em_open": "italic", "s_open": "strike"}
_CLOSE = {"strong_close": "bold", "em_close": "italic", "s_close": "strike"}


def prose_lines(text: str, width: int, look: Look) -> list[Line] | None:
    """The lines of one block; None for one that is not drawn here."""
    tokens = _parser().parse(text)
    kinds = [token.type for token in tokens]
    if kinds in (["fence"], ["code_block"]):
        return _code(tokens[0], width, look)
    if kinds == ["paragraph_open", "inline", "paragraph_close"]:
        spans = _inline(tokens[1].children, look.style("text"), look)
    elif kinds == ["heading_open", "inline", "heading_close"]:
        spans = _inline(tokens[1].children, look.style("mdHeading"), look)
    else:
        return None
    return None if spans is None else wrap_line(spans, width)


def _inline(tokens: Iterable[Any], style: str, look: Look) -> Line | None:
    spans: Line = []
    on = [word for word in style.split() if ":" not in word]
    for token in tokens:
        kind = token.type
        if kind == "text":
            spans.append(_span(style, on, token.content))
        elif kind == "code_inline":
            spans.append(_span(look.style("mdCode"), on, token.content))
        elif kind in _OPEN:
            on.append(_OPEN[kind])
        elif kind in _CLOSE:
            on.remove(_CLOSE[kind])
        elif kind == "softbreak":
            spans.append(_span(style, on, " "))
        elif kind == "hardbreak":
            spans.append(("", "\n"))
        else:
            return None  # a link, a picture, HTML
    return spans


def _span(style: str, on: list[str], text: str) -> Span:
    return (" ".join(dict.fromkeys((*on, *style.split()))) if on else style), text


def _code(token: Any, width: int, look: Look) -> list[Line]:
    """Two columns in, without a background that would reach the edge."""
    from zot_core.ui.code import pieces

    lines: list[Line] = []
    for line in pieces(token.content.rstrip(), token.info.partition(" ")[0]):
        spans: Line = [("", "  "), *((look.style(of) if of else "", text) for of, text in line)]
        lines += split(spans, width) if plain(spans).strip() else [[]]
    while lines and not plain(lines[0]).strip():
        lines.pop(0)
    return lines


@lru_cache(maxsize=1)
def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable(["table", "strikethrough"])

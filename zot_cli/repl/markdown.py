"""Markdown as it streams: which part is final, and how one block of it looks. The heavy libraries come with the first
answer, after the first paint.

A text is cut into its top-level blocks and each is rendered alone, so that what ends up in the scrollback does not
depend on how the text arrived.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from zot_cli.repl.spans import Line, wrap

if TYPE_CHECKING:
    from zot_cli.repl.look import Look


_PLAIN = re.compile(r"(?:[A-Za-z\"'(À-ÿ])(?:[^*_`\[\]<>|~&\\#\n!]|\n(?=[A-Za-z\"'(À-ÿ]))*(?<! )")
"""A paragraph without anything that Markdown knows: it begins as prose does, and so does each of its lines."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


def final_part(text: str) -> int:
    """How many characters of a text that still grows will never change their meaning: all before the last top-level
    block. Looks at whole lines only."""
    end = text.rfind("\n") + 1
    starts = _starts(text[:end])
    if len(starts) < 2:
        return 0
    return sum(map(len, _lines(text[:end])[: starts[-1]]))


def blocks_of(text: str) -> list[str]:
    """The top-level blocks of a finished text, in order, without the blank lines between them."""
    lines = _lines(text)
    if len(lines) < 2:
        return [text.strip("\r\n")] if text.strip() else []
    starts = _starts(text)
    ends = [*starts[1:], len(lines)]
    if not starts:
        return [text.strip("\r\n")] if text.strip() else []
    # What no block claims (a link definition, say) stays with the block before it.
    first = "".join(lines[: starts[0]]).strip("\r\n")
    found = ["".join(lines[start:end]).strip("\r\n") for start, end in zip(starts, ends, strict=True)]
    return [*([first] if first else []), *found]


def _lines(text: str) -> list[str]:
    """The lines with their ends, counted as Markdown counts them: a lone carriage return ends one too."""
    return _LINE.findall(text)


def _starts(text: str) -> list[int]:
    """The first lines of the top-level blocks."""
    tokens = _parser().parse(text)
    return [token.map[0] for token in tokens if token.level == 0 and token.map and token.nesting >= 0]


@lru_cache(maxsize=1)
def _parser() -> Any:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.core.ruler.disable("inline")  # blocks alone are asked for, and what is within them costs most
    return parser


@lru_cache(maxsize=64)
def render_block(text: str, width: int, look: Look) -> tuple[Line, ...]:
    """One top-level block as lines of at most `width` columns."""
    if _PLAIN.fullmatch(text):  # most of what models write; the library takes twenty times as long for it
        return tuple(wrap(" ".join(text.split()), max(width, 8), look.style("text")))
    from zot_cli.repl.prose import prose_lines

    lines = prose_lines(text, max(width, 8), look)
    if lines is not None:
        return tuple(lines)
    from zot_cli.repl.rich_lines import markdown_lines

    return tuple(markdown_lines(text, max(width, 8), look))

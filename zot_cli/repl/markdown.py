"""Markdown as it streams: which part is final, and how one block of it looks. The heavy libraries come with the first
answer, after the first paint.

A text is cut into its top-level blocks and each is rendered alone, so that what ends up in the scrollback does not
depend on how the text arrived.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from zot_cli.repl.spans import Line

if TYPE_CHECKING:
    from zot_cli.repl.look import Look


def final_part(text: str) -> int:
    """How many characters of a text that still grows will never change their meaning: all before the last top-level
    block. Looks at whole lines only."""
    end = text.rfind("\n") + 1
    starts = _starts(text[:end])
    if len(starts) < 2:
        return 0
    lines = text[:end].split("\n")
    return sum(len(line) + 1 for line in lines[: starts[-1]])


def blocks_of(text: str) -> list[str]:
    """The top-level blocks of a finished text, in order, without the blank lines between them."""
    lines = text.split("\n")
    starts = _starts(text)
    ends = [*starts[1:], len(lines)]
    if not starts:
        return [text.strip("\n")] if text.strip() else []
    # What no block claims (a link definition, say) stays with the block before it.
    first = "\n".join(lines[: starts[0]]).strip("\n")
    found = ["\n".join(lines[start:end]).strip("\n") for start, end in zip(starts, ends, strict=True)]
    return [*([first] if first else []), *found]


def _starts(text: str) -> list[int]:
    """The first lines of the top-level blocks."""
    tokens = _parser().parse(text)
    return [token.map[0] for token in tokens if token.level == 0 and token.map and token.nesting >= 0]


@lru_cache(maxsize=1)
def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


@lru_cache(maxsize=64)
def render_block(text: str, width: int, look: Look) -> tuple[Line, ...]:
    """One top-level block as lines of at most `width` columns."""
    from zot_cli.repl.rich_lines import markdown_lines

    return tuple(markdown_lines(text, max(width, 8), look))

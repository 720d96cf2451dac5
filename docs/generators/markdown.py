"""Small pieces of Markdown that the pages share."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; bars in cells are escaped, newlines become blanks, empty cells a dash."""
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split()) or "–"


def code(text: object) -> str:
    """`text` as inline code; nothing for nothing."""
    return f"`{text}`" if str(text) else ""


def codes(items: Iterable[object]) -> str:
    """Several pieces of inline code, in the order given."""
    return ", ".join(code(item) for item in items)


def doc(thing: Any) -> str:
    """The docstring of `thing`, unindented, lines of a paragraph joined."""
    paragraphs = (inspect.getdoc(thing) or "").split("\n\n")
    return "\n\n".join(" ".join(part.split()) for part in paragraphs)


def first_sentence(text: str) -> str:
    """The first sentence of `text`, without its full stop."""
    head, _, _ = " ".join(text.split()).partition(". ")
    return head.rstrip(".")

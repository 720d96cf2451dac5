"""A picture as a line: its facts, and what is printed below them where the terminal draws pictures. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from zot_cli.plain import one_line
from zot_cli.repl.inline import Art
from zot_cli.repl.look import Look
from zot_cli.repl.spans import Line, cut, line_width
from zot_core.types.content import Image
from zot_core.ui.picture import facts

MOST_DRAWN = 4
"""Pictures of one block that are drawn; of more there are only the facts."""


def picture_lines(content: Iterable[Any], width: int, look: Look, before: Line | None = None) -> list[Line]:
    """A line for each picture among content blocks; `before` begins each."""
    images = [block for block in content if isinstance(block, Image)]
    return [picture_line(one, width, look, before or [], drawn=n < MOST_DRAWN) for n, one in enumerate(images)]


def picture_line(
    image: Image,
    width: int,
    look: Look,
    before: Line,
    *,
    drawn: bool = True,
    columns: int | None = None,
    rows: int | None = None,
) -> Line:
    """A picture's line, its drawing at most `columns` x `rows` large. Of what is not to be drawn the line is text."""
    style = look.style("muted")
    if look.gallery is None or not drawn:
        return cut([*before, (style, facts(image))], width)
    room = max(width - line_width(before), 1)
    drawing, why = look.gallery.drawing(image, min(columns or room, room), rows)
    return cut([*before, (Art(style, image, drawing), facts(image, one_line(why, 120)))], width)


def has_picture(lines: Sequence[Line]) -> bool:
    """Whether one of the lines is a picture's."""
    return any(isinstance(style, Art) for line in lines for style, _ in line)

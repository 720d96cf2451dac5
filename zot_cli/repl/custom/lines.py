"""A plugin's lines as the screen's: styles become spans, all else that a terminal would obey is gone, nothing is too
wide. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from zot_cli.repl.blocks.picture import MOST_DRAWN, picture_line
from zot_cli.repl.components import CURSOR
from zot_cli.repl.look import Look
from zot_cli.repl.spans import Line, cut
from zot_core.ui import ansi
from zot_core.ui.picture import Image, picture_in

MOST = 2000
"""Lines of one component that are looked at."""


@lru_cache(maxsize=2048)
def spans_of(text: str) -> tuple[tuple[str, str], ...]:
    """A line with SGR styles in it as spans; a line break in it is a blank."""
    line: Line = []
    cursor = False
    for style, piece in ansi.runs(text.replace("\n", " ")):
        if piece == ansi.CURSOR:
            cursor = True
            continue
        words = words_of(style)
        if cursor:
            line.append((f"{CURSOR} {words}", piece[:1]))
            piece, cursor = piece[1:], False
        if piece:
            line.append((words, piece))
    return tuple([*line, *([(CURSOR, " ")] if cursor else [])])


def words_of(style: ansi.Style) -> str:
    """A style in the words of spans."""
    words = sorted(style.attributes)
    words += [] if style.fg.is_default else [f"fg:{style.fg.name}"]
    words += [] if style.bg.is_default else [f"bg:{style.bg.name}"]
    return " ".join(words)


def drawn(made: Any, width: int, most: int = MOST, look: Look | None = None) -> list[Line]:
    """What a component, a text or a list of lines looks like; of more than `most` lines the first ones and a word on
    the others. Raises TypeError for what cannot be drawn, or what the component raised."""
    texts = _texts(made, width)
    lines: list[Line] = []
    pictures = 0
    for text in texts[:most]:
        found = picture_in(text) if look is not None and look.gallery is not None else None
        if found is None or look is None:
            lines.append(cut(list(spans_of(text)), width))
            continue
        lines.append(_picture(found, width, look, drawn=pictures < MOST_DRAWN))
        pictures += 1
    if len(texts) > most:
        lines[-1:] = [[(look.style("dim") if look else "", f"… {len(texts) - most + 1} more lines")]]
    return lines


def _picture(found: tuple[int, Image], width: int, look: Look, *, drawn: bool) -> Line:
    """The line of a picture among a component's lines, and what draws it."""
    column, picture = found
    before: Line = [("", " " * column)] if column else []
    most = {"columns": picture.columns, "rows": picture.rows}
    return picture_line(picture.picture, width, look, before, drawn=drawn, **most)


def markdown_texts(text: str, width: int, look: Callable[[], Look]) -> list[str]:
    """Markdown as lines with styles in them, for the component `Markdown`."""
    from zot_cli.plain import clean
    from zot_cli.repl.markdown import blocks_of, render_block

    lines: list[Line] = []
    for part in blocks_of(clean(text)):
        lines += [*([[]] if lines else []), *render_block(part, width, look())]
    return [_text(line) for line in lines]


def _text(line: Line) -> str:
    from zot_cli.repl.spans import sgr

    return "".join(f"{code}{piece}\x1b[0m" if (code := sgr(style, "truecolor")) else piece for style, piece in line)


def _texts(made: Any, width: int) -> list[str]:
    if made is None:
        return []
    if isinstance(made, str):
        return ansi.wrap(made, width)
    render = getattr(made, "render", None)
    found = render(width) if render is not None else made
    if not isinstance(found, (list, tuple)):
        what = "its render(width)" if render is not None else "it"
        raise TypeError(f"{what} answered {type(found).__name__}, not a list of lines")
    for line in found:
        if not isinstance(line, str):
            raise TypeError(f"a line is {type(line).__name__}, not text")
    return list(found)

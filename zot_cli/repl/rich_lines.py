"""What rich renders, as lines of spans: Markdown and highlighted code in the theme's styles. Imports rich.

Nothing is padded to the width: a line that is wider than a narrowed terminal would wrap into garbage.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, ListItem, Markdown
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from zot_cli.repl.spans import Line
from zot_core.ui.code import pieces
from zot_core.ui.color import named

if TYPE_CHECKING:
    from zot_cli.repl.look import Look

_STYLES = {
    "markdown.h1": "mdHeading",
    "markdown.h2": "mdHeading",
    "markdown.h3": "mdHeading",
    "markdown.h4": "mdHeading",
    "markdown.h5": "mdHeading",
    "markdown.h6": "mdHeading",
    "markdown.code": "mdCode",
    "markdown.link": "mdLink",
    "markdown.link_url": "mdLink",
    "markdown.block_quote": "mdQuote",
    "markdown.item.bullet": "mdListBullet",
    "markdown.item.number": "mdListBullet",
    "markdown.hr": "mdHr",
    "markdown.table.border": "border",
    "markdown.table.header": "mdHeading",
}


class _Heading(Heading):
    """A heading at the left, with the marks of its level: a terminal has one size of letters."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = self.text
        text.justify = "left"
        yield text


class _Item(ListItem):
    """An item of a list; a number has its dot."""

    def render_number(self, console: Console, options: ConsoleOptions, number: int, last_number: int) -> RenderResult:
        width = len(str(last_number)) + 3
        lines = console.render_lines(self.elements, options.update(width=options.max_width - width), style=self.style)
        style = console.get_style("markdown.item.number", default="none")
        for place, line in enumerate(lines):
            yield Segment(f"{number}.".rjust(width - 1) + " " if place == 0 else " " * width, style)
            yield from line
            yield Segment("\n")


class _Code(CodeBlock):
    """Code two columns in, without a background that would reach the edge."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        look: Any = self.theme  # rich hands on what `_Markdown` says the theme of code is
        for line in pieces(str(self.text).rstrip(), self.lexer_name):
            yield Text.assemble("  ", *((text, _code_style(look, token)) for token, text in line))


class _Markdown(Markdown):
    elements: ClassVar[dict[str, Any]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "list_item_open": _Item,
        "code_block": _Code,
    }

    def __init__(self, markup: str, look: Look) -> None:  # rich's own makes a parser for each text
        self.markup = markup
        self.parsed = _parser().parse(markup)
        self.code_theme: Any = look
        self.inline_code_theme = ""
        self.justify = None
        self.style = "none"
        self.hyperlinks = False
        self.inline_code_lexer = None


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


@lru_cache(maxsize=256)
def _code_style(look: Look, token: str) -> str:
    return _rich(look.style(token)) if token else "none"


def markdown_lines(text: str, width: int, look: Look) -> list[Line]:
    """Markdown as lines; blank lines at both ends are left out."""
    markdown = _Markdown(text, look)
    lines = lines_of(markdown, width, look)
    while lines and not _said(lines[0]):
        lines.pop(0)
    while lines and not _said(lines[-1]):
        lines.pop()
    return lines


def lines_of(renderable: Any, width: int, look: Look) -> list[Line]:
    """Anything that rich can render, as lines."""
    console = _console(look)
    options = console.options.update(width=width, height=None)
    return [_line(segments) for segments in console.render_lines(renderable, options, pad=False)]


@lru_cache(maxsize=4)
def _console(look: Look) -> Console:
    styles = {name: Style.parse(_rich(look.style(token))) for name, token in _STYLES.items()}
    return Console(
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        theme=Theme(styles),
        legacy_windows=False,
        emoji=False,
        highlight=False,
    )


def _rich(style: str) -> str:
    """A style in rich's words."""
    words = []
    for word in style.split():
        if word.startswith(("fg:", "bg:")):
            rgb = named(word[3:]).as_rgb()
            colour = "default" if rgb is None else "#{:02x}{:02x}{:02x}".format(*rgb)
            words.append(colour if word[0] == "f" else f"on {colour}")
        else:
            words.append(word)
    return " ".join(words) or "none"


def _line(segments: Iterable[Segment]) -> Line:
    line = [(_style(segment.style) if segment.style else "", segment.text) for segment in segments if segment.text]
    while line and not line[-1][1].strip() and "bg:" not in line[-1][0]:
        line.pop()
    if line and line[-1][1].endswith(" ") and "bg:" not in line[-1][0]:
        line[-1] = (line[-1][0], line[-1][1].rstrip(" "))
    return line


@lru_cache(maxsize=1024)
def _style(style: Style) -> str:
    words = [name for name in ("bold", "dim", "italic", "underline", "strike", "reverse") if getattr(style, name)]
    if style.color is not None and not style.color.is_default:
        words.append(f"fg:{style.color.get_truecolor().hex}")
    if style.bgcolor is not None and not style.bgcolor.is_default:
        words.append(f"bg:{style.bgcolor.get_truecolor().hex}")
    return " ".join(words)


def _said(line: Line) -> bool:
    return any(text.strip() for _, text in line)

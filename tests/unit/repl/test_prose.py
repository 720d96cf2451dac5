"""Paragraphs, headings and code are drawn without the library as the library draws them."""

from __future__ import annotations

import pytest

from zot_cli.repl.look import default_look
from zot_cli.repl.prose import prose_lines
from zot_cli.repl.rich_lines import markdown_lines
from zot_cli.repl.spans import Line, line_width, plain

LOOK = default_look("dark")
ALIKE = [
    "Some **words** with `code` and more text to read. " * 3,
    "# Title with `code`",
    "## A *b* **c *d* e**",
    "```python\ndef f(x):\n    return x\n\ny = 2\n```",
    "    indented\n      code",
    "a  \nhard\nsoft **x\ny**",
    "a\\\nb",
    "word " * 30 + "x" * 200,
    "~~gone~~ **`b`** *it*",
    "text with   many   blanks **b**  c",
    "```\n\n  x\n\n```",
    "a *b* c**d e**f",
    "漢字 **漢字** e\u0301",
]


def letters(lines: list[Line]) -> list[tuple[frozenset[str], str]]:
    return [(frozenset(style.split()), char) for line in lines for style, text in line for char in text if char != " "]


@pytest.mark.parametrize("width", [20, 40, 79])
@pytest.mark.parametrize("text", ALIKE)
def test_it_looks_the_same(text: str, width: int) -> None:
    own, rich = prose_lines(text, width, LOOK), markdown_lines(text, width, LOOK)
    assert own is not None
    assert [plain(line) for line in own] == [plain(line).rstrip() for line in rich]
    assert letters(own) == letters(rich)


@pytest.mark.parametrize("text", ["- item", "> quote", "| a |\n|---|\n| b |", "[a](b)", "![a](b)", "a <b>c</b>", "---"])
def test_what_needs_the_library_is_left_to_it(text: str) -> None:
    assert prose_lines(text, 40, LOOK) is None


@pytest.mark.parametrize("width", [1, 2, 3, 8, 20])
@pytest.mark.parametrize("text", [*ALIKE, "```\n" + "code " * 30 + "\n```"])
def test_no_line_is_too_wide_and_none_ends_in_blanks(text: str, width: int) -> None:
    found = prose_lines(text, width, LOOK)
    assert found is not None
    least = 2 if "漢" in text else 1
    assert all(line_width(line) <= max(width, least) for line in found)
    if not text.startswith(("```", "    ")):  # code is kept as it is
        assert all(plain(line) == plain(line).rstrip() for line in found)


def test_code_keeps_every_character() -> None:
    code = "    if x:  # " + "words " * 20 + "end"
    found = prose_lines(f"```\n{code}\n```", 30, LOOK)
    assert found is not None
    assert "".join(plain(line) for line in found) == "  " + code

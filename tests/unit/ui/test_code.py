"""Highlighted code for renderers: `highlight_code` and `language_of_path`."""

from __future__ import annotations

import pytest

from zot_cli.repl.look import look_of
from zot_cli.repl.rich_lines import markdown_lines
from zot_core.ui import highlight_code, language_of_path, plain
from zot_core.ui.code import MOST
from zot_core.ui.color import color_of
from zot_core.ui.theme import Theme, built_in

DARK = built_in("dark")
PYTHON = (
    "@deco\nclass A(Base):\n    # why\n    n = 'text' + str(3)\n\n    def f(self) -> None:\n        return not self"
)


@pytest.mark.parametrize(
    ("token", "text"),
    [
        ("syntaxKeyword", "class"),
        ("syntaxType", "A"),
        ("syntaxComment", "# why"),
        ("syntaxString", "'text'"),
        ("syntaxNumber", "3"),
        ("syntaxFunction", "f"),
        ("syntaxOperator", "+"),
        ("syntaxKeyword", "not"),
        ("syntaxFunction", "@deco"),
    ],
)
def test_code_has_the_colours_of_the_theme(token: str, text: str) -> None:
    assert DARK.fg(token, text) in "\n".join(highlight_code(PYTHON, "python", DARK))


@pytest.mark.parametrize("language", ["python", "", "text", "no such language", "\x1b]0;evil\x07"])
@pytest.mark.parametrize("code", [PYTHON, "", "\n\n", "a\n", "no end", "\n  first line is blank", "x = 'open"])
def test_no_letter_of_code_is_lost(code: str, language: str) -> None:
    assert [plain(line) for line in highlight_code(code, language, DARK)] == code.split("\n")


def test_control_characters_are_left_out_and_tabs_are_blanks() -> None:
    lines = highlight_code("if x:\n\ty = '\x1b]52;c;evil\x07'\r\n\x9b31mz", "python", DARK)
    assert [plain(line) for line in lines] == ["if x:", "    y = ']52;c;evil'", "31mz"]


def test_long_code_stays_plain() -> None:
    code = "x = 1\n" * (MOST // 6 + 1)
    assert highlight_code(code, "python", DARK)[0] == "x = 1"


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/main.rs", "rust"),
        ("a.py", "python"),
        ("/x/y.ts", "typescript"),
        ("Makefile", "make"),
        ("notes", ""),
        ("", ""),
    ],
)
def test_the_language_of_a_file(path: str, language: str) -> None:
    assert language_of_path(path) == language


def test_code_in_an_answer_has_the_colours_of_the_theme_in_use() -> None:
    pink = color_of("#ff00aa")
    assert pink is not None
    theme = Theme(name="mine", appearance="dark", colors={**DARK.colors, "syntaxKeyword": pink})
    lines = markdown_lines("```python\nimport os\n```", 80, look_of(theme))
    assert ("fg:#ff00aa", "import") in lines[0]

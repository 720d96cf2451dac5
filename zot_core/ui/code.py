"""Highlighted code for renderers: Pygments reads it, the theme's `syntax…` tokens colour it.

Knows no screen. Pygments is imported with the first code.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import PurePath
from typing import Any

from zot_core.ui.theme import Theme

MOST = 200_000
"""Characters of code that are highlighted; longer code stays plain, because a lexer may take seconds for it."""
TAB = 4
"""Columns of a tab."""
_TOKENS = {
    "Comment": "syntaxComment",
    "Keyword": "syntaxKeyword",
    "Keyword.Type": "syntaxType",
    "Literal.Number": "syntaxNumber",
    "Literal.String": "syntaxString",
    "Name": "syntaxVariable",
    "Name.Builtin": "syntaxFunction",
    "Name.Class": "syntaxType",
    "Name.Constant": "syntaxNumber",
    "Name.Decorator": "syntaxFunction",
    "Name.Exception": "syntaxType",
    "Name.Function": "syntaxFunction",
    "Name.Tag": "syntaxKeyword",
    "Operator": "syntaxOperator",
    "Operator.Word": "syntaxKeyword",
    "Punctuation": "syntaxPunctuation",
    "Generic.Deleted": "toolDiffRemoved",
    "Generic.Inserted": "toolDiffAdded",
    "Generic.Heading": "syntaxComment",
    "Generic.Subheading": "syntaxComment",
}
"""Theme tokens of Pygments' token types; a type without a row has that of the type above it."""

Piece = tuple[str, str]
"""A theme token ("" for plain text) and a text without a line break."""


def highlight_code(code: str, language: str, theme: Theme) -> list[str]:
    """Code as lines in the theme's colours, for a renderer. A language that is not known, or "", stays plain.

    `language` is a name such as `python` or `ts`; `language_of_path` knows it by a file's name. Control characters are
    left out, tabs become blanks.
    """
    return [
        "".join(theme.fg(token, text) if token else text for token, text in line) for line in pieces(code, language)
    ]


def language_of_path(path: str) -> str:
    """The language of a file by its name, such as `rust` for `src/main.rs`; "" for none that is known."""
    from pygments.lexers import find_lexer_class_for_filename

    lexer = find_lexer_class_for_filename(PurePath(path).name)
    return str(lexer.aliases[0]) if lexer is not None and lexer.aliases else ""


def pieces(code: str, language: str) -> list[list[Piece]]:
    """The lines of code, cut where the theme's token changes. For screens; plugins call `highlight_code`."""
    code = code.replace("\r\n", "\n").expandtabs(TAB)
    code = "".join(letter for letter in code if letter == "\n" or letter.isprintable())
    lexer = _lexer(language) if len(code) <= MOST else None
    if lexer is None:
        return [[("", line)] if line else [] for line in code.split("\n")]
    lines: list[list[Piece]] = [[]]
    for kind, text in lexer.get_tokens(code):
        token = _token(kind)
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append([])
            line = lines[-1]
            if line and line[-1][0] == token:
                line[-1] = (token, line[-1][1] + part)
            elif part:
                line.append((token, part))
    if len(lines) > 1 and not lines[-1] and not code.endswith("\n"):
        lines.pop()  # lexers end every text with a line break
    return lines


@lru_cache(maxsize=32)
def _lexer(language: str) -> Any:
    if not language or language == "text":
        return None
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=True)
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _token(kind: Any) -> str:
    words = list(kind)
    while words:
        found = _TOKENS.get(".".join(words))
        if found is not None:
            return found
        words.pop()
    return ""

"""Code blocks of hand-written pages, lifted from files that have tests: a page cannot show what does not run.

A comment `<!-- include: PATH -->`, `<!-- include: PATH::FUNCTION -->` or `<!-- include: PATH::__doc__ -->` stands on
the line before the fenced block. Between `<!-- pages: FOLDER -->` and `<!-- /pages -->` stands a link to every page of
a folder below docs/, between `<!-- table: NAME -->` and `<!-- /table -->` a table of `screen.py`.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from generators import screen

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"(?P<head><!-- include: (?P<what>\S+) -->\n```\w*\n)(?P<code>.*?)(?P<tail>^```$)", re.S | re.M)
LIST = re.compile(r"(?P<head><!-- pages: (?P<folder>\S+) -->\n).*?(?P<tail><!-- /pages -->)", re.S)


TABLE = re.compile(r"(?P<head><!-- table: (?P<name>\w+) -->\n).*?(?P<tail><!-- /table -->)", re.S)


def pages() -> list[Path]:
    """The pages that may include: README and everything under docs/ that is not generated."""
    found = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    return sorted(path for path in found if path.parent.name != "reference")


def included(page: str) -> str:
    """The text `page` with every included block as its file has it now, and every list of pages."""
    page = LIST.sub(lambda match: match["head"] + _links(match["folder"]) + match["tail"], page)
    page = TABLE.sub(lambda match: f"{match['head']}{getattr(screen, match['name'])()}\n{match['tail']}", page)
    return BLOCK.sub(lambda match: match["head"] + source(match["what"]) + match["tail"], page)


def _links(folder: str) -> str:
    found = sorted((ROOT / "docs" / folder).glob("*.md"))
    titles = {path: path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for path in found}
    return "".join(f"- [{titles[path]}]({folder}/{path.name})\n" for path in found)


def source(what: str) -> str:
    """The text of a file, or of one top-level function of it with its decorators, or its docstring."""
    name, _, function = what.partition("::")
    text = (ROOT / name).read_text(encoding="utf-8")
    if not function:
        return text
    if function == "__doc__":
        return (ast.get_docstring(ast.parse(text)) or "") + "\n"
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == function:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            return "\n".join(text.splitlines()[first - 1 : node.end_lineno]) + "\n"
    raise LookupError(f"{name} has no function {function}")

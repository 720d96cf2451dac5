"""Completes `#` to issues of the project, read from ISSUES.txt: lines such as `12 The lexer drops a token`.

zot --plugin issues.py
"""

from zot_core import hookimpl
from zot_core.ui.completion import Found, Suggestion


class Issues:
    """Stands before the provider that was there, and hands on what it does not know."""

    trigger_characters = "#"

    def __init__(self, below, file):
        self.below, self.file = below, file

    async def get_suggestions(self, lines, line, column, *, forced):
        word = lines[line][:column].rpartition(" ")[2]
        if not word.startswith("#") or not self.file.is_file():
            return await self.below.get_suggestions(lines, line, column, forced=forced)
        rows = (row.partition(" ") for row in self.file.read_text().splitlines() if row.strip())
        fitting = [(n, title) for n, _, title in rows if word[1:].casefold() in f"{n} {title}".casefold()]
        items = (Suggestion(value=f"#{n} ({title}) ", label=f"#{n}", description=title) for n, title in fitting)
        return Found(prefix=word, items=tuple(items))

    def apply_completion(self, lines, line, column, item, prefix):
        return self.below.apply_completion(lines, line, column, item, prefix)


@hookimpl
def session_start(event, ctx):
    ctx.ui.add_autocomplete_provider(lambda below: Issues(below, ctx.cwd / "ISSUES.txt"))

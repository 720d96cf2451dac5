"""Who suggests what: commands and their arguments, files after `@`, paths. Plugins stack their own on these.

A provider answers with the part of the text that a suggestion would replace, and the suggestions; None lets the next
one answer. Knows no menu.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from zot_cli.repl.completion.files import ProjectFiles
from zot_cli.repl.completion.fuzzy import best
from zot_core.types.specs import resolve
from zot_core.ui.completion import Found, Suggestion

if TYPE_CHECKING:
    from zot_core.app import App

SHOWN = 50


class Provider(Protocol):
    """Who answers with suggestions; what plugins stack is `zot_core.ui.completion.Provider`."""

    async def get_suggestions(self, lines: Sequence[str], line: int, column: int, *, forced: bool) -> Found | None:
        """Suggestions at a place; `forced` when the person asked (Tab)."""


class BuiltIn:
    """Commands, files and paths of the session."""

    def __init__(self, app: Callable[[], App | None]) -> None:
        self._app = app
        self._files = ProjectFiles()

    async def get_suggestions(self, lines: Sequence[str], line: int, column: int, *, forced: bool) -> Found | None:
        """Suggestions of the first kind that fits."""
        before = lines[line][:column]
        app = self._app()
        if app is None:
            return None
        if line == 0 and (match := re.fullmatch(r"/(\S*)", before)):
            return self._commands(app, match[1])
        if line == 0 and (match := re.match(r"/(\S+)\s+(.*)$", before, re.S)):
            return await self._arguments(app, match[1], match[2])
        if match := re.search(r"(?:^|\s)@(\"[^\"]*|\S*)$", before):
            return await self._mentioned(app, match[1])
        if forced and (match := re.search(r"\S*$", before)):
            return _paths(match[0], app.runtime.cwd)
        return None

    def _commands(self, app: App, word: str) -> Found:
        from zot_core.runtime.expanding import listed

        runtime = app.runtime
        names = {name: (row.item.description, row.item.argument_hint) for name, row in runtime.commands.items()}
        for one in listed(runtime):
            names.setdefault(one.name, (one.description, one.argument_hint))
        items = [
            Suggestion(value=f"/{name} ", label=f"/{name} {hint}".rstrip(), description=description)
            for name, (description, hint) in sorted(names.items())
        ]
        return Found(prefix=f"/{word}", items=tuple(best(word, items, lambda item: item.value[1:-1], SHOWN)))

    async def _arguments(self, app: App, name: str, text: str) -> Found | None:
        row = app.runtime.commands.row(name)
        if row is None or row.item.complete is None:
            return None
        try:
            answer: Any = resolve(row.item.complete)(text)
            answer = await answer if inspect.isawaitable(answer) else answer
        except Exception as error:  # the plugin's; there is just no suggestion
            app.runtime.host.pipeline.broken(row.owner.name, f"/{name} complete", error)
            return None
        items = [one if isinstance(one, Suggestion) else Suggestion(value=str(one)) for one in answer or ()]
        return Found(prefix=text, items=tuple(items))

    async def _mentioned(self, app: App, word: str) -> Found:
        names = await self._files.matching(word.strip('"'), app.runtime.cwd)
        items = [Suggestion(value=f'@"{name}" ' if " " in name else f"@{name} ", label=name) for name in names]
        return Found(prefix=f"@{word}", items=tuple(items))


def _paths(word: str, cwd: str) -> Found | None:
    """Files and folders that begin as `word` does."""
    mark = "@" if word.startswith("@") else ""
    path = word.removeprefix("@")
    folder, _, start = path.rpartition("/")
    place = Path(cwd, Path(folder + "/").expanduser() if "/" in path else ".")
    try:
        entries = sorted(place.iterdir(), key=lambda entry: entry.name)
    except OSError:
        return None
    shown = [e for e in entries if e.name.startswith(start) and (start.startswith(".") or not e.name.startswith("."))]
    before = f"{mark}{folder}/" if "/" in path else mark
    items = [Suggestion(value=f"{before}{e.name}{'/' if e.is_dir() else ''}", label=e.name) for e in shown[:SHOWN]]
    return Found(prefix=word, items=tuple(items)) if items else None

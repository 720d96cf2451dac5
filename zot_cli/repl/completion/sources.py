"""Who suggests what: commands and their arguments, files after `@`, paths. Plugins stack their own on these.

A provider answers with the part of the text that a suggestion would replace, and the suggestions; None lets the next
one answer. Knows no menu.
"""

from __future__ import annotations

import asyncio
import inspect
import os
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
_OUTSIDE = re.compile(r'"?(~|/|\.\.?/)')
"""How a path begins that is not looked for among the project's files."""


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
            found = await self._arguments(app, match[1], match[2])
            if found is not None:
                return found
        if match := re.search(r"(?:^|[\s(])@(\"[^\"]*|\S*)$", before):
            if _OUTSIDE.match(match[1]):
                return await asyncio.to_thread(_paths, match[1], app.runtime.cwd, "@")
            return await self._mentioned(app, match[1])
        if forced and (match := re.search(r"(?:^|(?<=[\s(=]))(\"[^\"]*|[^\s\"]*)$", before)):
            return await asyncio.to_thread(_paths, match[1], app.runtime.cwd, "")
        return None

    def hint(self, text: str) -> str:
        """What the arguments of a command are, while none is typed: `/name ` has nothing after it yet."""
        app = self._app()
        match = re.fullmatch(r"/(\S+) ", text)
        if app is None or match is None:
            return ""
        row = app.runtime.commands.row(match[1])
        return row.item.argument_hint if row is not None else ""

    def _commands(self, app: App, word: str) -> Found:
        from zot_core.runtime.expanding import listed

        runtime = app.runtime
        names = {name: (row.item.description, row.item.argument_hint) for name, row in runtime.commands.items()}
        if word:  # an alias stands in no list, and completes as what it is
            for alias, row in runtime.commands.aliases():
                if alias.casefold().startswith(word.casefold()):
                    names.setdefault(alias, (f"the same as /{row.item.name}", row.item.argument_hint))
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
            complete: Any = resolve(row.item.complete)
            takes_ctx = len(inspect.signature(complete).parameters) > 1
            answer: Any = complete(text, app.runtime.context(row.owner.name)) if takes_ctx else complete(text)
            answer = await answer if inspect.isawaitable(answer) else answer
        except Exception as error:  # the plugin's; there is just no suggestion
            app.runtime.host.pipeline.broken(row.owner.name, f"/{name} complete", error)
            return None
        items = [one if isinstance(one, Suggestion) else Suggestion(value=str(one)) for one in answer or ()]
        return Found(prefix=text, items=tuple(items))

    async def _mentioned(self, app: App, word: str) -> Found:
        names = await self._files.matching(word.strip('"'), app.runtime.cwd)
        return Found(prefix=f"@{word}", items=tuple(Suggestion(value=_named("@", name), label=name) for name in names))


def _named(mark: str, name: str) -> str:
    """A name as it stands in a text: quoted if it holds a blank. A folder is left open, for what is in it."""
    end = "" if name.endswith("/") else " "
    if " " not in name:
        return f"{mark}{name}{end if mark else ''}"
    return f'{mark}"{name}' if name.endswith("/") else f'{mark}"{name}"{end if mark else ""}'


def _paths(word: str, cwd: str, mark: str) -> Found | None:
    """Files and folders that begin as `word` does."""
    folder, slash, start = word.removeprefix('"').rpartition("/")
    try:
        place = Path(cwd, Path(folder + slash).expanduser())
        entries = sorted((entry for entry in os.scandir(place) if entry.name.isprintable()), key=lambda one: one.name)
        shown = [e for e in entries if e.name.startswith(start) and e.name.startswith(".") <= start.startswith(".")]
        names = [f"{folder}{slash}{entry.name}{'/' if entry.is_dir() else ''}" for entry in shown[:SHOWN]]
    except (OSError, RuntimeError, ValueError):  # no such folder, no such user, no path
        return None
    items = [Suggestion(value=_named(mark, name), label=name[len(folder + slash) :]) for name in names]
    return Found(prefix=mark + word, items=tuple(items)) if items else None

"""Plugins' providers of completions, stacked on the screen's own: each is given the one below, to hand on what it does
not know. One that breaks is named and passed over.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from zot_cli.repl.completion.sources import Provider
from zot_core.ui.completion import Found, Suggestion


class Stack:
    """The providers in force, the built-in one at the bottom. Itself a provider."""

    def __init__(self, bottom: Provider) -> None:
        self._bottom = bottom
        self._rows: list[tuple[Callable[[Any], Any], Callable[[Exception], None]]] = []
        self._top: _Below | _Guarded = _Below(bottom)

    def add(self, factory: Callable[[Any], Any], failed: Callable[[Exception], None]) -> Callable[[], None]:
        """Stacks what `factory(below)` makes; the answer takes it away. `failed` is told when it breaks."""
        row = (factory, failed)
        self._rows.append(row)
        self._build()

        def off() -> None:
            if row in self._rows:
                self._rows.remove(row)
                self._build()

        return off

    def forget(self) -> None:
        """Only the built-in one is left."""
        self._rows.clear()
        self._build()

    async def get_suggestions(self, lines: Sequence[str], line: int, column: int, *, forced: bool) -> Found | None:
        """What the top provider says."""
        forced = forced and self._top.should_trigger_file_completion(lines, line, column)
        return await self._top.get_suggestions(lines, line, column, forced=forced)

    def apply_completion(
        self, lines: Sequence[str], line: int, column: int, item: Suggestion, prefix: str
    ) -> tuple[list[str], int, int]:
        """The text with a suggestion in it."""
        return self._top.apply_completion(lines, line, column, item, prefix)

    def _build(self) -> None:
        self._top = _Below(self._bottom)
        for factory, failed in self._rows:
            try:
                self._top = _Guarded(factory(self._top), self._top, failed)
            except Exception as error:  # a plugin's factory
                failed(error)


class _Below:
    """The screen's own provider, with all that plugins may ask of the one below."""

    trigger_characters: Sequence[str] = ("/", "@")

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    async def get_suggestions(
        self, lines: Sequence[str], line: int, column: int, *, forced: bool = False
    ) -> Found | None:
        return await self._provider.get_suggestions(lines, line, column, forced=forced)

    def apply_completion(
        self, lines: Sequence[str], line: int, column: int, item: Suggestion, prefix: str
    ) -> tuple[list[str], int, int]:
        before = lines[line][:column].removesuffix(prefix) + item.value
        return [*lines[:line], before + lines[line][column:], *lines[line + 1 :]], line, len(before)

    def should_trigger_file_completion(self, lines: Sequence[str], line: int, column: int) -> bool:
        return True


class _Guarded:
    """A plugin's provider; where it has no method, or breaks, the one below answers."""

    def __init__(self, provider: Any, below: _Below | _Guarded, failed: Callable[[Exception], None]) -> None:
        if not hasattr(provider, "get_suggestions"):
            raise TypeError("a provider of completions needs get_suggestions(lines, line, column, *, forced)")
        self._provider, self._below, self._failed = provider, below, failed
        self.trigger_characters: Sequence[str] = tuple(getattr(provider, "trigger_characters", ()))

    async def get_suggestions(
        self, lines: Sequence[str], line: int, column: int, *, forced: bool = False
    ) -> Found | None:
        try:
            answer = self._provider.get_suggestions(lines, line, column, forced=forced)
            return _found(await answer if inspect.isawaitable(answer) else answer)
        except Exception as error:  # a plugin's provider
            self._failed(error)
            return await self._below.get_suggestions(lines, line, column, forced=forced)

    def apply_completion(
        self, lines: Sequence[str], line: int, column: int, item: Suggestion, prefix: str
    ) -> tuple[list[str], int, int]:
        own = getattr(self._provider, "apply_completion", None)
        if own is not None:
            try:
                found, row, place = own(lines, line, column, item, prefix)
                return [str(one) for one in found], int(row), int(place)
            except Exception as error:  # a plugin's provider
                self._failed(error)
        return self._below.apply_completion(lines, line, column, item, prefix)

    def should_trigger_file_completion(self, lines: Sequence[str], line: int, column: int) -> bool:
        own = getattr(self._provider, "should_trigger_file_completion", None)
        try:
            return bool((own or self._below.should_trigger_file_completion)(lines, line, column))
        except Exception as error:  # a plugin's provider
            self._failed(error)
            return True


def _found(answer: Any) -> Found | None:
    """A provider's answer; a mapping of the same names will do. Raises TypeError for what it cannot be."""
    if answer is None or isinstance(answer, Found):
        return answer
    if not isinstance(answer, Mapping):
        raise TypeError(f"get_suggestions answered {type(answer).__name__}, not Found(prefix=..., items=...)")
    items = tuple(_suggestion(one) for one in answer.get("items", ()))
    return Found(prefix=str(answer.get("prefix", "")), items=items)


def _suggestion(one: Any) -> Suggestion:
    if isinstance(one, Suggestion):
        return one
    if isinstance(one, Mapping):
        return Suggestion(**{name: str(value) for name, value in one.items()})
    return Suggestion(value=str(one))

"""Saving settings: one key at a time, under a lock, into a file that parses; otherwise not at all, with the reason.

What zot does not change stays as the person wrote it: comments, unknown keys, order.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from zot_core.config import jsonc
from zot_core.config.files import update
from zot_core.config.paths import Paths, project_settings
from zot_core.config.problems import SaveRefused
from zot_core.config.values import ALIASES, HOME_ONLY
from zot_core.types.failure import UsageError


def edit_object(path: Path, locks: Path, change: Callable[[str, dict[str, Any]], str], mode: int | None = None) -> None:
    """Change a JSON object on disk: `change` gets its text and its value and returns the new text.

    Raises SaveRefused, and leaves the file alone, when it does not parse, is no object, or cannot be written.
    """

    def apply(text: str) -> str:
        try:
            value = jsonc.parse(text).value
        except jsonc.JsoncError as error:
            raise SaveRefused(
                f"{path}:{error.line}: {error.reason}; nothing was saved so that nothing is lost"
            ) from error
        if not isinstance(value, dict):
            raise SaveRefused(f"{path}: it does not hold an object {{...}}; nothing was saved so that nothing is lost")
        try:
            return change(text, value)
        except ValueError as error:
            raise SaveRefused(f"{path}: {error}; nothing was saved") from error

    update(path, locks, apply, mode)


class SettingsStore:
    """Writes the home's settings and a project's."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    def set(
        self,
        key: str | tuple[str, ...],
        value: Any,
        scope: Literal["home", "project"] = "home",
        project: str | Path = "",
    ) -> None:
        """Set one key; levels are divided by dots or given as a tuple (for names that hold dots).

        Raises UsageError for an unknown key or a value of the wrong kind, SaveRefused when the file must stay as it is.
        """
        from zot_core.config.jsonc_edit import set_key
        from zot_core.config.schema import why_wrong

        path = self._path_of(key, scope)
        try:
            wrong = why_wrong(path, value)
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise UsageError(f"{'.'.join(path)!r} cannot be set: the value is not JSON: {error}") from error
        if wrong:
            raise UsageError(wrong.replace("; it is kept and ignored", "").replace(" It is kept and ignored", ""))

        def change(text: str, data: dict[str, Any]) -> str:
            return set_key(text, _as_written(path, data), value)

        edit_object(self._file(scope, project), self._paths.cache / "locks", change)

    def unset(
        self, key: str | tuple[str, ...], scope: Literal["home", "project"] = "home", project: str | Path = ""
    ) -> None:
        """Take one key out, so that the layer below counts. Raises SaveRefused."""
        from zot_core.config.jsonc_edit import remove_key

        path = self._path_of(key, scope)

        def change(text: str, data: dict[str, Any]) -> str:
            return remove_key(text, _as_written(path, data))

        file = self._file(scope, project)
        if file.exists():
            edit_object(file, self._paths.cache / "locks", change)

    def _path_of(self, key: str | tuple[str, ...], scope: str) -> tuple[str, ...]:
        path = tuple(key.split(".")) if isinstance(key, str) else key
        if not path or not all(path):
            raise UsageError(f"{key!r} is not the name of a setting")
        if scope == "project" and path[0] in HOME_ONLY:
            raise UsageError(f"{path[0]!r} counts only in the home settings")
        return (ALIASES.get(path[0], path[0]), *path[1:])

    def _file(self, scope: str, project: str | Path) -> Path:
        if scope == "home":
            return self._paths.settings
        if not project:
            raise UsageError("no project directory was given")
        return project_settings(project)


def _as_written(path: tuple[str, ...], data: dict[str, Any]) -> tuple[str, ...]:
    """The path with the spelling that the file uses for its first key."""
    if path[0] not in data:
        for alias, key in ALIASES.items():
            if key == path[0] and alias in data:
                return (alias, *path[1:])
    return path

"""`extension.json`: what an extension says of itself before it runs.

Checked by hand, not by pydantic: `zot ext list` and every start read these, and the library alone would take longer
than either may. Starts nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from zot_core.config.paths import read_bytes, reason
from zot_core.types.failure import ZotError
from zot_core.types.record import record
from zot_plugins.extension_bridge.finding import FILE

MAX_BYTES = 1 << 20
MAX_NAME = 64
"""Characters of a name: it is part of file names."""
THEMES = ("theme.json", "themes/theme.json")
"""Where a bundle may have its theme; the first that is there is taken."""
FIELDS = ("name", "version", "exec", "args", "language", "description", "skills", "enabled")


class ManifestError(ZotError):
    """A manifest that cannot be used: which file, which field ("" for the file as a whole), what is wrong."""

    def __init__(self, path: Path, field: str, problem: str) -> None:
        super().__init__(f"{path}: {field}: {problem}" if field else f"{path}: {problem}")
        self.path = path
        self.field = field
        self.problem = problem


@record(kw_only=True)
class Manifest:
    """A manifest that was read. `theme` is the bundle's theme file, None without one; `unknown` are the names of fields
    that zot does not know."""

    folder: Path
    name: str
    version: str = ""
    exec: str = ""
    args: tuple[str, ...] = ()
    language: str = ""
    description: str = ""
    skills: tuple[str, ...] = ()
    enabled: bool = True
    theme: Path | None = None
    unknown: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """The manifest's file."""
        return self.folder / FILE

    @property
    def runs(self) -> bool:
        """Whether it has a program to start; a bundle of themes or skills alone has none."""
        return bool(self.exec)

    @property
    def skill_paths(self) -> tuple[Path, ...]:
        """Its folders of skills and its SKILL.md files, absolute."""
        return tuple(self.folder / path for path in self.skills)


def read_manifest(folder: str | Path) -> Manifest:
    """The manifest in `folder`, which becomes absolute. Raises ManifestError, which names the file and the field."""
    folder = Path(folder).absolute()
    path = folder / FILE
    values = _object(path)
    found = Manifest(
        folder=folder,
        name=_name(path, values.get("name")),
        version=_text(path, values, "version"),
        exec=_text(path, values, "exec"),
        args=_texts(path, values, "args"),
        language=_text(path, values, "language"),
        description=_text(path, values, "description"),
        skills=_texts(path, values, "skills"),
        enabled=_flag(path, values, "enabled"),
        theme=next((folder / name for name in THEMES if (folder / name).is_file()), None),
        unknown=tuple(name for name in values if name not in FIELDS),
    )
    if not (found.exec or found.theme or found.skills):
        problem = f"is required: there is no {' or '.join(THEMES)} and no `skills`, so there is nothing to load"
        raise ManifestError(path, "exec", problem)
    return found


def check_name(name: str) -> str | None:
    """Why `name` cannot be an extension's, or None."""
    if not name.strip():
        return "must not be empty"
    if len(name) > MAX_NAME:
        return f"is longer than {MAX_NAME} characters"
    if name.startswith(".") or name != name.strip() or any(char in '/\\:*?"<>|' for char in name):
        return f"{name!r} cannot be part of a file's name"
    if not name.isprintable():
        return f"{name!r} has characters that cannot be shown"
    return None


def _object(path: Path) -> dict[str, Any]:
    try:
        data = read_bytes(path)
    except FileNotFoundError:
        problem = f"there is no {FILE}" if path.parent.is_dir() else "there is no such folder"
        raise ManifestError(path, "", problem) from None
    except OSError as error:
        raise ManifestError(path, "", f"cannot be read: {reason(error)}") from error
    if len(data) > MAX_BYTES:
        raise ManifestError(path, "", f"is larger than {MAX_BYTES >> 20} MiB")
    try:
        values = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ManifestError(path, "", "is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise ManifestError(path, "", f"is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise ManifestError(path, "", "must hold a JSON object")
    return values


def _name(path: Path, value: Any) -> str:
    if value is None:
        raise ManifestError(path, "name", "is required")
    if not isinstance(value, str):
        raise ManifestError(path, "name", f"must be text, not {_kind(value)}")
    if problem := check_name(value):
        raise ManifestError(path, "name", problem)
    return value


def _text(path: Path, values: dict[str, Any], field: str) -> str:
    value = values.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ManifestError(path, field, f"must be text, not {_kind(value)}")
    if "\0" in value:
        raise ManifestError(path, field, "must not hold a NUL character")
    return value


def _texts(path: Path, values: dict[str, Any], field: str) -> tuple[str, ...]:
    value = values.get(field)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise ManifestError(path, field, f"must be a list of texts, not {_kind(value)}")
    for place, item in enumerate(value):
        if not isinstance(item, str):
            raise ManifestError(path, f"{field}[{place}]", f"must be text, not {_kind(item)}")
        if "\0" in item or (field == "skills" and not item):
            raise ManifestError(path, f"{field}[{place}]", "must not be empty or hold a NUL character")
    return tuple(value)


def _flag(path: Path, values: dict[str, Any], field: str) -> bool:
    value = values.get(field)
    if value is None:
        return True
    if not isinstance(value, bool):
        raise ManifestError(path, field, f"must be true or false, not {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
    return names.get(type(value), "null")

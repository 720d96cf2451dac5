"""The settings of a run: layers of files, from the lowest to the highest, and where each value came from.

Defaults, the Go zot's config.json, the home's settings.json, a trusted project's, the command line. What a value means
is the business of whoever uses it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from zot_core.config.boot import BootCache
from zot_core.config.objects import read_object
from zot_core.config.paths import Paths, project_settings
from zot_core.config.problems import Problem
from zot_core.config.values import PLUGIN_SECTIONS, Settings, from_plain, sections
from zot_core.types.places import ExtensionPlaces
from zot_core.types.record import record
from zot_core.types.specs import THINKING_LEVELS

DEFAULT = "default"
COMMAND_LINE = "command line"
_SECRET = ("key", "token", "secret", "password")


@record
class LoadedSettings:
    """The settings of a run. `plain` is what files and command line said, merged, as JSON."""

    values: Settings
    plain: Mapping[str, Any]
    origins: Mapping[str, str]
    problems: tuple[Problem, ...]

    def origin(self, key: str) -> str:
        """Where the value of `key` (dots between levels) came from: a file's path, `command line` or `default`.

        A section of which parts were said names the place of the highest part.
        """
        if key in self.origins:
            return self.origins[key]
        below = [origin for name, origin in self.origins.items() if name.startswith(f"{key}.")]
        return below[-1] if below else DEFAULT

    def section(self, plugin: str) -> Mapping[str, Any]:
        """The plugin's own section as written; {} when nothing was said."""
        return self.values.plugins.get(plugin, {})

    def extension_places(self, home: str | Path) -> ExtensionPlaces:
        """Where more extensions are, and which are left out. A relative path begins at the folder of the file that
        says it; `home` is zot's, to tell that file from a project's."""
        said = self.values.extensions
        if not said.paths and not said.disabled:
            return ExtensionPlaces()
        file = Path(self.origin("extensions.paths"))
        return ExtensionPlaces(
            paths=tuple(os.path.normpath(file.parent / os.path.expanduser(path)) for path in said.paths),  # noqa: PTH111
            paths_in=str(file),
            of_project=file.parent != Path(home),
            disabled=said.disabled,
            disabled_in=self.origin("extensions.disabled"),
        )

    def rows(self) -> list[tuple[str, Any, str]]:
        """Every setting as (key, value, origin), for `zot doctor`. What looks like a secret is hidden."""
        from dataclasses import asdict

        flat = _leaves(asdict(self.values))
        return [(key, _shown(key, value), self.origin(key)) for key, value in flat.items()]


def load_settings(
    paths: Paths,
    project: str | Path | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    cache: BootCache | None = None,
) -> LoadedSettings:
    """Read every layer. `project` is the directory of a project that is trusted, None for any other.

    `overrides` are values of the command line, as nested JSON or with dots in the keys; they are taken as they are.
    Never raises for what a file holds: a bad file is reported and counts as empty, a bad value as not said.
    """
    layers = [(str(paths.go_config), _go_layer), (str(paths.settings), _home_layer)]
    if project is not None:
        file = project_settings(project)
        # A project directory whose .zot is the home has no settings of its own.
        if not _same(file, paths.settings):
            layers.append((str(file), _project_layer))
    plain: dict[str, Any] = {}
    origins: dict[str, str] = {}
    problems: list[Problem] = []
    for path, read in layers:
        data, found = _cached_layer(path, read, cache)
        problems += found
        if data.get("provider", plain.get("provider")) != plain.get("provider") and "model" not in data:
            # A model belongs to the provider that it was said with; another provider leaves it behind.
            plain.pop("model", None)
            origins.pop("model", None)
        _merge(plain, origins, data, path)
    _merge(plain, origins, _nested(overrides or {}), COMMAND_LINE)
    return LoadedSettings(from_plain(Settings, plain), plain, origins, tuple(problems))


Layer = tuple[dict[str, Any], list[Problem]]


def _cached_layer(path: str, read: Callable[[str], Layer], cache: BootCache | None) -> Layer:
    def build() -> list[Any]:
        data, problems = read(path)
        return [data, [problem.plain() for problem in problems]]

    if cache is None:
        return read(path)
    # The reader's name is in the key: a file that was the home's may be a project's tomorrow.
    name = f"settings:{read.__name__}:{path}"
    try:
        data, rows = cache.cached(name, [path], build)
        from_plain(Settings, data)
        return dict(data), [Problem(*row) for row in rows]
    except (TypeError, ValueError, AttributeError):
        cache.forget(name)
        return read(path)


def _file_layer(path: str, project: bool) -> Layer:
    document, problems = read_object(path)
    if document is None or not document.value:
        return {}, problems
    from zot_core.config.schema import check

    data, wrong = check(document.value, document, path, project)
    return data, problems + wrong


def _home_layer(path: str) -> Layer:
    return _file_layer(path, project=False)


def _project_layer(path: str) -> Layer:
    return _file_layer(path, project=True)


def _go_layer(path: str) -> Layer:
    """What the Go zot's config.json says that means the same here. Its other keys are its own affair."""
    document, problems = read_object(path)
    if document is None:
        return {}, problems
    source, data = document.value, {}
    for key in ("provider", "model", "theme"):
        if isinstance(source.get(key), str) and source[key].strip():
            data[key] = source[key].strip()
    level = source.get("reasoning")
    if isinstance(level, str):
        level = {"maximum": "max", "none": "off", "min": "minimal"}.get(level.strip().lower(), level.strip().lower())
        if level in THINKING_LEVELS:
            data["reasoning"] = level
    http: dict[str, Any] = {}
    if isinstance(source.get("http_proxy"), str) and source["http_proxy"].strip():
        http["proxy"] = source["http_proxy"].strip()
    if source.get("insecure") is True:
        http["verify_tls"] = False
    return ({**data, "http": http} if http else data), problems


def _merge(into: dict[str, Any], origins: dict[str, str], data: Mapping[str, Any], origin: str, at: str = "") -> None:
    """Lay `data` over `into`: objects key by key, everything else as a whole."""
    for key, value in data.items():
        name = f"{at}{key}"
        if isinstance(value, Mapping):
            inner = into.get(key)
            into[key] = inner = dict(inner) if isinstance(inner, Mapping) else {}
            origins.pop(name, None)
            _merge(inner, origins, value, origin, f"{name}.")
        else:
            for old in [old for old in origins if old == name or old.startswith(f"{name}.")]:
                del origins[old]
            into[key] = value
            origins[name] = origin


def _nested(data: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in data.items():
        place = result
        *outer, last = key.split(".")
        for step in outer:
            place = place.setdefault(step, {})
        place[last] = value
    return result


def _leaves(data: Mapping[str, Any], at: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, Mapping) and (value or at or key in sections()):
            flat |= _leaves(value, f"{at}{key}.")
        elif key != PLUGIN_SECTIONS or at:
            flat[f"{at}{key}"] = value
    return flat


def _shown(key: str, value: Any) -> Any:
    secret = any(word in key.rpartition(".")[2].lower() for word in _SECRET)
    if isinstance(value, str) and value and (secret or ("@" in value and "://" in value)):
        return "(hidden)"
    return value


def _same(one: Path, other: Path) -> bool:
    try:
        return one.parent.samefile(other.parent)
    except OSError:
        return False

"""The settings that can be changed by choosing: those with a closed set of values, and numbers; what they are for, and
where each value comes from. Reads the files as they are now.

Must not know how they are shown. Writing is `store`'s.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from zot_core.config.paths import Paths
from zot_core.config.settings import DEFAULT, LoadedSettings, load_settings
from zot_core.config.values import PLUGIN_SECTIONS, Settings, sections
from zot_core.types.failure import UsageError
from zot_core.types.record import record
from zot_core.types.specs import SettingsSpec, resolve


@record(kw_only=True)
class EditableSetting:
    """One setting. `choices` are its values (None: not said, the program chooses); without choices it is a number,
    `whole` or not. `origin` is a file's path, `command line` or `default`."""

    path: tuple[str, ...]
    value: Any
    choices: tuple[Any, ...] = ()
    whole: bool = True
    origin: str = DEFAULT
    description: str = ""
    model: Any = None
    """What checks a plugin's own section."""

    @property
    def key(self) -> str:
        """Its name with dots, a plugin's without `plugins.`."""
        return ".".join(self.path[1:] if self.model is not None else self.path)

    def parse(self, text: str) -> Any:
        """The value that a person wrote. Raises UsageError for no number; what is out of range `check` says."""
        try:
            return int(text) if self.whole else float(text)
        except ValueError:
            raise UsageError(f"{self.key} is a {'whole ' if self.whole else ''}number, not {text.strip()!r}") from None

    def check(self, value: Any) -> None:
        """Raises UsageError when the value does not fit."""
        from zot_core.config.schema import check_section, why_wrong

        if self.model is None:
            wrong = why_wrong(self.path, value)
        else:
            _, problems = check_section(self.model, {self.path[-1]: value}, self.path[1])
            wrong = problems[0].message.replace("; the default counts", "") if problems else None
        if wrong:
            raise UsageError(wrong)


def editable(
    paths: Paths, project: str | Path | None, specs: Iterable[tuple[str, SettingsSpec]] = ()
) -> list[EditableSetting]:
    """What can be changed: the core's settings in their order, then those of plugins with a model for their section.

    `project` is the directory of a project that is trusted. A model that cannot be imported brings nothing.
    """
    loaded = load_settings(paths, project)
    known = sections()
    found = _of_class(Settings, (), loaded, skip=known)
    for name, cls in known.items():
        found += _of_class(cls, (name,), loaded)
    for plugin, spec in specs:
        found += _of_model(plugin, spec, loaded)
    return found


def _of_class(
    cls: type[Any], before: tuple[str, ...], loaded: LoadedSettings, skip: Mapping[str, Any] | None = None
) -> list[EditableSetting]:
    hints, docs, found = get_type_hints(cls, include_extras=True), attribute_docs(cls), []
    for item in fields(cls):
        form = _form(hints[item.name])
        if form is None or item.name in (skip or {}):
            continue
        path = (*before, item.name)
        holder = getattr(loaded.values, before[0]) if before else loaded.values
        found.append(
            EditableSetting(
                path=path,
                value=getattr(holder, item.name),
                choices=form[0],
                whole=form[1],
                origin=loaded.origin(".".join(path)),
                description=docs.get(item.name, ""),
            )
        )
    return found


def _of_model(plugin: str, spec: SettingsSpec, loaded: LoadedSettings) -> list[EditableSetting]:
    try:
        model = resolve(spec.model)
        hints = get_type_hints(model, include_extras=True)
    except Exception:  # a plugin's own module: it was named when its section was checked
        return []
    docs, found = attribute_docs(model), []
    for name, info in getattr(model, "model_fields", {}).items():
        form = _form(hints.get(name))
        if form is None:
            continue
        path = (PLUGIN_SECTIONS, plugin, name)
        found.append(
            EditableSetting(
                path=path,
                value=loaded.section(plugin).get(name, info.get_default(call_default_factory=True)),
                choices=form[0],
                whole=form[1],
                origin=loaded.origin(".".join(path)),
                description=docs.get(name, ""),
                model=model,
            )
        )
    return found


def _form(hint: Any) -> tuple[tuple[Any, ...], bool] | None:
    """(choices, whether a number is whole) of a type; None for what cannot be chosen."""
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if hint is bool:
        return (True, False), True
    if hint in (int, float):
        return (), hint is int
    if get_origin(hint) is Literal:
        return get_args(hint), True
    parts = get_args(hint)
    if NoneType in parts and len(parts) == 2:
        inner = _form(next(part for part in parts if part is not NoneType))
        return ((None, *inner[0]), inner[1]) if inner is not None and inner[0] else None
    return None


def attribute_docs(cls: type[Any]) -> dict[str, str]:
    """What stands below each attribute of a class in its source, in one line; nothing where there is no source."""
    try:
        body: Any = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    except (OSError, TypeError, SyntaxError):
        return {}
    found = {}
    for attribute, text in pairwise(body.body):
        if isinstance(attribute, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            found[ast.unparse(attribute.target)] = " ".join(str(text.value.value).split())
    return found

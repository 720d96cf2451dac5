"""The border that settings cross: JSON of a person or a plugin's section is checked here, value by value.

A value of the wrong kind costs only itself; unknown keys are named and kept. Needs pydantic, so it is imported only
when a settings file is new or has changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from zot_core.config.objects import ObjectFile
from zot_core.config.problems import Problem, nearest
from zot_core.config.values import ALIASES, HOME_ONLY, PLUGIN_SECTIONS, Settings, sections
from zot_core.types.specs import resolve


@cache
def _adapter() -> TypeAdapter[Settings]:
    return TypeAdapter(Settings)


def check(
    data: Mapping[str, Any], document: ObjectFile, file: str, project: bool
) -> tuple[dict[str, Any], list[Problem]]:
    """What is right in the object `data` of a settings file, and what is wrong with the rest.

    `document` gives the lines; `project` leaves out what only the home settings may say.
    """
    problems = _unknown_keys(data, document, file)
    kept: dict[str, Any] = {}
    for written, value in data.items():
        key = ALIASES.get(written, written)
        if project and key in HOME_ONLY:
            message = f"{key!r} counts only in the home settings; it is ignored here"
            problems.append(Problem("warning", file, document.line_of((written,)), message))
        elif value is not None and (written == key or key not in data):  # null is "not said"
            kept[key] = {"preset": value} if key == "tools" and isinstance(value, str) else value
    spelling = {ALIASES[written]: written for written in data if written in ALIASES and ALIASES[written] not in data}
    for path, message in _wrong(kept):
        place = (spelling.get(path[0], path[0]), *path[1:]) if path else ()
        line = document.line_of(place)
        what = f"{'.'.join(place)!r}: {message}; the value is ignored" if path else f"{message}; the file is ignored"
        problems.append(Problem("warning", file, line, what))
    known = {f.name for f in fields(Settings)}
    return {key: value for key, value in kept.items() if key in known}, problems


def why_wrong(path: tuple[str, ...], value: Any) -> str | None:
    """Why `value` cannot be set at `path`, or None: the key is unknown (the nearest is named) or the kind is wrong."""
    data: Any = value
    for key in reversed(path):
        data = {key: data}
    key = ALIASES.get(path[0], path[0])
    empty = ObjectFile({}, "")
    if unknown := _unknown_keys(data, empty, ""):
        return unknown[0].message
    if key != path[0]:
        data = {key: data[path[0]]}
    if wrong := _wrong(data):
        return f"{'.'.join(wrong[0][0])!r}: {wrong[0][1]}"
    return None


def check_section(
    model: Any, data: Mapping[str, Any], plugin: str, file: str | Callable[[str], str] = ""
) -> tuple[dict[str, Any], list[Problem]]:
    """A plugin's section checked by its model (a pydantic model, a dataclass, or a dotted string to one).

    Gives the model's fields with defaults filled in; what does not fit is reported, and the default counts for it.
    `file` is where the section is written, or says it for a key of the section.
    Raises ValidationError when the model does not take its own defaults.
    """
    model = resolve(model)
    adapter: TypeAdapter[Any] = TypeAdapter(model)
    names = tuple(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else ()
    left, problems = dict(data), []

    def problem(key: str, message: str) -> None:
        problems.append(Problem("warning", file if isinstance(file, str) else file(key), None, message))

    try:
        checked = adapter.validate_json(json.dumps(left))
    except ValidationError as error:
        for item in error.errors():
            key = str(item["loc"][0]) if item["loc"] else ""
            where = ".".join((PLUGIN_SECTIONS, plugin, *map(str, item["loc"])))
            if item["type"] in _UNKNOWN:
                last = str(item["loc"][-1])
                problem(key, _unknown(where, last, names if len(item["loc"]) == 1 else ()))
            else:
                problem(key, f"{where!r}: {_plain(item)}; the default counts")
            left.pop(key, None)
        try:
            checked = adapter.validate_json(json.dumps(left))
        except ValidationError:
            checked = adapter.validate_json("{}")
    for key in left:
        if names and key not in names and model.model_config.get("extra") != "allow":
            problem(key, _unknown(".".join((PLUGIN_SECTIONS, plugin, key)), key, names))
    plain = adapter.dump_python(checked, mode="json")
    return (plain if isinstance(plain, dict) else {}), problems


def json_schema() -> dict[str, Any]:
    """The JSON Schema of settings.json, for the reference page and for editors."""
    schema = _adapter().json_schema()
    schema["additionalProperties"] = True
    return schema


def _unknown_keys(data: Mapping[str, Any], document: ObjectFile, file: str) -> list[Problem]:
    problems = []
    top = tuple(f.name for f in fields(Settings))
    for key, value in data.items():
        if key not in top and key not in ALIASES and key != "$schema":
            problems.append(Problem("warning", file, document.line_of((key,)), _unknown(key, key, top)))
        if key in sections() and isinstance(value, dict):
            names = tuple(f.name for f in fields(sections()[key]))
            for inner in value:
                if inner not in names:
                    message = _unknown(f"{key}.{inner}", inner, names)
                    problems.append(Problem("warning", file, document.line_of((key, inner)), message))
    return problems


def _unknown(where: str, key: str, known: tuple[str, ...]) -> str:
    guess = nearest(key, known)
    if guess is None:
        return f"unknown setting {where!r}; it is kept and ignored"
    return f"unknown setting {where!r}; did you mean {where.removesuffix(key) + guess!r}? It is kept and ignored"


def _wrong(data: dict[str, Any]) -> list[tuple[tuple[str, ...], str]]:
    """The values in `data` that do not fit, as (path, why). They are taken out of `data`."""
    found: list[tuple[tuple[str, ...], str]] = []
    while True:
        try:
            # Strict, and as JSON: "3" is not a number and 1 is not a yes, but a list is a list.
            _adapter().validate_json(json.dumps(data), strict=True)
            return found
        except ValidationError as error:
            for item in error.errors():
                path = _take_out(data, item["loc"])
                if not item["loc"]:  # not one value's fault, such as text that is no Unicode: nothing can be kept
                    data.clear()
                    return [*found, ((), _plain(item))]
                if path and all(path != other for other, _ in found):
                    place = item["loc"][len(path) : len(path) + 1]
                    which = f"item {place[0] + 1} " if place and isinstance(place[0], int) else ""
                    found.append((path, which + _plain(item)))


_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
_KINDS = {
    **dict.fromkeys(("string_type", "string_sub_type"), "must be a text"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "must be a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), "must be a list"),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "dataclass_type"), "must be an object"),
    "model_attributes_type": "must be an object",
    "missing": "must be said",
}


def _plain(item: Any) -> str:
    """What pydantic says about a value, in the words of a person who writes JSON."""
    message = str(item["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return _KINDS.get(item["type"]) or message.replace("Input should be", "must be").replace("Input should", "must")


def _take_out(data: dict[str, Any], location: tuple[str | int, ...]) -> tuple[str, ...]:
    """Remove the innermost object's value that `location` leads to, and say where it was."""
    path: list[str] = []
    place: Any = data
    for step in location:
        if not isinstance(step, str) or not isinstance(place, dict) or step not in place:
            break
        path.append(step)
        if len(path) < len(location) and isinstance(place[step], dict):
            place = place[step]
        else:
            break
    if path:
        parent = data
        for key in path[:-1]:
            parent = parent[key]
        del parent[path[-1]]
    return tuple(path)

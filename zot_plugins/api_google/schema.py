"""JSON Schema as the part of it that Gemini takes for a function's parameters; what it does not know it refuses.

Pure. References are written out, choices of constants become an enum, `null` becomes `nullable`, and what cannot be
said in a keyword is said in the description.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]
Trail = tuple[str, ...]

MAX_DEPTH = 40
"""Steps from the top that are written out."""
_KEPT = (
    "title",
    "description",
    "nullable",
    "default",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "minProperties",
    "maxProperties",
    "propertyOrdering",
)
_TYPES = {"string", "number", "integer", "boolean", "array", "object"}
_FORMATS = {"string": {"enum", "date-time"}, "number": {"float", "double"}, "integer": {"int32", "int64"}}


def sanitize(schema: Mapping[str, Any]) -> Schema:
    """The schema of a function's parameters as Gemini takes it; empty for a function without any."""
    clean = _Writer(schema).schema(schema, ())
    return clean if clean.get("properties") else {}


class _Writer:
    """Writes one schema out; `trail` are the references that led to where it is, so that a type within itself ends."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def schema(self, given: Any, trail: Trail) -> Schema:
        if not isinstance(given, Mapping):
            return {"type": "string"}
        if len(trail) > MAX_DEPTH:
            return {"type": "object"}
        given, trail = self._plain(given, trail)
        clean: Schema = {key: given[key] for key in _KEPT if key in given}
        named = given.get("type")
        kinds = [kind.lower() for kind in (named if isinstance(named, list) else [named]) if isinstance(kind, str)]
        if "null" in kinds:
            clean["nullable"] = True
        kinds = [kind for kind in dict.fromkeys(kinds) if kind in _TYPES]
        choices = [dict(choice) for choice in _list(given.get("anyOf")) if isinstance(choice, Mapping)]
        if len(kinds) > 1 and not choices:
            clean = {key: clean[key] for key in ("title", "description", "nullable", "default") if key in clean}
            rest = {key: value for key, value in given.items() if key not in clean}
            choices = [{**rest, "type": kind} for kind in kinds]
        if choices:
            return self._choice(clean, choices, trail)
        kind = kinds[0] if kinds else _guess(given)
        clean["type"] = kind
        self._values(clean, given, kind)
        if kind == "object":
            self._object(clean, given, trail)
        elif kind == "array":
            clean["items"] = self.schema(given.get("items"), (*trail, ""))
        return clean

    def _plain(self, given: Mapping[str, Any], trail: Trail) -> tuple[Mapping[str, Any], Trail]:
        """`given` without references, `allOf`, `oneOf` and `const`, and the trail with what was followed."""
        while isinstance(ref := given.get("$ref"), str):
            rest = {key: value for key, value in given.items() if key != "$ref"}
            given = rest if ref in trail else {**self._target(ref), **rest}
            if ref in trail:
                break
            trail = (*trail, ref)
        parts = [part for part in _list(given.get("allOf")) if isinstance(part, Mapping)]
        merged: Schema = {key: value for key, value in given.items() if key != "allOf"}
        for part in parts if len(trail) <= MAX_DEPTH else ():
            plain, trail = self._plain(part, (*trail, ""))
            merged = _merged(merged, plain)
        if "oneOf" in merged:
            merged = {"anyOf": merged["oneOf"], **{key: value for key, value in merged.items() if key != "oneOf"}}
        if "const" in merged:
            merged = {"enum": [merged["const"]], **{key: value for key, value in merged.items() if key != "const"}}
        return merged, trail

    def _target(self, ref: str) -> Mapping[str, Any]:
        found: Any = self._root
        for step in ref.removeprefix("#").split("/"):
            if step:
                step = step.replace("~1", "/").replace("~0", "~")
                found = found.get(step) if isinstance(found, Mapping) else None
        return found if isinstance(found, Mapping) else {}

    def _choice(self, clean: Schema, choices: list[Schema], trail: Trail) -> Schema:
        plain = [self._plain(choice, (*trail, "")) for choice in choices]
        if any(choice.get("type") == "null" for choice, _ in plain):
            clean["nullable"] = True
            plain = [(choice, after) for choice, after in plain if choice.get("type") != "null"]
        values = [value for choice, _ in plain for value in _list(choice.get("enum"))]
        if plain and all(_list(choice.get("enum")) for choice, _ in plain):
            said = {key: value for key, value in clean.items() if key != "enum"}
            return self.schema({**said, **_typed(values), "enum": values}, (*trail, ""))
        written = [self.schema(choice, after) for choice, after in plain]
        if len(written) == 1:
            return {**written[0], **clean}
        return {**clean, "anyOf": written} if written else {**clean, "type": "string"}

    @staticmethod
    def _values(clean: Schema, given: Mapping[str, Any], kind: str) -> None:
        form = given.get("format")
        if isinstance(form, str) and form in _FORMATS.get(kind, ()):
            clean["format"] = form
        values = _list(given.get("enum"))
        if None in values:
            clean["nullable"] = True
        said = [value for value in values if value not in (None, "")]  # neither may stand in an enum
        if not said:
            return
        if kind == "string" and all(isinstance(value, str) for value in said):
            clean["enum"] = said
            return
        listed = ", ".join(json.dumps(value, ensure_ascii=False) for value in values)
        clean["description"] = f"{clean.get('description', '')} One of: {listed}.".strip()

    def _object(self, clean: Schema, given: Mapping[str, Any], trail: Trail) -> None:
        properties = given.get("properties")
        if not isinstance(properties, Mapping) or not properties:
            return
        clean["properties"] = {str(name): self.schema(inner, (*trail, "")) for name, inner in properties.items()}
        required = [name for name in _list(given.get("required")) if isinstance(name, str) and name in properties]
        if required:
            clean["required"] = required


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _guess(given: Mapping[str, Any]) -> str:
    """The type of a schema that names none."""
    if "properties" in given:
        return "object"
    if "items" in given:
        return "array"
    values = given.get("enum")
    return str(_typed(values).get("type", "string")) if isinstance(values, list) else "string"


def _typed(values: list[Any]) -> Schema:
    kinds = {bool: "boolean", int: "integer", float: "number"}
    found = {kinds.get(type(value), "string") for value in values if value is not None}
    return {"type": found.pop()} if len(found) == 1 else {"type": "string"}


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> Schema:
    merged: Schema = {**other, **one}
    if isinstance(one.get("properties"), Mapping) and isinstance(other.get("properties"), Mapping):
        merged["properties"] = {**other["properties"], **one["properties"]}
    if isinstance(one.get("required"), list) and isinstance(other.get("required"), list):
        merged["required"] = [*other["required"], *(name for name in one["required"] if name not in other["required"])]
    return merged

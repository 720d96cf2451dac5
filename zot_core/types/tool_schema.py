"""From a function's parameters and docstring to what models and pydantic need to know. Imports nothing heavy for the
plain types; an annotation that is not plain is left to pydantic.
"""

from __future__ import annotations

import collections.abc
import enum
import inspect
import re
import types
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from zot_core.types.failure import ZotError
from zot_core.types.record import record
from zot_core.types.specs import resolve

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    None: {"type": "null"},
    dict: {"type": "object"},
    list: {"type": "array", "items": {}},
    Any: {},
    object: {},
}
_LISTS = (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Set)
_OBJECTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_SECTION = re.compile(r"(Args|Arguments|Parameters|Returns?|Raises|Yields|Examples?|Notes?):\s*$")
_ENTRY = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")


class ToolError(ZotError):
    """A function cannot be made a tool; the message has file, line and what to write instead."""


@record
class Parameter:
    """One parameter of a tool's function as models see it; `default` counts only if `optional`."""

    name: str
    annotation: Any
    optional: bool = False
    default: Any = None
    description: str = ""


def parameters_of(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The parameters of `function` but `ctx`. Raises ToolError for those that a model cannot fill in."""
    code = function.__code__
    where = f"{code.co_filename}:{code.co_firstlineno}: {function.__name__}"
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS) or code.co_posonlyargcount:
        raise ToolError(f"{where}: its parameters are passed by name, so it cannot have *args, **kwargs or a slash")
    positional = code.co_varnames[: code.co_argcount]
    names = (*positional, *code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount])
    values = function.__defaults__ or ()
    defaults = dict(zip(positional[len(positional) - len(values) :], values, strict=True))
    defaults.update(function.__kwdefaults__ or {})
    texts = _documented(function.__doc__ or "")
    found = []
    for name in names:
        if name == "ctx":
            continue
        annotation = _annotation(function, name, where)
        text = texts.get(name, "") or _metadata_text(annotation)
        found.append(Parameter(name, annotation, name in defaults, defaults.get(name), text))
    return tuple(found)


def description_of(function: Callable[..., Any]) -> str:
    """The first paragraph of the docstring in one line."""
    text = (function.__doc__ or "").strip()
    return " ".join(re.split(r"\n\s*\n", text, maxsplit=1)[0].split())


def schema_of(parameters: tuple[Parameter, ...]) -> dict[str, Any]:
    """The JSON Schema of a call's arguments."""
    properties: dict[str, Any] = {}
    for parameter in parameters:
        schema = dict(_schema(parameter.annotation))
        if parameter.description:
            schema["description"] = parameter.description
        if parameter.optional:
            default = parameter.default
            schema["default"] = default.value if isinstance(default, enum.Enum) else default
            if not _is_json(schema["default"]):
                del schema["default"]
        properties[parameter.name] = schema
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    required = [parameter.name for parameter in parameters if not parameter.optional]
    return {**schema, "required": required} if required else schema


def _schema(annotation: Any) -> Mapping[str, Any]:
    plain = _PLAIN.get(annotation) if annotation.__hash__ else None
    if plain is not None:
        return plain
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        if all(isinstance(extra, str) for extra in arguments[1:]):
            return _schema(arguments[0])
    elif origin is Literal:
        return _choices(arguments)
    elif origin in (Union, types.UnionType):
        return {"anyOf": [dict(_schema(one)) for one in arguments]}
    elif origin in _LISTS:
        return _array(origin, arguments)
    elif origin in _OBJECTS:
        value = dict(_schema(arguments[1])) if len(arguments) == 2 else {}
        return {"type": "object", "additionalProperties": value} if value else {"type": "object"}
    elif isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return _choices(tuple(member.value for member in annotation))
    return _foreign(annotation)


def _array(origin: Any, arguments: tuple[Any, ...]) -> dict[str, Any]:
    if origin is tuple and not (len(arguments) == 2 and arguments[1] is Ellipsis):
        items = [dict(_schema(one)) for one in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    schema: dict[str, Any] = {"type": "array", "items": dict(_schema(arguments[0])) if arguments else {}}
    if origin in (set, frozenset, collections.abc.Set):
        schema["uniqueItems"] = True
    return schema


def _choices(values: tuple[Any, ...]) -> dict[str, Any]:
    kinds = {_PLAIN[type(value)]["type"] for value in values if type(value) in _PLAIN}
    listed = [value.value if isinstance(value, enum.Enum) else value for value in values]
    return {"type": kinds.pop(), "enum": listed} if len(kinds) == 1 else {"enum": listed}


def _foreign(annotation: Any) -> Mapping[str, Any]:
    """What pydantic says of an annotation that is not plain: dates, paths, dataclasses, its own models."""
    adapter = resolve("pydantic:TypeAdapter")  # 65 ms that only such a tool pays
    try:
        schema: Mapping[str, Any] = adapter(annotation).json_schema()
    except Exception as error:  # pydantic has many ways to say no
        raise ToolError(f"{annotation!r} cannot be a tool's parameter: {error}") from error
    return schema


def _annotation(function: Callable[..., Any], name: str, where: str) -> Any:
    annotation = function.__annotations__.get(name)
    if annotation is None:
        raise ToolError(f"{where}: the parameter {name} needs a type, such as {name}: str")
    if not isinstance(annotation, str):
        return annotation
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    scope = {key: cell.cell_contents for key, cell in cells}
    try:
        return eval(annotation, function.__globals__, scope)
    except Exception as error:  # a name that exists for type checkers only, a typing error
        raise ToolError(f"{where}: the type of {name}, {annotation}, cannot be evaluated: {error}") from error


def _metadata_text(annotation: Any) -> str:
    if get_origin(annotation) is not Annotated:
        return ""
    return next((extra for extra in get_args(annotation)[1:] if isinstance(extra, str)), "")


def _documented(docstring: str) -> dict[str, str]:
    """The texts of the `Args:` section by parameter; lines that are indented deeper go on."""
    texts: dict[str, str] = {}
    current, inside, margin = "", False, 0
    for line in docstring.expandtabs().splitlines():
        text, indent = line.strip(), len(line) - len(line.lstrip())
        section = _SECTION.match(text)
        if section:
            inside, margin, current = section[1] in ("Args", "Arguments", "Parameters"), 0, ""
        elif inside and text:
            entry = _ENTRY.match(text)
            margin = margin or indent
            if entry and indent <= margin:
                current = entry[1]
                texts[current] = entry[2]
            elif current:
                texts[current] = f"{texts[current]} {text}".strip()
    return texts


def _is_json(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_json, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(item) for key, item in value.items())
    return value is None or isinstance(value, str | int | float | bool)


def model_of(name: str, parameters: tuple[Parameter, ...]) -> Any:
    """The pydantic model that checks a call's arguments; made of the same annotations as the schema."""
    pydantic = import_module("pydantic")
    fields: dict[str, Any] = {}
    for parameter in parameters:
        # pydantic reserves some names and its models have methods; such a parameter lives under another field.
        taken = parameter.name.startswith("_") or hasattr(pydantic.BaseModel, parameter.name)
        default = parameter.default if parameter.optional else ...
        alias = parameter.name if taken else None
        fields[field_name(parameter.name, taken)] = (parameter.annotation, pydantic.Field(default, alias=alias))
    config = {"extra": "forbid", "protected_namespaces": (), "arbitrary_types_allowed": True}
    return pydantic.create_model(name, __config__=config, **fields)


def field_name(name: str, taken: bool) -> str:
    """The field of the model in which a parameter lives."""
    return f"parameter_{name.lstrip('_')}" if taken else name

"""Which JSON events the code makes, found by reading it: a literal with a `type` is one, its keys are its fields.

A field that is set later on (`line["x"] = ...`), also by a function that the line is handed to, may be missing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAKERS = ("zot_core/wire/*.py", "zot_cli/modes/*.py")
BLOCKS = frozenset({"text", "thinking", "image"})
"""Types of content blocks; `tool_call` is both a block and an event, made alike."""


@dataclass
class Fields:
    """The fields of one type: those that are always there, and those that may be."""

    always: list[str]
    sometimes: list[str] = field(default_factory=list)

    def may_have(self, names: list[str]) -> None:
        """Adds fields that are not always there."""
        self.sometimes += [name for name in names if name not in self.always + self.sometimes]


@cache
def wire_types() -> dict[str, Fields]:
    """Type -> its fields, in the order of the code."""
    found: dict[str, Fields] = {}
    for pattern in MAKERS:
        for path in sorted(ROOT.glob(pattern)):
            module = ast.parse(path.read_text(encoding="utf-8"))
            functions = [node for node in ast.walk(module) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
            helpers = {one.name: _set_on_parameters(one) for one in functions}
            for function in functions:
                _read(function, helpers, found)
    return {name: found[name] for name in found if name not in BLOCKS}


def _set_on_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[int, list[str]]:
    """Position of a parameter -> the fields that the function sets on what it is given there."""
    names = [one.arg for one in function.args.args]
    found: dict[int, list[str]] = {}
    for name, key in _set_later(function):
        if name in names:
            found.setdefault(names.index(name), []).append(key)
    return found


def _set_later(function: ast.AST) -> Iterator[tuple[str, str]]:
    """(variable, field) of every `variable["field"] = ...`."""
    for node in ast.walk(function):
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if (
            isinstance(target, ast.Subscript)
            and isinstance(target.value, ast.Name)
            and isinstance(target.slice, ast.Constant)
        ):
            yield target.value.id, str(target.slice.value)


def _read(function: ast.AST, helpers: dict[str, dict[int, list[str]]], found: dict[str, Fields]) -> None:
    named = _named_literals(function)
    for node in ast.walk(function):
        if isinstance(node, ast.Dict) and type_of(node):
            found.setdefault(type_of(node), Fields(_keys(node)))
    for node in ast.walk(function):
        if isinstance(node, ast.Dict) and not type_of(node):
            for key, value in zip(node.keys, node.values, strict=True):  # {**line, "more": ...}
                if key is None and isinstance(value, ast.Name) and value.id in named:
                    found[named[value.id]].always += [
                        name for name in _keys(node) if name not in found[named[value.id]].always
                    ]
        if isinstance(node, ast.Call):
            given = helpers.get(ast.unparse(node.func).removeprefix("self."), {})
            for position, names in given.items():
                argument = node.args[position] if position < len(node.args) else None
                if isinstance(argument, ast.Name) and argument.id in named:
                    found[named[argument.id]].may_have(names)
    for variable, key in _set_later(function):
        if variable in named:
            found[named[variable]].may_have([key])


def _named_literals(function: ast.AST) -> dict[str, str]:
    """Variable -> the type of the event that it is."""
    found = {}
    for node in ast.walk(function):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.Dict) and type_of(value):
            found[target.id] = type_of(value)
    return found


def type_of(literal: ast.Dict) -> str:
    """The event's type, when the literal begins with one."""
    if literal.keys and isinstance(literal.keys[0], ast.Constant) and literal.keys[0].value == "type":
        value = literal.values[0]
        return str(value.value) if isinstance(value, ast.Constant) else ""
    return ""


def _keys(literal: ast.Dict) -> list[str]:
    return [name for key, value in zip(literal.keys, literal.values, strict=True) for name in _names(key, value)]


def _names(key: ast.expr | None, value: ast.expr) -> list[str]:
    if isinstance(key, ast.Constant):
        return [] if key.value == "type" else [str(key.value)]
    if key is None and isinstance(value, ast.Call) and ast.unparse(value.func) == "codec.usage":
        from zot_core.types.usage import Usage
        from zot_core.wire.codec import usage

        return list(usage(Usage()))
    return []

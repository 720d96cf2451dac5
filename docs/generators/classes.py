"""What a class is made of, as the pages show it: its fields, and the text below them in the source."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from itertools import pairwise
from typing import Any

from generators.markdown import code, table


def fields_table(cls: Any, rewritable: frozenset[str] | None = None) -> str:
    """The fields of a dataclass; with `rewritable`, which of them a handler may change."""
    fields = [field for field in dataclasses.fields(cls) if not field.name.startswith("_")]
    if not fields:
        return "No fields."
    head = ["field", "type", "default", *(["may change"] if rewritable else [])]
    rows = [
        [code(one.name), code(one.type), _default(one), *(["yes" * (one.name in rewritable)] if rewritable else [])]
        for one in fields
    ]
    notes = [f"- {code(name)}: {' '.join(text.split())}" for name, text in attribute_notes(cls).items()]
    return "\n\n".join([table(head, rows), *(["\n".join(notes)] if notes else [])])


def _default(field: Any) -> str:
    if field.default is not dataclasses.MISSING:
        return code(repr(field.default))
    if field.default_factory is not dataclasses.MISSING:
        return "empty" if field.default_factory in (dict, list, tuple) else f"a new `{field.default_factory.__name__}`"
    return "required"


def attribute_notes(cls: Any) -> dict[str, str]:
    """Attribute -> the text that stands below it in the class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0].body  # type: ignore[attr-defined]
    notes = {}
    for attribute, text in pairwise(body):
        if isinstance(attribute, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            notes[ast.unparse(attribute.target)] = str(text.value.value)
    return notes

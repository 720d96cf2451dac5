"""The page of settings.json, from the classes that files are checked against."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args, get_origin, get_type_hints

from generators.classes import attribute_notes
from generators.markdown import code, codes, doc, table
from zot_core.config import values

INTRO = """
# Settings

zot reads `settings.json` in its home (`$ZOT_HOME`, else the platform's place for state), then `.zot/settings.json` of
a project that is trusted; what the project says wins, key by key. Comments and trailing commas are tolerated, unknown
keys are named and kept, and a value of the wrong kind costs only itself. A file that does not parse is reported and
left alone. `zot doctor` shows each value and where it comes from.
"""


def page() -> str:
    """All keys, section by section."""
    sections = values.sections()
    parts = [INTRO.strip(), "## At the top", _table(values.Settings, skip=set(sections)), _rules()]
    for name, cls in sections.items():
        parts.append(f"## `{name}`\n\n{doc(cls)}\n\n{_table(cls)}")
    parts.append("## JSON Schema\n\nOf the whole file, for an editor.\n\n" + _schema())
    return "\n\n".join(parts)


def _rules() -> str:
    aliases = "; ".join(f"{code(old)} is read as {code(new)}" for old, new in values.ALIASES.items())
    return f"Only the home settings may say {codes(sorted(values.HOME_ONLY))}. Other spellings: {aliases}."


def _table(cls: Any, skip: set[str] | frozenset[str] = frozenset()) -> str:
    hints = get_type_hints(cls, include_extras=True)
    notes = attribute_notes(cls)
    rows = [
        (code(f.name), _type(hints[f.name]), code(_default(f)), notes.get(f.name, ""))
        for f in dataclasses.fields(cls)
        if f.name not in skip
    ]
    return table(("key", "value", "default", "note"), rows)


def _type(hint: Any) -> str:
    limit = next((f", at least {m.limit:g}" for m in getattr(hint, "__metadata__", ()) if hasattr(m, "limit")), "")
    if limit:
        hint = get_args(hint)[0]
    words = {str: "text", int: "whole number", float: "number", bool: "true or false", type(None): "null"}
    if hint in words:
        return words[hint] + limit
    origin, args = get_origin(hint), get_args(hint)
    if origin is tuple:
        return "list of text"
    if origin is not None and args and all(isinstance(arg, str) for arg in args):
        return codes(args)
    if origin is not None and type(None) in args:
        return " or ".join(_type(arg) for arg in args)
    return "object"


def _default(field: Any) -> str:
    import json

    value = field.default if field.default is not dataclasses.MISSING else field.default_factory()
    return json.dumps(value)


def _schema() -> str:
    import json

    from pydantic import TypeAdapter

    schema = TypeAdapter(values.Settings).json_schema()
    return f"```json\n{json.dumps(schema, indent=1, sort_keys=True)}\n```"

"""Older and foreign shapes of `edit`'s arguments, brought into the present one before validation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_NAMES = {
    "oldText": "old_text",
    "old_string": "old_text",
    "newText": "new_text",
    "new_string": "new_text",
    "replaceAll": "replace_all",
}
_OF_AN_EDIT = ("old_text", "new_text", "replace_all")


def prepare(args: Any) -> Any:
    """One edit's fields at the top become a list of one; camel-case names and a list sent as JSON text are read."""
    if not isinstance(args, Mapping):
        return args
    named = _renamed(args)
    edits = named.get("edits")
    if isinstance(edits, str):
        try:
            edits = json.loads(edits)
        except ValueError:
            return named  # validation says what is wrong
    if isinstance(edits, Mapping):
        edits = [edits]
    single = {name: named.pop(name) for name in _OF_AN_EDIT if name in named}
    if isinstance(edits, list):
        edits = [_renamed(edit) if isinstance(edit, Mapping) else edit for edit in edits]
        named["edits"] = [*edits, single] if "old_text" in single else edits
    elif edits is None and single:
        named["edits"] = [single]
    return named


def _renamed(args: Mapping[str, Any]) -> dict[str, Any]:
    return {_NAMES.get(name, name): value for name, value in args.items() if value is not None}

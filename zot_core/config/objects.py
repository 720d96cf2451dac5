"""Reading a JSON object from a file of the person's, with everything that is wrong with the file said.

Plain JSON, the usual case of a start, is read by the standard library; only comments, mistakes and questions for a line
bring in the tolerant reader. Knows no setting.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from zot_core.config.paths import read_bytes, reason
from zot_core.config.problems import Problem
from zot_core.types.record import record


@record
class ObjectFile:
    """An object and the text that it was written in."""

    value: dict[str, Any]
    text: str

    def line_of(self, path: tuple[str, ...]) -> int | None:
        """The line of the key at `path`, from 1; of the nearest key around it if that one is not in the text."""
        from zot_core.config.jsonc import parse

        return parse(self.text).line_of(path)


def read_object(path: str | Path) -> tuple[ObjectFile | None, list[Problem]]:
    """The object in the file, or None with what is wrong; a missing or empty file is an empty object. Never raises."""
    file = str(path)
    try:
        text = read_bytes(path).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        return ObjectFile({}, ""), []
    except UnicodeDecodeError as error:
        return None, [Problem("error", file, None, f"not UTF-8 text ({error.reason}); the file is ignored")]
    except OSError as error:
        return None, [Problem("error", file, None, f"cannot be read: {reason(error)}; the file is ignored")]
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return _tolerant(file, text)
    return (ObjectFile(value, text), []) if isinstance(value, dict) else _tolerant(file, text)


def _tolerant(file: str, text: str) -> tuple[ObjectFile | None, list[Problem]]:
    from zot_core.config import jsonc

    try:
        document = jsonc.parse(text)
    except jsonc.JsoncError as error:
        message = f"{error.reason} (column {error.column}); the file is ignored until this is mended"
        return None, [Problem("error", file, error.line, message)]
    if not isinstance(document.value, dict):
        kinds = {list: "a list", str: "a text", type(None): "null", bool: "true or false"}
        kind = kinds.get(type(document.value), "a number")
        line = 1 if document.root is None else jsonc.line_at(text, document.root.start)
        return None, [Problem("error", file, line, f"must be an object {{...}}, not {kind}; the file is ignored")]
    twice = [
        Problem("warning", file, line, f"{key!r} stands here a second time; this one counts")
        for key, line in document.duplicates()
    ]
    return ObjectFile(document.value, text), twice


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")  # the tolerant reader says which, and where
    return found


def _refuse(name: str) -> Any:
    raise ValueError(name)

"""From a line of stdin, whatever is in it, to a request of `zot rpc`, or to what is wrong with it.

Never repeats what a field held: it may be a secret. Knows no process.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from zot_core.wire.rpc import COMMANDS, Id, Request

_MOST_SAID = 5
"""Of the things that are wrong with one request."""


class BadRequest(Exception):
    """A line that is no request: what is wrong with it, and what is known of it for the response."""

    def __init__(self, message: str, id: Id | None = None, command: str = "") -> None:
        super().__init__(message)
        self.id = id
        self.command = command


def decode(line: bytes) -> Request:
    """The request in a line. Raises BadRequest, which never repeats what a field held: it may be a secret."""
    try:
        found = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
        if b"\\ud" in line or b"\\uD" in line:
            found = _whole(found)
    except UnicodeDecodeError as error:
        raise BadRequest(f"the line is not UTF-8 (byte {error.start})") from None
    except RecursionError:
        raise BadRequest("the line is JSON that is nested too deep") from None
    except json.JSONDecodeError as error:
        raise BadRequest(f"the line is not JSON: {error.msg} (character {error.pos})") from None
    except ValueError as error:
        raise BadRequest(f"the line is not JSON that can be read: {_first_words(error)}") from None
    if not isinstance(found, dict):
        raise BadRequest(f"a request is a JSON object, not {_json_type(found)}")
    return _checked(found)


def _checked(found: dict[str, Any]) -> Request:
    id, name = found.get("id"), found.get("type")
    command = name if isinstance(name, str) and len(name) <= 100 else ""
    odd = isinstance(id, bool) or not isinstance(id, str | int | float | None)
    if odd or (isinstance(id, float) and id - id != 0):
        raise BadRequest("the id is neither a string nor a number", None, command)
    if not isinstance(name, str):
        raise BadRequest("the request has no type, or it is no string", id)
    model = COMMANDS.get(name)
    if model is None:
        raise BadRequest(f"unknown command{_nearest(command)}", id, command)
    try:
        return model.model_validate(found)
    except ValidationError as error:
        raise BadRequest(_wrong(error), id, command) from None


def _wrong(error: ValidationError) -> str:
    """What is wrong, field by field, without what they held."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    said = []
    for problem in problems[:_MOST_SAID]:
        where = ".".join(str(part) for part in problem["loc"] if part not in ("str", "int", "float"))
        text = problem["msg"].removeprefix("Value error, ")
        said.append(f"{where}: {text}" if where else text)
    more = len(problems) - _MOST_SAID
    return "; ".join(said) + (f"; and {more} more" if more > 0 else "")


def _nearest(name: str) -> str:
    from difflib import get_close_matches  # only for a mistake

    near = get_close_matches(name, COMMANDS, n=1)
    return f" {name!r}; did you mean {near[0]!r}?" if near else f" {name!r}"


def _whole(value: Any) -> Any:
    """`value` with replacement marks for halves of surrogate pairs, which are no characters."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _first_words(error: Exception) -> str:
    return str(error).partition(";")[0]


def _json_type(value: Any) -> str:
    names = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")

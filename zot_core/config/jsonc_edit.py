"""Changing one key of a JSON text and leaving the rest to the letter: comments, order, indentation, line ends.

Text in, text out. Every change is read back and compared before it is given out: a mistake here cannot lose a setting.
"""

from __future__ import annotations

import copy
import json
import re
from typing import Any

from zot_core.config.jsonc import Document, JsoncError, Member, Node, parse

_REST_OF_LINE = re.compile(r"[ \t]*(?:/\*[^\r\n]*?\*/[ \t]*)*(?://[^\r\n]*)?(?=\r?\n|$)")


def set_key(text: str, path: tuple[str, ...], value: Any) -> str:
    """`text` with `value` at `path`; objects on the way are made where they are missing.

    Raises JsoncError when the text does not parse and ValueError when something on the way is not an object.
    """
    document = parse(text)
    if document.value != {} and not isinstance(document.value, dict):
        raise ValueError("the text does not hold an object")
    wanted = _with(document.value, path, value)
    return _checked(_set(document, path, value), wanted)


def remove_key(text: str, path: tuple[str, ...]) -> str:
    """`text` without the key at `path` and the comment on its line; unchanged if it has none. Raises JsoncError."""
    document = parse(text)
    while (member := document.find(path)) is not None:
        parent = document.find(path[:-1]).node if len(path) > 1 else document.root  # type: ignore[union-attr]
        assert parent is not None
        text = _checked(_cut(document.text, parent, member), _without(document, path))
        document = parse(text)
    return text


def _set(document: Document, path: tuple[str, ...], value: Any) -> str:
    text, node = document.text, document.root
    newline = "\r\n" if "\r\n" in text else "\n"
    if node is None:
        head = text if not text or text.endswith("\n") else text + newline
        return head + _dump(_nested(path, value), "", _unit(text), newline) + newline
    for depth, key in enumerate(path):
        member = node.member(key)
        if member is None:
            return _insert(text, node, key, _nested(path[depth + 1 :], value), newline)
        if depth == len(path) - 1:
            node = member.node
            rendered = _dump(value, _indent_at(text, member.start), _unit(text), newline)
            return text[: node.start] + rendered + text[node.end :]
        if not isinstance(member.node.value, dict):
            raise ValueError(f"{'.'.join(path[: depth + 1])} is not an object")
        node = member.node
    raise ValueError("no key was given")


def _insert(text: str, node: Node, key: str, value: Any, newline: str) -> str:
    """A new member at the end of the object `node`, in the way that its other members are written."""
    name = _json(key)
    outer, unit = _indent_at(text, node.start), _unit(text)
    if not node.members:
        inner = outer + unit
        item = f"{name}: {_dump(value, inner, unit, newline)}"
        # Comments in an otherwise empty object stay where they are, before the new key.
        inside = text[node.start + 1 : node.end - 1].rstrip()
        body = f"{{{inside}{newline}{inner}{item}{newline}{outer}}}"
        return text[: node.start] + body + text[node.end :]
    last = node.members[-1]
    if "\n" not in text[node.start : node.end]:
        item = f" {name}: {_dump(value, outer, '', newline)}"
        at, comma = last.node.end, ","
        return text[:at] + comma + item + text[at if last.comma < 0 else last.comma + 1 :]
    inner = _indent_at(text, last.start)
    item = f"{newline}{inner}{name}: {_dump(value, inner, unit, newline)}"
    if last.comma >= 0:
        at = _line_end(text, last.comma + 1, node.end - 1)
        return text[:at] + item + "," + text[at:]
    at = _line_end(text, last.node.end, node.end - 1)
    return text[: last.node.end] + "," + text[last.node.end : at] + item + text[at:]


def _cut(text: str, node: Node, member: Member) -> str:
    index = node.members.index(member)
    start, end = member.start, member.node.end if member.comma < 0 else member.comma + 1
    line_start = text.rfind("\n", 0, start) + 1
    rest = _REST_OF_LINE.match(text, end)
    alone = not text[line_start:start].strip() and rest is not None
    if alone and rest is not None and line_start > node.start:
        start, end = line_start, rest.end()
        end += 2 if text.startswith("\r\n", end) else 1 if text.startswith("\n", end) else 0
    elif index < len(node.members) - 1:
        end += len(text[end:]) - len(text[end:].lstrip(" \t"))
    else:
        start = len(text[:start].rstrip(" \t"))
    text = text[:start] + text[end:]
    if member.comma < 0 and index > 0:
        # The member before is the last one now; its comma would be a trailing one that other readers refuse.
        comma = node.members[index - 1].comma
        text = text[:comma] + text[comma + 1 :]
    return text


def _line_end(text: str, position: int, limit: int) -> int:
    """The end of the line that `position` is on if only blanks and comments are left on it, else `position`."""
    rest = _REST_OF_LINE.match(text, position)
    return rest.end() if rest is not None and rest.end() <= limit else position


def _indent_at(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """One step of indentation as this text has it; two blanks if it shows none."""
    match = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return match[1] if match else "  "


def _dump(value: Any, indent: str, unit: str, newline: str) -> str:
    if not unit or not isinstance(value, (dict, list, tuple)) or not value:
        return _json(value)
    return _json(value, unit).replace("\n", newline + indent)


def _json(value: Any, indent: str | None = None) -> str:
    """JSON with letters as letters; only what is no Unicode (odd bytes of a path) is escaped: no file could hold it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    if any("\ud800" <= c <= "\udfff" for c in text):
        return json.dumps(value, allow_nan=False, indent=indent)
    return text


def _nested(path: tuple[str, ...], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _with(value: dict[str, Any], path: tuple[str, ...], new: Any) -> dict[str, Any]:
    changed = copy.deepcopy(value)
    place = changed
    for key in path[:-1]:
        place = place.setdefault(key, {})
        if not isinstance(place, dict):
            raise ValueError(f"{key} is not an object")
    place[path[-1]] = json.loads(json.dumps(new))
    return changed


def _without(document: Document, path: tuple[str, ...]) -> dict[str, Any]:
    """The value once the member that counts is gone: an equal key before it counts again."""
    changed: dict[str, Any] = copy.deepcopy(document.value)
    place = changed
    for key in path[:-1]:
        place = place[key]
    parent = document.find(path[:-1]).node if len(path) > 1 else document.root  # type: ignore[union-attr]
    assert parent is not None
    earlier = [m for m in parent.members if m.key == path[-1]][:-1]
    if earlier:
        place[path[-1]] = earlier[-1].node.value
    else:
        del place[path[-1]]
    return changed


def _checked(text: str, wanted: Any) -> str:
    try:
        right = parse(text).value == wanted
    except JsoncError:
        right = False
    if not right:
        raise ValueError("the change could not be made without touching the rest of the text")
    return text

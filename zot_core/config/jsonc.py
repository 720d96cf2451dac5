"""JSON as people write it: comments, trailing commas and a byte order mark are fine; all else is an error with a place.

Reads text into a value and the places of its keys. Knows no file and no setting; changing text is `jsonc_edit`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH = 100
"""Nesting beyond this is refused: no settings need it, and a parser must not run out of stack."""
_TRIVIA = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\r\n]*|/\*.*?\*/)+", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_WORD = re.compile(r"[^\s,:{}\[\]\"/]+")
_CONSTANTS: dict[str, Any] = {"true": True, "false": False, "null": None}


class JsoncError(ValueError):
    """The text is not JSON even with comments and trailing commas allowed; `line` and `column` count from 1."""

    def __init__(self, message: str, text: str, offset: int) -> None:
        self.offset = offset
        self.line = line_at(text, offset)
        self.column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        self.reason = message
        super().__init__(f"{message} (line {self.line}, column {self.column})")


@dataclass(slots=True)
class Member:
    """A key of an object: the place of its quote, its value, and where the comma after it is (-1: there is none)."""

    key: str
    start: int
    node: Node
    comma: int = -1


@dataclass(slots=True)
class Node:
    """A value and the text that it stands in: `text[start:end]`. Objects have `members`, in the order written."""

    value: Any
    start: int
    end: int
    members: list[Member] = field(default_factory=list)

    def member(self, key: str) -> Member | None:
        """The member that counts: of equal keys it is the last, as in every JSON reader."""
        return next((m for m in reversed(self.members) if m.key == key), None)


@dataclass(slots=True)
class Document:
    """A text that was read. `root` is None when there is nothing in it but blanks and comments."""

    text: str
    root: Node | None

    @property
    def value(self) -> Any:
        """The value; an empty text is an empty object."""
        return {} if self.root is None else self.root.value

    def find(self, path: tuple[str, ...]) -> Member | None:
        """The member at `path`, keys from the outermost object inwards."""
        node, found = self.root, None
        for key in path:
            found = node.member(key) if node is not None else None
            if found is None:
                return None
            node = found.node
        return found

    def line_of(self, path: tuple[str, ...]) -> int | None:
        """The line of the key at `path`, from 1; of the nearest key around it if that one is not in the text."""
        while path:
            if (member := self.find(path)) is not None:
                return line_at(self.text, member.start)
            path = path[:-1]
        return None

    def duplicates(self) -> list[tuple[str, int]]:
        """Keys that stand twice in one object, with the line of the later one, which counts."""
        found: list[tuple[str, int]] = []
        nodes = [self.root] if self.root else []
        while nodes:
            node = nodes.pop()
            seen: set[str] = set()
            for member in node.members:
                if member.key in seen:
                    found.append((member.key, line_at(self.text, member.start)))
                seen.add(member.key)
                nodes.append(member.node)
        return found


def line_at(text: str, offset: int) -> int:
    """The line of an offset, from 1."""
    return text.count("\n", 0, offset) + 1


def parse(text: str) -> Document:
    """Read `text`. Raises JsoncError."""
    parser = _Parser(text)
    position = parser.skip(0)
    if position == len(text):
        return Document(text, None)
    root = parser.value(position, 0)
    end = parser.skip(root.end)
    if end != len(text):
        raise JsoncError("there is more text after the value", text, end)
    return Document(text, root)


def loads(text: str) -> Any:
    """The value of `text`; an empty one is an empty object. Raises JsoncError."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return parse(text).value


def _refuse(name: str) -> Any:
    raise ValueError(name)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text

    def skip(self, position: int) -> int:
        """The place after blanks and comments."""
        if match := _TRIVIA.match(self.text, position):
            position = match.end()
        if self.text.startswith("/*", position):
            raise JsoncError("a comment is not closed", self.text, position)
        return position

    def value(self, start: int, depth: int) -> Node:
        text = self.text
        if depth > MAX_DEPTH:
            raise JsoncError(f"nested deeper than {MAX_DEPTH} levels", text, start)
        head = text[start : start + 1]
        if head == "{":
            return self.object(start, depth)
        if head == "[":
            return self.array(start, depth)
        if head == '"':
            string, end = self.string(start)
            return Node(string, start, end)
        if match := _NUMBER.match(text, start):
            word = _WORD.match(text, start)
            if word is not None and word.end() == match.end():
                return Node(self.number(match[0], start), start, match.end())
        if (word := _WORD.match(text, start)) and word[0] in _CONSTANTS:
            return Node(_CONSTANTS[word[0]], start, word.end())
        raise JsoncError(self.unexpected(start, "a value"), text, start)

    def number(self, digits: str, start: int) -> int | float:
        try:
            return json.loads(digits)  # type: ignore[no-any-return]
        except ValueError as error:  # thousands of digits
            raise JsoncError("the number is too long", self.text, start) from error

    def string(self, start: int) -> tuple[str, int]:
        match = _STRING.match(self.text, start)
        if match is None:
            raise JsoncError("a text is not closed on its line, or holds a bare control character", self.text, start)
        try:
            return json.loads(match[0]), match.end()
        except json.JSONDecodeError as error:
            message = error.msg[0].lower() + error.msg[1:]
            raise JsoncError(message, self.text, start + error.pos) from error

    def object(self, start: int, depth: int) -> Node:
        node = Node({}, start, start)
        position = self.skip(start + 1)
        while self.text[position : position + 1] != "}":
            if self.text[position : position + 1] != '"':
                raise JsoncError(self.unexpected(position, "a key in double quotes or }"), self.text, position)
            key, end = self.string(position)
            colon = self.skip(end)
            if self.text[colon : colon + 1] != ":":
                raise JsoncError(self.unexpected(colon, f"a colon after {key!r}"), self.text, colon)
            member = Member(key, position, self.value(self.skip(colon + 1), depth + 1))
            node.members.append(member)
            node.value[key] = member.node.value
            position, member.comma = self.separator(member.node.end, "}")
        node.end = position + 1
        return node

    def array(self, start: int, depth: int) -> Node:
        node = Node([], start, start)
        position = self.skip(start + 1)
        while self.text[position : position + 1] != "]":
            item = self.value(position, depth + 1)
            node.value.append(item.value)
            position, _ = self.separator(item.end, "]")
        node.end = position + 1
        return node

    def separator(self, end: int, closing: str) -> tuple[int, int]:
        """The place of what follows a value, and of the comma between (-1: none)."""
        position = self.skip(end)
        if self.text[position : position + 1] == ",":
            return self.skip(position + 1), position
        if self.text[position : position + 1] != closing:
            raise JsoncError(self.unexpected(position, f"a comma or {closing}"), self.text, position)
        return position, -1

    def unexpected(self, position: int, wanted: str) -> str:
        if position >= len(self.text):
            return f"the text ends where {wanted} should be"
        word = _WORD.match(self.text, position)
        return f"expected {wanted}, found {(word[0] if word else self.text[position])[:20]!r}"

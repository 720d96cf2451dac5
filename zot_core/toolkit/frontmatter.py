"""Frontmatter: the fields between two lines `---` at the beginning of a text, read leniently where they are clear.

Every scalar is text, as it was written. No tag makes an object and nothing is ever run. PyYAML is imported only for a
text that has fields.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from typing import Any

from zot_core.types.failure import ZotError
from zot_core.types.record import record

MAX_HEAD = 128 * 1024
"""Characters of fields; more is no frontmatter."""
_MARK = re.compile(r"---[ \t]*")
_KEY = re.compile(r"(?P<indent>[ ]*)(?P<key>[A-Za-z_][\w.-]*:)[ ]+(?P<value>\S.*)")
_HINT = re.compile(r"\[[^\]]*\]\s+[^\s#]")
"""`[file] [line]`, as people write what a command takes."""
_NOT_PLAIN = "\"'[{|>!#"
"""What a value begins with that is not plain text, or that says how to read it."""


class FrontmatterError(ZotError):
    """Frontmatter that cannot be understood; `line` is the line of the text, counted from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@record(kw_only=True)
class Document:
    """A text in its two parts. `line` is the line at which `head` begins, 0 for a text without frontmatter."""

    head: str = ""
    line: int = 0
    body: str = ""

    def fields(self) -> Mapping[str, Any]:
        """The fields; empty without any. Raises FrontmatterError."""
        return _fields(self.head, self.line) if self.head.strip() else {}


def split(text: str) -> Document:
    """Takes a text apart. A byte order mark, CRLF and blank lines before the first mark do no harm.

    The first `---` after the fields ends them; later ones belong to the body. Raises FrontmatterError when none does.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    if first == len(lines) or not _MARK.fullmatch(lines[first]):
        return Document(body=text.strip("\n"))
    for number in range(first + 1, len(lines)):
        if _MARK.fullmatch(lines[number]):
            head = "\n".join(lines[first + 1 : number])
            if len(head) > MAX_HEAD:
                raise FrontmatterError(first + 1, f"the frontmatter is longer than {MAX_HEAD // 1024} Ki characters")
            return Document(head=head, line=first + 2, body="\n".join(lines[number + 1 :]).strip("\n"))
    raise FrontmatterError(first + 1, "the frontmatter that begins here has no second line ---")


def _fields(head: str, first: int) -> Mapping[str, Any]:
    import yaml

    try:
        value = _load(head)
    except (yaml.scanner.ScannerError, yaml.parser.ParserError, yaml.composer.ComposerError) as error:
        try:
            value = _load(_mended(head))
        except (yaml.YAMLError, RecursionError):
            raise _said(error, first) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise _said(error, first) from None
    if value in (None, ""):
        return {}
    if not isinstance(value, dict):
        raise FrontmatterError(first, "the frontmatter is no list of fields such as `name: value`")
    return {str(key): one for key, one in value.items()}


def _said(error: BaseException, first: int) -> FrontmatterError:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).partition("\n")[0] or "it is nested too deeply"
    return FrontmatterError(first + (mark.line if mark is not None else 0), f"the frontmatter is no YAML: {problem}")


def _load(head: str) -> Any:
    import yaml

    return yaml.load(head, Loader=_loader())  # a SafeLoader with fewer types


@functools.cache
def _loader() -> Any:
    import yaml

    class Loader(yaml.SafeLoader):
        """Text stays text (1.0, yes, 2026-01-01), and a field that is there twice is an error."""

        yaml_implicit_resolvers: dict[str, Any] = {}

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.value in seen:
                    problem = f"the field {key.value} is there twice"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                seen.add(getattr(key, "value", None) if isinstance(key, yaml.ScalarNode) else id(key))
            return super().construct_mapping(node, deep=deep)

    return Loader


def _mended(head: str) -> str:
    """The fields with what people write and YAML does not take: tabs, and plain text with a colon in it or with a
    first character that has a meaning. Only plain text after a field's name is touched."""
    lines = [_without_tabs(line) for line in head.split("\n")]
    mended: list[str] = []
    while lines:
        line = lines.pop(0)
        match = _KEY.fullmatch(line.rstrip())
        if match is None:
            mended.append(line)
            continue
        deeper = []
        while lines and (not lines[0].strip() or _indent(lines[0]) > len(match["indent"])):
            deeper.append(lines.pop(0))
        if match["value"][0] in _NOT_PLAIN and not _HINT.match(match["value"]):
            mended += [line, *deeper]
            continue
        value = " ".join(part.strip() for part in (match["value"], *deeper) if part.strip())
        mended.append(f"{match['indent']}{match['key']} {json.dumps(value, ensure_ascii=False)}")
    return "\n".join(mended)


def _without_tabs(line: str) -> str:
    text = line.lstrip(" \t")
    indent = line[: len(line) - len(text)].replace("\t", "  ")
    return indent + re.sub(r"^([A-Za-z_][\w.-]*:|-)[ \t]+", r"\1 ", text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))

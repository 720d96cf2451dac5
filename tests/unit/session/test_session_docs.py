"""docs/sessions.md says what the code does."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from zot_core.session.records import FORMAT_VERSION, HEAD_FIELDS, KINDS, Header
from zot_core.types.content import Image, Text, Thinking, ToolCall
from zot_core.types.failure import Failure
from zot_core.types.messages import AssistantMessage, CustomMessage, ToolResultMessage, UserMessage
from zot_core.types.usage import Usage

DOCS = (Path(__file__).parents[3] / "docs" / "sessions.md").read_text(encoding="utf-8")


def rows(head: str) -> dict[str, list[str]]:
    """A table of the document: from the name in the first column to the cells after it."""
    table = DOCS[DOCS.index(head) :].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in table]
    return {row[0].strip("`"): row[1:] for row in cells}


def names(cell: str) -> tuple[str, ...]:
    return tuple(re.findall(r"`(\w+)`", cell))


def fields(cls: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls) if field.name not in ("id", "time"))


def test_every_kind_is_described_with_its_version_and_fields() -> None:
    described = {
        name: (int(row[0]), names(row[1]), names(row[2]), row[3]) for name, row in rows("| kind | version |").items()
    }
    assert described == {
        name: (kind.version, kind.fields, kind.optional, "tree" if kind.branch else "aside")
        for name, kind in KINDS.items()
    }


def test_the_head_of_an_entry_is_described() -> None:
    table = DOCS[DOCS.index("All begin with the same fields") :]
    assert tuple(re.findall(r"^\| `(\w+)` \|", table[: table.index("Entries form")], re.MULTILINE)) == HEAD_FIELDS


def test_the_header_is_described() -> None:
    assert f"Format version: {FORMAT_VERSION}." in DOCS
    table = DOCS[DOCS.index("## Header") : DOCS.index("## Entries")]
    header = Header(cwd="/", parent_session={})
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(header.data())


def test_messages_and_blocks_are_described() -> None:
    messages = {name: set(names(row[0])) for name, row in rows("| `role` | fields |").items()}
    classes = (UserMessage, AssistantMessage, ToolResultMessage, CustomMessage)
    assert messages == {cls.role: set(fields(cls)) for cls in classes}
    blocks = {name: set(names(row[0])) for name, row in rows("| block of `content` |").items()}
    assert blocks == {
        "text": set(fields(Text)),
        "thinking": set(fields(Thinking)),
        "image": set(fields(Image)),
        "tool_call": {"id", *fields(ToolCall)},
    }
    line = next(line for line in DOCS.splitlines() if line.startswith("`usage` has"))
    assert set(names(line)) - {"usage", "failure"} == {*fields(Usage), *fields(Failure)}

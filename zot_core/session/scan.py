"""Reading a session file once from its beginning: its header, where its records are, and what is damaged.

One line is in memory at a time, and nothing is written here. Knows no tree.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from zot_core.session.errors import SessionError, SessionTooNew, shown
from zot_core.session.naming import id_in_name
from zot_core.session.records import FORMAT_VERSION, Header, kind_of

_RECORD = re.compile(rb'\{"kind":"[^"\\]+","id":"([^"\\]+)","parent_id":(?:null|"([^"\\]+)")')


class Found(NamedTuple):
    """A record in the file: its fields' head, its place, and all its fields if it is one that speaks about the tree."""

    kind: str
    id: str
    parent_id: str | None
    time: float
    at: tuple[int, int]
    fields: dict[str, Any] | None


@dataclass(slots=True)
class Scan:
    """A file's content. `size` is where its good lines end, `tail` what is torn after that, `lost` the length of
    damaged lines by their offset. A record whose parent is lost has got the nearest that is there."""

    header: Header | None = None
    found: list[Found] = field(default_factory=list)
    size: int = 0
    tail: bytes = b""
    needs_newline: bool = False
    lost: dict[int, int] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    steps: dict[str, str] = field(default_factory=dict)
    """Ids of records that are steps of the tree, so that others may name them as their parent; one string an id."""
    detours: dict[str, str | None] = field(default_factory=dict)
    """From what is no step (a lost record, one that speaks about the tree) to the parent that it named."""
    last_step: str | None = None
    before_loss: str | None = None
    """The step before the last damage: the likeliest parent of what lost its own there."""

    def parent_of(self, parent: str | None) -> str | None:
        """`parent` itself if it is there, else the nearest that is."""
        seen: set[str] = set()
        while parent is not None and parent not in self.steps and parent in self.detours and parent not in seen:
            seen.add(parent)
            parent = self.detours[parent]
        if parent is None or parent in self.steps:
            return parent and self.steps[parent]
        return self.before_loss if self.before_loss is not None else self.last_step


def scan(path: Path) -> Scan:
    """Reads the file. Raises SessionError if it is no session, SessionTooNew if a later zot wrote it."""
    result = Scan()
    offset = 0
    try:
        with path.open("rb", buffering=1 << 18) as file:
            for line in file:
                _line(result, path, line, offset)
                offset += len(line)
    except OSError as error:
        raise SessionError.of("open the session", path, error) from error
    if result.header is None:
        if not result.found:
            what = "holds no session" if offset else "is empty"
            raise SessionError(f"cannot open {shown(path)}: it {what}", path)
        # The first line is damaged: the name still tells the id, and what was said is all there.
        result.header = Header(id=id_in_name(path) or path.stem, cwd="", created=result.found[0].time)
    return result


def _line(result: Scan, path: Path, line: bytes, offset: int) -> None:
    complete = line.endswith(b"\n")
    if line.isspace():
        if complete:
            result.size = offset + len(line)
        return
    good = _read(result, path, line, offset)
    if good or complete:
        result.size = offset + len(line)
        result.needs_newline = not complete
    else:
        result.tail = line
    if not good and complete:
        result.lost[offset] = len(line)


def _read(result: Scan, path: Path, line: bytes, offset: int) -> bool:
    """Whether the whole line was understood, or its last part where two lines were glued together."""
    data = parse(line)
    if data is not None and _take(result, path, data, (offset, len(line))):
        return True
    first = _RECORD.match(line)
    if first is not None:
        lost, parent = first.groups(b"")
        result.detours.setdefault(lost.decode(errors="replace"), parent.decode(errors="replace") or None)
    result.before_loss = result.last_step
    # A quote inside JSON text is always escaped, so these bytes begin a record and nothing else.
    for match in _RECORD.finditer(line, 1):
        data = parse(line[match.start() :])
        if data is not None and _take(result, path, data, (offset + match.start(), len(line) - match.start())):
            result.lost[offset] = match.start()
            return True
    return False


def _take(result: Scan, path: Path, data: dict[str, Any], at: tuple[int, int]) -> bool:
    if result.header is None and not result.found:
        header = Header.read(data)
        if header is not None:
            if header.version > FORMAT_VERSION:
                raise SessionTooNew(path, "format", header.version, FORMAT_VERSION)
            result.header = header
            return True
    kind, id, parent, time = (data.get(name) for name in ("kind", "id", "parent_id", "time"))
    if not (isinstance(kind, str) and isinstance(id, str) and (parent is None or isinstance(parent, str))):
        return False
    if kind == "session" or "parent_id" not in data:
        return False  # a second header, or no record at all: it must not become a root that hides the conversation
    known = kind_of(kind)
    version = data.get("v", 1)
    if known.fields and (not isinstance(version, int) or version > known.version):
        raise SessionTooNew(path, f"record {kind!r}", version, known.version)
    if id in result.ids or any(name not in data for name in known.fields):
        return False
    actual = result.parent_of(parent)
    result.ids.add(id)
    if known.branch:
        result.steps[id] = id
        result.last_step = id
    else:
        result.detours[id] = actual
    moment = float(time) if isinstance(time, (int, float)) else 0.0
    result.found.append(Found(kind, id, actual, moment, at, None if known.branch else data))
    return True


def parse(line: bytes) -> dict[str, Any] | None:
    """The JSON object in a line, or None if it holds none."""
    try:
        data = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None

"""Which sessions there are, cheaply: of each file only the first and the last part are read, whatever its size.

Knows the form of the files, not `Session`. A session whose project is gone, or that this zot cannot
open, is listed too.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zot_core.session.naming import id_in_name, project_slug
from zot_core.session.records import FORMAT_VERSION, Header
from zot_core.session.scan import parse
from zot_core.types.record import record

_PART = 16384
"""Bytes that are read at each end. `Session.sync` tells name and count anew, so that the last part holds them."""
_PREVIEW = 200
"""Characters of the first prompt that are shown."""
_TEXT = re.compile(rb'"role":"user".*?"text":"((?:[^"\\]|\\.)*)', re.DOTALL)


@record(kw_only=True)
class SessionInfo:
    """A session as a list shows it. `updated` is its last activity; `preview` the beginning of its first prompt.

    `messages` counts all branches and is a guess where `estimated`; `problem` says why it may not open.
    """

    path: Path
    id: str
    cwd: str = ""
    name: str | None = None
    preview: str = ""
    created: float = 0.0
    updated: float = 0.0
    messages: int = 0
    estimated: bool = False
    size: int = 0
    parent_session: str | None = None
    problem: str = ""

    @property
    def title(self) -> str:
        """Its name, else its first prompt in one line, else its id."""
        return self.name or " ".join(self.preview.split()) or self.id


def list_sessions(root: str | os.PathLike[str], cwd: str | os.PathLike[str] | None = None) -> list[SessionInfo]:
    """All sessions under `root`, or those of the project `cwd`; the last used first. Never raises for a bad file."""
    wanted = None if cwd is None else os.fspath(cwd)
    infos = (read_info(path) for path in session_files(root, wanted))
    found = [info for info in infos if info is not None and (wanted is None or info.cwd in (wanted, ""))]
    found.sort(key=lambda info: (info.updated, info.path), reverse=True)
    return found


def newest_first(root: str | os.PathLike[str], cwd: str | os.PathLike[str] | None = None) -> Iterator[SessionInfo]:
    """The same, one file after another in the order of their last change: the first are there while others are read."""
    wanted = None if cwd is None else os.fspath(cwd)
    paths = sorted(session_files(root, wanted), key=_changed, reverse=True)
    for info in map(read_info, paths):
        if info is not None and (wanted is None or info.cwd in (wanted, "")):
            yield info


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def latest(root: str | os.PathLike[str], cwd: str | os.PathLike[str]) -> SessionInfo | None:
    """The session of a project that was used last, of those that can be opened."""
    return next((info for info in list_sessions(root, cwd) if not info.problem), None)


def session_files(root: str | os.PathLike[str], cwd: str | None = None) -> Iterator[Path]:
    """The paths of all session files under `root`, or in one project's folder; in no order."""
    top = Path(root).absolute()
    for folder in _in(top) if cwd is None else [top / project_slug(cwd)]:
        for path in _in(folder):
            if id_in_name(path) is not None:
                yield path


def _in(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []  # not a folder, gone meanwhile, or not ours to read: nothing to list


def read_info(path: Path) -> SessionInfo | None:
    """What a list shows of one file; None for one that is empty or gone."""
    try:
        with path.open("rb", buffering=0) as file:
            state = os.fstat(file.fileno())
            first = file.read(_PART) or b""
            last = b""
            if state.st_size > len(first):
                file.seek(max(len(first), state.st_size - _PART))
                last = file.read(_PART) or b""
    except OSError as error:
        return SessionInfo(path=path, id=_id_of(path), problem=f"cannot be read: {error.strerror}")
    if not state.st_size:
        return None
    return _info(path, state, first, last)


def _id_of(path: Path) -> str:
    return id_in_name(path) or path.stem


def _info(path: Path, state: os.stat_result, first: bytes, last: bytes) -> SessionInfo:
    lines = first.split(b"\n")
    header = Header.read(parse(lines[0]))
    if header is None:
        return SessionInfo(
            path=path, id=_id_of(path), updated=state.st_mtime, size=state.st_size, problem="its first line is damaged"
        )
    whole = len(first) + len(last) == state.st_size
    if whole:
        seen = _look((first + last).split(b"\n")[1:])
    else:
        # The first piece of the last part is the end of some line, and often of one that was told already.
        seen = _look(last.split(b"\n")[1:])
        early = _look(lines[1:-1])
        if seen.told is None:
            share = state.st_size / (len(first) + len(last))
            seen.messages = max(round((early.messages + seen.messages) * share), 1)
            seen.name = early.name
    return SessionInfo(
        path=path,
        id=header.id,
        cwd=header.cwd,
        name=seen.name,
        preview=_preview(first),
        created=header.created,
        updated=seen.updated or state.st_mtime,
        messages=seen.messages + (seen.told or 0),
        estimated=not whole and seen.told is None,
        size=state.st_size,
        parent_session=str(header.parent_session.get("id", "")) if header.parent_session else None,
        problem="" if header.version <= FORMAT_VERSION else "it was written by a newer zot",
    )


@dataclass(slots=True)
class _Seen:
    """What some lines tell: `told` counts the messages up to the last `session_info`, `messages` those after it."""

    name: str | None = None
    updated: float = 0.0
    told: int | None = None
    messages: int = 0


def _look(lines: list[bytes]) -> _Seen:
    seen = _Seen()
    for line in lines:
        if line.startswith(b'{"kind":"message"'):
            seen.messages += 1
        elif line.startswith(b'{"kind":"session_info"') and (data := parse(line)) is not None:
            count, name = data.get("messages"), data.get("name")
            seen.name = name if isinstance(name, str) else None
            if isinstance(count, int):
                seen.told, seen.messages = count, 0
    for line in reversed(lines):
        if line and (data := parse(line)) is not None:
            time: Any = data.get("time")
            seen.updated = seen.updated or (float(time) if isinstance(time, (int, float)) else 0.0)
            if data.get("kind") not in ("session_info", "label"):  # a new name is no use of the session
                seen.updated = float(time) if isinstance(time, (int, float)) else seen.updated
                break
    return seen


def _preview(first: bytes) -> str:
    """The beginning of the first prompt, even of one that is longer than what was read."""
    match = _TEXT.search(first)
    if match is None:
        return ""
    raw = match[1][: _PREVIEW * 6].decode(errors="ignore")
    while raw:
        try:
            return str(json.loads(f'"{raw}"', strict=False))[:_PREVIEW]
        except ValueError:
            raw = raw[:-1]  # the cut went through an escape
    return ""

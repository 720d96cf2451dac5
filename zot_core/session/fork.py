"""A fork: a new session that begins with a copy of another one's branch. The copy appears whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from zot_core.session.codec import dump_line
from zot_core.session.errors import SessionError
from zot_core.session.naming import file_name, project_slug
from zot_core.session.records import HEAD_FIELDS, Entry, Header, head
from zot_core.session.session import Session
from zot_core.session.store import SessionFile, remove_quietly
from zot_core.types.messages import new_id


def fork(
    source: Session,
    entry_id: str | None,
    position: Literal["before", "at"],
    *,
    root: str | os.PathLike[str] | None,
    cwd: str | os.PathLike[str] | None,
) -> Session:
    """See `Session.fork`, which checks the arguments."""
    entries = source.branch(entry_id)
    if position == "before":
        entries = entries[:-1]
    header = Header(
        cwd=source.cwd if cwd is None else os.fspath(cwd),
        parent_session={"id": source.id, "path": source.file if source.is_stored else None, "entry_id": entry_id},
    )
    folder = _folder(source, header.cwd, root)
    records = _copies(source, entries)
    if folder is None:
        return _in_memory(Session(header, None), records)
    path = folder / file_name(header.id, header.created)
    if not entries:
        return Session(header, path)
    _write(path, header, records)
    return Session.open(path)


def _folder(source: Session, cwd: str, root: str | os.PathLike[str] | None) -> Path | None:
    if root is not None:
        return Path(root).absolute() / project_slug(cwd)
    if source.path is None:
        return None
    beside = source.path.parent
    return beside if cwd == source.cwd else beside.parent / project_slug(cwd)


def _copies(source: Session, entries: Sequence[Entry]) -> Iterator[dict[str, Any]]:
    """The records of the branch, each following the one before it, and the bookmarks on them."""
    for entry in entries:
        yield {**source.fields(entry.at), "parent_id": entry.parent_id}
    labels = source.labels
    leaf = entries[-1].id if entries else None
    for entry in entries:
        if entry.id in labels:
            yield {**head("label", new_id(), leaf, entry.time), "target_id": entry.id, "label": labels[entry.id]}


def _in_memory(target: Session, records: Iterator[dict[str, Any]]) -> Session:
    for record in records:
        fields = {name: value for name, value in record.items() if name not in HEAD_FIELDS}
        target.append(record["kind"], fields, id=record["id"], time=record["time"])
    return target


def _write(path: Path, header: Header, records: Iterator[dict[str, Any]]) -> None:
    unfinished = path.with_name(path.name + ".new")
    file = SessionFile.create(unfinished)
    try:
        file.append(dump_line(header.data()))
        for record in records:
            file.append(dump_line(record))
        file.sync()
        unfinished.rename(path)
    except OSError as error:
        remove_quietly(unfinished)
        raise SessionError.of("create the session", path, error) from error
    except BaseException:
        remove_quietly(unfinished)
        raise
    finally:
        file.close()

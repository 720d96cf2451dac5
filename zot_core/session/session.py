"""A session: the tree of what was said, each entry on disk before anything builds on it.

Everything here is synchronous and quick but `sync`, which waits for the disk and may run in another thread. Knows no
agent and no settings; front ends are told by whoever appends.
"""

from __future__ import annotations

import os
import time as _time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from zot_core.session.codec import dump_line, encode_message
from zot_core.session.errors import SessionError
from zot_core.session.lock import SessionLock
from zot_core.session.naming import file_name, project_slug
from zot_core.session.records import Entry, Header, head, kind_of
from zot_core.session.repair import Repair, mend
from zot_core.session.scan import Scan, scan
from zot_core.session.store import SessionFile, make_private_folders, remove_quietly
from zot_core.session.view import UNSET, ReadableSession, Unset
from zot_core.types.content import UserContent
from zot_core.types.failure import UsageError
from zot_core.types.messages import AssistantMessage, CustomMessage, Message, new_id

_TOLD_AGAIN = 12288
"""Bytes after which name and count are told again, so that a listing finds them in a file's last part."""

_SEEN_BY_MODELS = frozenset({"message", "custom_message", "compaction", "branch_summary", "leaf"})


class Session(ReadableSession):
    """One session, made by `create`, `open` or `memory`. The next entry follows the one at `leaf_id`."""

    def __init__(self, header: Header, path: Path | None, *, readonly: bool = False) -> None:
        super().__init__(header, path)
        self.readonly = readonly
        """Whether it was opened for reading only."""
        self._lock: SessionLock | None = None
        self._pending: list[Entry] = []
        """Entries that wait for the first one that is worth a file."""
        self._told_at = 0
        self._closed = False
        self.repair: Repair | None = None
        """What `open` had to mend, if anything."""

    # --- making one --------------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        root: str | os.PathLike[str],
        cwd: str | os.PathLike[str],
        *,
        path: str | os.PathLike[str] | None = None,
        parent: Mapping[str, Any] | None = None,
    ) -> Session:
        """A new session of the project `cwd` under the folder of all sessions `root`, or in the file `path`.

        Its file is made with the first entry that says something; until then nothing is written or locked.
        """
        header = Header(cwd=os.fspath(cwd), parent_session=parent)
        if path is None:
            path = Path(root, project_slug(header.cwd), file_name(header.id, header.created))
        return cls(header, Path(path).absolute())

    @classmethod
    def memory(cls, cwd: str | os.PathLike[str], *, parent: Mapping[str, Any] | None = None) -> Session:
        """A session that is kept nowhere and otherwise behaves the same."""
        return cls(Header(cwd=os.fspath(cwd), parent_session=parent), None)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, readonly: bool = False) -> Session:
        """The session in a file, mended if it was damaged (see `repair`).

        Raises SessionLocked if it is open elsewhere, SessionTooNew if a later zot wrote it, SessionError if it cannot
        be read. `readonly` takes no lock and changes nothing, so it also reads what another process is writing.
        """
        real = Path(path).absolute()
        if real.is_symlink():
            real = real.resolve()
        lock = None
        if not readonly and real.is_file():
            lock = SessionLock(real)
            lock.acquire()
        file = None
        try:
            found = scan(real)
            assert found.header is not None
            session = cls(found.header, real, readonly=readonly)
            session._file = file = SessionFile.open(real, found.size, readonly=readonly)
            session._load(found)
            session._lock = lock
            if not readonly:
                session._mend(found)
        except BaseException:
            if file is not None:
                file.close()
            if lock is not None:
                lock.release()
            raise
        return session

    def _load(self, found: Scan) -> None:
        for record in found.found:
            entry = Entry(record.kind, record.id, record.parent_id, record.time, record.at, self)
            self._tree.add(entry, record.fields)
            if record.kind == "session_info":
                self._told_at = record.at[0]
        self._context = None

    def _mend(self, found: Scan) -> None:
        assert self._file is not None
        known = {
            offset
            for record in found.found
            if record.kind == "repair" and record.fields is not None
            for offset in record.fields["skipped"] or ()
        }
        self.repair = mend(self._file, found, known)
        if self.repair is not None:
            self._notices.append(self.repair.message)
            self.append("repair", self.repair.fields())

    # --- writing -----------------------------------------------------------------------------------------------------

    def append(
        self,
        kind: str,
        fields: Mapping[str, Any],
        *,
        id: str | None = None,
        time: float | None = None,
        setup: bool | None = None,
    ) -> Entry:
        """A record of any kind after the leaf; on return it is in the file.

        With `setup` true it does not make the file (by default as its kind says). Raises SessionError if it cannot be
        written: then the session is as it was, in memory and on disk.
        """
        if self._closed or self.readonly:
            why = "it was closed" if self._closed else "it is open for reading only"
            raise SessionError(f"cannot write the session {self._shown}: {why}", self._path)
        id = id or new_id()
        if id in self._tree.entries:
            raise ValueError(f"the session has an entry {id!r} already")
        record = head(kind, id, self._tree.leaf_id, _time.time() if time is None else time)
        record.update(fields)
        entry = Entry(kind, id, record["parent_id"], record["time"], record, self)
        if self._file is not None:
            line = dump_line(record)
            entry.settle((self._file.append(line), len(line)))
        elif self._path is not None:
            self._pending.append(entry)
            if not (kind_of(kind).setup if setup is None else setup):
                try:
                    self.persist()
                except SessionError:
                    self._pending.remove(entry)
                    raise
        self._tree.add(entry, fields)
        if kind in _SEEN_BY_MODELS:
            self._context = None
        if self._file is not None:
            self._tell_again(self._file, kind)
        return entry

    def _tell_again(self, file: SessionFile, kind: str) -> None:
        if kind == "session_info":
            self._told_at = file.size
        elif file.size - self._told_at > _TOLD_AGAIN:
            try:
                self.set_name(self._tree.name)
            except SessionError:
                pass  # only a list misses it; what was to be kept is kept, and the next entry will tell of a full disk

    def append_message(self, message: Message, display: str | Unset | None = UNSET) -> Entry:
        """A message; the entry has its id and time. `display` is what people see of an assistant's, None: withheld."""
        fields: dict[str, Any] = {"message": encode_message(message)}
        if isinstance(message, AssistantMessage) and not isinstance(display, Unset) and display != message.text:
            fields["display"] = display
        kind = "custom_message" if isinstance(message, CustomMessage) else "message"
        context = self._context
        entry = self.append(kind, fields, id=message.id, time=message.time)
        if context is not None:
            context.append(message)
            self._context = context
        return entry

    def append_custom(
        self, custom_type: str, data: Mapping[str, Any] | None = None, *, bookkeeping: bool = False
    ) -> Entry:
        """A plugin's record, never sent to a model. `bookkeeping` ones do not make a file of an empty session."""
        return self.append("custom", {"custom_type": custom_type, "data": data}, setup=bookkeeping)

    def append_custom_message(
        self,
        custom_type: str,
        content: Sequence[UserContent],
        *,
        display: bool = True,
        details: Mapping[str, Any] | None = None,
    ) -> CustomMessage:
        """A plugin's message, which models read; returns it as it was stored."""
        message = CustomMessage(custom_type=custom_type, content=tuple(content), display=display, details=details)
        self.append_message(message)
        return message

    def append_model(self, provider: str, model: str) -> Entry:
        """From here on this model is in use."""
        return self.append("model_change", {"provider": provider, "model": model})

    def append_thinking(self, level: str) -> Entry:
        """From here on this thinking level is in use."""
        return self.append("thinking_change", {"level": level})

    def set_name(self, name: str | None) -> Entry:
        """Names the session; None or "" takes the name away."""
        return self.append("session_info", {"name": name or None, "messages": self._tree.messages})

    def set_label(self, entry_id: str, label: str | None) -> Entry:
        """Bookmarks an entry; None or "" takes the bookmark away. Raises UsageError if there is no such entry."""
        if entry_id not in self._tree.entries:
            raise UsageError(f"no entry {entry_id!r} in session {self.id}")
        return self.append("label", {"target_id": entry_id, "label": label or None})

    def navigate(self, entry_id: str | None) -> None:
        """Makes an entry the leaf, so that the next one follows it; None goes before the first. It is remembered.

        Raises UsageError if there is no such entry to stand at.
        """
        if entry_id is not None:
            self._step(entry_id)
        if entry_id != self._tree.leaf_id:
            self.append("leaf", {"target_id": entry_id})

    def fork(
        self,
        entry_id: str | None = None,
        position: Literal["before", "at"] = "before",
        *,
        root: str | os.PathLike[str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
    ) -> Session:
        """A new session that begins with this one's branch up to an entry (by default the leaf), without it or with it.

        It lies beside this one, with a `root` or another `cwd` in that project's folder. This one stays as it is and
        may be open for reading only. Raises UsageError if there is no such entry, SessionError if it cannot be written.
        """
        from zot_core.session.fork import fork

        if entry_id is not None:
            self._step(entry_id)
        return fork(self, self.leaf_id if entry_id is None else entry_id, position, root=root, cwd=cwd)

    # --- the file ----------------------------------------------------------------------------------------------------

    def persist(self) -> None:
        """Makes the file now, with what was appended so far; does nothing if there is one, or in memory."""
        if self._path is None or self._file is not None:
            return
        lock = SessionLock(self._path)
        try:
            make_private_folders(self._path.parent)
        except OSError as error:
            raise SessionError.of("create the session", self._path, error) from error
        lock.acquire()
        try:
            file = SessionFile.create(self._path)
            try:
                lines = [dump_line(self._header.data()), *(dump_line(entry.at) for entry in self._pending)]
                offset = file.append(b"".join(lines)) + len(lines[0])
            except BaseException:
                file.close()
                remove_quietly(self._path)
                raise
        except BaseException:
            lock.release()
            raise
        for entry, line in zip(self._pending, lines[1:], strict=True):
            entry.settle((offset, len(line)))
            offset += len(line)
        self._pending.clear()
        self._file, self._lock = file, lock

    def sync(self) -> None:
        """Returns when all of it would survive a power cut; to be called at the end of a turn. Raises SessionError."""
        if self._file is not None:
            self._file.sync()

    def close(self) -> None:
        """Gives file and lock back. What was appended is there already; a second time does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._file is not None:
            self._file.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Session {self.id} {self._path or 'in memory'}>"

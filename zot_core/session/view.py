"""Reading a session: facts, entries, branches, and the messages that a model is sent.

Nothing here writes; `Session` adds that. Fields of entries are read from the file when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from zot_core.session.context import context_entries, context_message
from zot_core.session.errors import SessionError, shown
from zot_core.session.records import Entry, Header
from zot_core.session.scan import parse
from zot_core.session.store import SessionFile
from zot_core.session.tree import Tree
from zot_core.types.failure import UsageError
from zot_core.types.messages import AssistantMessage, Message


class Unset:
    """Type of `UNSET`."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset()
"""An argument that was not given, where None means something."""


class ModelChoice(NamedTuple):
    """A model as a session remembers it."""

    provider: str
    model: str


class ReadableSession:
    """What can be known of a session without changing it. The next entry follows the one at `leaf_id`."""

    def __init__(self, header: Header, path: Path | None) -> None:
        self._header = header
        self._path = path
        self._tree = Tree()
        self._file: SessionFile | None = None
        self._context: list[Message] | None = []
        """The messages of the branch as they were last asked for; None when they have to be gathered anew."""
        self._notices: list[str] = []

    @property
    def id(self) -> str:
        """The session's id; part of its file's name."""
        return self._header.id

    @property
    def path(self) -> Path | None:
        """Its file, which may not exist yet (see `is_stored`); None for a session in memory."""
        return self._path

    @property
    def file(self) -> str | None:
        """`path` as text."""
        return None if self._path is None else str(self._path)

    @property
    def is_stored(self) -> bool:
        """Whether there is a file."""
        return self._file is not None

    @property
    def cwd(self) -> str:
        """The project directory that it was made in; it may be gone, and is "" if the file's first line was lost."""
        return self._header.cwd

    @property
    def created(self) -> float:
        """When it was made, in seconds since the epoch."""
        return self._header.created

    @property
    def parent_session(self) -> Mapping[str, Any] | None:
        """Of a fork: `id`, `path` and `entry_id` of where it came from."""
        return self._header.parent_session

    @property
    def name(self) -> str | None:
        """The name that it was given."""
        return self._tree.name

    @property
    def leaf_id(self) -> str | None:
        """The entry that the next one follows; None before the first."""
        return self._tree.leaf_id

    @property
    def labels(self) -> Mapping[str, str]:
        """Bookmarks: from entry id to label."""
        return dict(self._tree.labels)

    @property
    def message_count(self) -> int:
        """How many messages are kept, on all branches."""
        return self._tree.messages

    @property
    def _shown(self) -> str:
        return self.id if self._path is None else shown(self._path)

    def notices(self) -> list[str]:
        """What a person should be told about this session's file; each is handed out once."""
        if self._file is not None and self._file.changed_by_others:
            self._file.changed_by_others = False
            self._notices.append(f"session {self._shown} was changed by another program while it was open")
        notices, self._notices = self._notices, []
        return notices

    # --- reading -----------------------------------------------------------------------------------------------------

    def entries(self) -> list[Entry]:
        """All entries, in the order they were written."""
        return list(self._tree.entries.values())

    def entry(self, entry_id: str) -> Entry | None:
        """The entry of that id."""
        return self._tree.entries.get(entry_id)

    def branch(self, entry_id: str | Unset | None = UNSET) -> list[Entry]:
        """The entries from the root to the leaf, or to `entry_id`."""
        if isinstance(entry_id, Unset):
            return list(self._tree.path())
        if entry_id is not None:
            self._step(entry_id)
        return self._tree.path_to(entry_id)

    def children(self) -> Mapping[str | None, list[Entry]]:
        """Every entry's followers; under None the roots."""
        return self._tree.children()

    def context_entries(self) -> list[Entry]:
        """The branch as a model sees it: what a compaction stands for is left out."""
        return context_entries(self._tree.path())

    def messages(self) -> list[Message]:
        """The messages of the branch for a model, in order; a new list of the same objects at each call."""
        if self._context is None:
            context: list[Message] = []
            for entry in context_entries(self._tree.path()):
                message = context_message(entry)
                if message is not None:
                    context.append(message)
                elif entry.kind in ("message", "custom_message"):
                    self._notices.append(f"entry {entry.id} of session {self._shown} is no message that zot knows")
            self._context = context
        return list(self._context)

    def display_of(self, message_id: str) -> str | None:
        """The text that people see of a message, or None when it was withheld or there is no such message."""
        entry = self._tree.entries.get(message_id)
        return None if entry is None else entry.display

    def last_model(self) -> ModelChoice | None:
        """The model that was in use at the leaf: the last one chosen there, else the one that answered last."""
        choice = self._last(lambda entry: entry.kind == "model_change")
        if choice is not None:
            data = choice.data
            return ModelChoice(str(data["provider"]), str(data["model"]))
        for entry in reversed(self._tree.path()):
            if entry.kind == "message":
                message = entry.message
                if isinstance(message, AssistantMessage) and message.model:
                    return ModelChoice(message.provider, message.model)
        return None

    def last_thinking(self) -> str | None:
        """The thinking level that was chosen last on the branch."""
        choice = self._last(lambda entry: entry.kind == "thinking_change")
        return None if choice is None else str(choice.data["level"])

    def _last(self, wanted: Callable[[Entry], bool]) -> Entry | None:
        return next((entry for entry in reversed(self._tree.path()) if wanted(entry)), None)

    def fields(self, at: Any) -> dict[str, Any]:
        """A record's fields, for its Entry. Raises SessionError if they cannot be read any more."""
        if isinstance(at, dict):
            return at
        if self._file is None:
            raise SessionError(f"cannot read the session {self._shown}: it was closed", self._path)
        data = parse(self._file.read(at))
        if data is None:
            raise SessionError(f"cannot read the session {self._shown}: it was changed meanwhile", self._path)
        return data

    def _step(self, entry_id: str) -> Entry:
        if not self._tree.is_step(entry_id):
            raise UsageError(f"no entry {entry_id!r} in session {self.id}")
        return self._tree.entries[entry_id]

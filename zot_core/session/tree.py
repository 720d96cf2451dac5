"""The tree of a session's entries: who follows whom, where the conversation stands, and what was said about entries.

Knows entries, not files. Adding one costs the same however long the session is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zot_core.session.records import Entry, kind_of


class Tree:
    """Entries in the order they were written, with the place where the next one goes: the leaf."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.leaf_id: str | None = None
        self.labels: dict[str, str] = {}
        self.name: str | None = None
        self.messages = 0
        """How many `message` records there are, on all branches."""
        self._path: list[Entry] | None = []

    def add(self, entry: Entry, fields: Mapping[str, Any] | None = None) -> None:
        """The next entry; `fields` are needed of kinds that are no steps of the tree."""
        self.entries[entry.id] = entry
        if kind_of(entry.kind).branch:
            if self._path is not None:
                if entry.parent_id == self.leaf_id:
                    self._path.append(entry)
                else:
                    self._path = None
            self.leaf_id = entry.id
            self.messages += entry.kind == "message"
        elif fields is not None:
            self._note(entry.kind, fields)

    def _note(self, kind: str, fields: Mapping[str, Any]) -> None:
        if kind == "session_info":
            name = fields["name"]
            self.name = name if isinstance(name, str) and name else None
        elif kind == "label":
            target, label = fields["target_id"], fields["label"]
            if isinstance(label, str) and label:
                self.labels[str(target)] = label
            else:
                self.labels.pop(str(target), None)
        elif kind == "leaf":
            target = fields["target_id"]
            if target is None or self.is_step(target):
                self.move(target)

    def is_step(self, entry_id: Any) -> bool:
        """Whether the conversation can stand at this entry."""
        entry = self.entries.get(entry_id) if isinstance(entry_id, str) else None
        return entry is not None and kind_of(entry.kind).branch

    def move(self, entry_id: str | None) -> None:
        """Makes an entry the leaf; None is the place before the first one."""
        if entry_id != self.leaf_id:
            self.leaf_id = entry_id
            self._path = None

    def path(self) -> list[Entry]:
        """The entries from the root to the leaf; the tree's own list, not to be changed."""
        if self._path is None:
            self._path = self.path_to(self.leaf_id)
        return self._path

    def path_to(self, entry_id: str | None) -> list[Entry]:
        """The entries from the root to this one."""
        path: list[Entry] = []
        while entry_id is not None:
            entry = self.entries[entry_id]
            path.append(entry)
            entry_id = entry.parent_id
        path.reverse()
        return path

    def children(self) -> dict[str | None, list[Entry]]:
        """Every step's followers in the order they were written; under None the roots."""
        followers: dict[str | None, list[Entry]] = {}
        for entry in self.entries.values():
            if kind_of(entry.kind).branch:
                followers.setdefault(entry.parent_id, []).append(entry)
        return followers

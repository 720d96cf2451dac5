"""What stands in a session file: its header, its kinds of record and their versions, and the entries made of them.

docs/sessions.md describes the same for people, and a test holds the two together. Knows no file.
"""

from __future__ import annotations

import time as _time
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol

from zot_core.session.codec import CodecError, decode_message
from zot_core.types.content import text_of
from zot_core.types.messages import AssistantMessage, Message, new_id
from zot_core.types.record import record

FORMAT_VERSION = 1
"""Version of the file as a whole; raised when an older zot would misread it."""

HEAD_FIELDS = ("kind", "id", "parent_id", "time", "v")
"""The fields that every record begins with; `v` is left out when it is 1."""


@record(kw_only=True)
class Kind:
    """A kind of record. `branch` ones are steps of the conversation's tree; the others speak about it and never have
    children. `setup` ones do not create the file: a session in which nothing was said leaves none."""

    version: int = 1
    fields: tuple[str, ...]
    optional: tuple[str, ...] = ()
    branch: bool = True
    setup: bool = False


KINDS: Mapping[str, Kind] = {
    "message": Kind(fields=("message",), optional=("display",)),
    "custom_message": Kind(fields=("message",)),
    "custom": Kind(fields=("custom_type", "data")),
    "model_change": Kind(fields=("provider", "model"), setup=True),
    "thinking_change": Kind(fields=("level",), setup=True),
    "compaction": Kind(
        fields=("summary", "first_kept_entry_id", "tokens_before"), optional=("tokens_after", "usage", "details")
    ),
    "branch_summary": Kind(fields=("summary", "from_id"), optional=("usage", "details")),
    "label": Kind(fields=("target_id", "label"), branch=False, setup=True),
    "session_info": Kind(fields=("name", "messages"), branch=False, setup=True),
    "leaf": Kind(fields=("target_id",), branch=False, setup=True),
    "repair": Kind(fields=("cut", "kept_in", "skipped"), branch=False, setup=True),
}
"""Every kind that zot itself writes. A kind that is not here is kept, shown to plugins, and otherwise left alone."""

_UNKNOWN = Kind(fields=())


def kind_of(name: str) -> Kind:
    """What zot knows of a kind; an unknown one is a step of the tree."""
    return KINDS.get(name, _UNKNOWN)


@record(kw_only=True)
class Header:
    """A session's first line. `parent_session` is set in a fork: `id`, `path` and `entry_id` of where it came from."""

    cwd: str
    id: str = field(default_factory=new_id)
    created: float = field(default_factory=_time.time)
    version: int = FORMAT_VERSION
    parent_session: Mapping[str, Any] | None = None

    def data(self) -> dict[str, Any]:
        """The line's fields, in their order."""
        data: dict[str, Any] = {
            "kind": "session",
            "version": self.version,
            "id": self.id,
            "cwd": self.cwd,
            "created": self.created,
        }
        if self.parent_session is not None:
            data["parent_session"] = dict(self.parent_session)
        return data

    @classmethod
    def read(cls, data: Any) -> Header | None:
        """The header in a line's JSON, or None if it is none. Its version may be one that this zot does not read."""
        if not isinstance(data, dict) or data.get("kind") != "session":
            return None
        version, id, cwd, created = (data.get(name) for name in ("version", "id", "cwd", "created"))
        parent = data.get("parent_session")
        if not (isinstance(version, int) and isinstance(id, str) and isinstance(cwd, str)):
            return None
        return cls(
            version=version,
            id=id,
            cwd=cwd,
            created=float(created) if isinstance(created, (int, float)) else 0.0,
            parent_session=parent if isinstance(parent, dict) else None,
        )


class Bodies(Protocol):
    """Where entries find their fields again."""

    def fields(self, at: Any) -> dict[str, Any]:
        """The fields of the entry at `at`, head included. Raises SessionError if they cannot be read."""


class Entry:
    """One record of a session: its place in the tree at hand, its fields fetched from the store when asked for."""

    __slots__ = ("_at", "_bodies", "id", "kind", "parent_id", "time")

    def __init__(self, kind: str, id: str, parent_id: str | None, time: float, at: Any, bodies: Bodies) -> None:
        self.kind = kind
        self.id = id
        self.parent_id = parent_id
        self.time = time
        self._at = at
        self._bodies = bodies

    @property
    def data(self) -> Mapping[str, Any]:
        """The record's fields without its head, read anew at each call. Raises SessionError if they cannot be read."""
        fields = self._bodies.fields(self._at)
        return {name: value for name, value in fields.items() if name not in HEAD_FIELDS}

    @property
    def message(self) -> Message | None:
        """The message of a `message` or `custom_message` record, read anew at each call; None for other kinds and for
        one whose content cannot be understood."""
        if self.kind not in ("message", "custom_message"):
            return None
        try:
            return decode_message(self._bodies.fields(self._at).get("message"), id=self.id, time=self.time)
        except CodecError:
            return None

    @property
    def display(self) -> str | None:
        """The text that people see of a message, read anew at each call: None when a plugin withheld it, and for kinds
        of record that hold no message."""
        data = self.data
        if "display" in data:
            display = data["display"]
            return display if isinstance(display, str) else None
        message = self.message
        if message is None:
            return None
        return message.text if isinstance(message, AssistantMessage) else text_of(message.content)

    @property
    def withheld(self) -> bool:
        """Whether a plugin kept a message from being seen."""
        return self.data.get("display", "") is None

    def settle(self, at: Any) -> None:
        """Called by the session once the record has its place in the file."""
        self._at = at

    @property
    def at(self) -> Any:
        """Where the record is, in the words of its store."""
        return self._at

    def __repr__(self) -> str:
        return f"<Entry {self.kind} {self.id}>"


def head(kind: str, id: str, parent_id: str | None, time: float) -> dict[str, Any]:
    """The fields that a record begins with."""
    data: dict[str, Any] = {"kind": kind, "id": id, "parent_id": parent_id, "time": time}
    version = kind_of(kind).version
    if version != 1:
        data["v"] = version
    return data

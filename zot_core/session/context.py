"""From a branch of the tree to the messages that a model is sent. Pure; pairing of calls is the projection's business.

A `compaction` on the branch stands for everything before its `first_kept_entry_id`; the last one counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from zot_core.session.records import Entry
from zot_core.types.content import Text
from zot_core.types.messages import CustomMessage, Message


def context_entries(path: Sequence[Entry]) -> list[Entry]:
    """The entries of a branch that a model still sees, the last compaction (if any) first."""
    last = next((i for i in range(len(path) - 1, -1, -1) if path[i].kind == "compaction"), None)
    if last is None:
        return list(path)
    compaction = path[last]
    first_kept = compaction.data.get("first_kept_entry_id")
    start = next((i for i in range(last) if path[i].id == first_kept), last)
    kept = [entry for entry in path[start:last] if entry.kind != "compaction"]
    return [compaction, *kept, *path[last + 1 :]]


def context_message(entry: Entry) -> Message | None:
    """What a model sees of an entry, or None if it sees nothing of it."""
    if entry.kind in ("compaction", "branch_summary"):
        return _summary(entry, entry.data)
    return entry.message


def _summary(entry: Entry, data: Mapping[str, object]) -> CustomMessage:
    return CustomMessage(
        custom_type=entry.kind, content=(Text(str(data.get("summary", ""))),), id=entry.id, time=entry.time
    )

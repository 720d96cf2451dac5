"""Where a conversation may be cut: never between a call and its result, and so that something is left on both sides."""

from __future__ import annotations

from collections.abc import Sequence

from zot_core.compaction.estimate import message_tokens
from zot_core.types.messages import AssistantMessage, Message, ToolResultMessage
from zot_core.types.record import record

Row = tuple[str, Message]
"""An entry's id and its message."""


@record(kw_only=True)
class Preparation:
    """What a compaction is about to do: `messages` are what the summary will stand for, `kept` stays as it is.

    `previous_summary` is the one of an earlier compaction, whose content the new one has to carry on.
    """

    first_kept_entry_id: str
    messages: tuple[Message, ...]
    kept: tuple[Message, ...]
    tokens_before: int
    previous_summary: str = ""


def prepare(
    rows: Sequence[Row], *, keep_tokens: int, tokens_before: int, previous_summary: str = ""
) -> Preparation | None:
    """Cuts so that about `keep_tokens` of the newest messages stay; None when there is nothing to summarise.

    `rows` are what a model sees of the branch after an earlier compaction's summary, as (entry's id, message).
    """
    cut = _cut([message for _, message in rows], keep_tokens)
    if cut is None:
        return None
    return Preparation(
        first_kept_entry_id=rows[cut][0],
        messages=tuple(message for _, message in rows[:cut]),
        kept=tuple(message for _, message in rows[cut:]),
        tokens_before=tokens_before,
        previous_summary=previous_summary,
    )


def problem(rows: Sequence[Row], summary: str, first_kept_entry_id: str) -> str:
    """Why a compaction cannot be kept, "" if it can: a blank summary, or a cut where none may be."""
    if not summary.strip():
        return "the summary is empty"
    place = next((place for place, (entry_id, _) in enumerate(rows) if entry_id == first_kept_entry_id), None)
    if place is None:
        return f"there is no entry {first_kept_entry_id!r} to keep from"
    if not _may_cut([message for _, message in rows], place):
        return f"a cut before entry {first_kept_entry_id!r} would part a call from its result, or leave nothing out"
    return ""


def _cut(messages: Sequence[Message], keep_tokens: int) -> int | None:
    """The index of the first message that stays."""
    wanted, kept = len(messages), 0
    while wanted > 0 and kept + message_tokens(messages[wanted - 1]) <= keep_tokens:
        wanted -= 1
        kept += message_tokens(messages[wanted])
    later = range(max(wanted, 1), len(messages))
    earlier = range(min(wanted, len(messages)) - 1, 0, -1)
    return next((place for place in (*later, *earlier) if _may_cut(messages, place)), None)


def _may_cut(messages: Sequence[Message], place: int) -> bool:
    if place == 0 or isinstance(messages[place], ToolResultMessage):
        return False
    open_calls = {
        call.id for message in messages[:place] if isinstance(message, AssistantMessage) for call in message.tool_calls
    }
    return not any(
        isinstance(message, ToolResultMessage) and message.call_id in open_calls for message in messages[place:]
    )

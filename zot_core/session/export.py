"""A session as a person may keep it elsewhere: Markdown or JSON, without what a plugin withheld. Pure over entries."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from zot_core.session.records import Entry
from zot_core.types.content import ToolCall, text_of
from zot_core.types.messages import AssistantMessage, CustomMessage, ToolResultMessage, UserMessage
from zot_core.wire import codec


def as_markdown(session_id: str, name: str | None, cwd: str, created: float, entries: Iterable[Entry]) -> str:
    """The conversation as Markdown. What others wrote is in it as it is: clean it for a terminal."""
    parts = [f"# {name or session_id}\n\n{cwd} · {codec.rfc3339(created)} · {session_id}\n"]
    parts += [text for entry in entries if (text := _part(entry))]
    return "\n".join(parts)


def entry_json(entry: Entry) -> dict[str, Any]:
    """An entry as people may see it: a message by its blocks, what a plugin withheld left out."""
    row: dict[str, Any] = {"kind": entry.kind, "id": entry.id, "parent_id": entry.parent_id}
    row["time"] = codec.rfc3339(entry.time)
    message = entry.message
    if message is None:
        return row | {"data": dict(entry.data)}
    row["role"] = message.role
    if isinstance(message, AssistantMessage):
        row["content"] = codec.shown_blocks(message.content, entry.display)
        row |= {"withheld": True} if entry.withheld else {}
        row |= {"stop": message.stop} | ({"error": message.failure.message} if message.failure is not None else {})
    else:
        row["content"] = codec.blocks(message.content)
    if isinstance(message, ToolResultMessage):
        row |= {"call_id": message.call_id, "tool_name": message.tool_name, "is_error": message.is_error}
    return row


def _part(entry: Entry) -> str:
    message = entry.message
    if entry.kind in ("compaction", "branch_summary"):
        return f"## Summary\n\n{entry.data.get('summary', '')}\n"
    if isinstance(message, UserMessage):
        return f"## You\n\n{text_of(message.content)}\n"
    if isinstance(message, CustomMessage):
        return f"## {message.custom_type}\n\n{text_of(message.content)}\n" if message.display else ""
    if isinstance(message, ToolResultMessage):
        label = "failed" if message.is_error else "result"
        return f"### {message.tool_name}: {label}\n\n{_fenced(text_of(message.content))}\n"
    if isinstance(message, AssistantMessage):
        text = "(withheld by a plugin)" if entry.withheld else entry.display or ""
        calls = [_call(block) for block in message.content if isinstance(block, ToolCall)]
        said = [f"{part}\n" for part in (text, _ended(message)) if part]
        return "\n".join([f"## {message.model or 'Assistant'}\n", *said, *calls])
    return ""


def _ended(message: AssistantMessage) -> str:
    """How the answer ended, if that was not its own end."""
    if message.stop == "error":
        return f"(failed: {message.failure.message})" if message.failure is not None else "(failed)"
    return {"aborted": "(aborted)", "length": "(cut: the model reached its limit of output)"}.get(message.stop, "")


def _call(call: ToolCall) -> str:
    args = call.raw if call.args is None else json.dumps(dict(call.args), ensure_ascii=False, default=str)
    return f"### {call.name}\n\n{_fenced(args)}\n"


def _fenced(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"

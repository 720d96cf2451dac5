"""Tools that a model is offered in the middle of a conversation: which stand at the result that brought them.

Some servers take the definition of a tool at that place, so that what they cached of the beginning stays good; to all
others the whole list is sent. Pure; knows no wire format. Who can do it is said by compat flags and by models.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from operator import is_

from zot_core.models.growing import Grown
from zot_core.types.content import ToolCall
from zot_core.types.messages import AssistantMessage, Message, ToolResultMessage
from zot_core.types.record import record
from zot_core.types.specs import ModelSpec, ToolSpec

Loaded = Mapping[str, tuple[ToolSpec, ...]]
"""Tools by the id of the call at whose result they stand."""


@record(kw_only=True)
class Placement:
    """`listed` goes into the request's own list of tools, `loaded` into the conversation."""

    listed: tuple[ToolSpec, ...]
    loaded: Loaded = field(default_factory=dict)


def can_load(model: ModelSpec, flag: str, models: re.Pattern[str]) -> bool:
    """Whether tools may be placed: as the compat flag says, else for catalog models whose id `models` matches. Of a
    server that a person named themselves only its flag is believed."""
    said = model.compat.get(flag)
    return said if isinstance(said, bool) else model.source == "" and models.search(model.id) is not None


class Marks:
    """Which results brought which tools for the first time, read once for each message of a growing conversation."""

    __slots__ = ("_messages", "_seen", "brought")

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._seen: set[str] = set()
        self.brought: list[tuple[str, tuple[str, ...]]] = []
        """(call id, names), in order."""

    def read(self, messages: Sequence[Message]) -> None:
        """Takes the conversation as it is now."""
        done = len(self._messages)
        if done > len(messages) or not all(map(is_, self._messages, messages)):
            done, self._seen, self.brought = 0, set(), []
        for message in messages[done:]:
            if isinstance(message, AssistantMessage):
                self._seen.update(block.name for block in message.content if isinstance(block, ToolCall))
            elif isinstance(message, ToolResultMessage) and message.activated:
                fresh = tuple(name for name in dict.fromkeys(message.activated) if name not in self._seen)
                self._seen.update(message.activated)
                if fresh and not message.is_error:
                    self.brought.append((message.call_id, fresh))
        self._messages = list(messages)


def placed(tools: Sequence[ToolSpec], messages: Sequence[Message], able: bool, grown: Grown | None = None) -> Placement:
    """Where each of the request's tools stands; `grown` remembers what was read.

    A tool stands at the first result that says it became active, unless it was called before that, is gone since, or
    that call failed: then it is listed. One tool at least is always listed, because servers want one.
    """
    if not able:
        return Placement(listed=tuple(tools))
    marks = grown.beside if grown is not None and isinstance(grown.beside, Marks) else Marks()
    marks.read(messages)
    if grown is not None:
        grown.beside = marks
    if not marks.brought:
        return Placement(listed=tuple(tools))
    offered = {tool.name: tool for tool in tools}
    pairs = ((call_id, tuple(offered[n] for n in names if n in offered)) for call_id, names in marks.brought)
    loaded = {call_id: specs for call_id, specs in pairs if specs}
    later = {tool.name for specs in loaded.values() for tool in specs}
    listed = tuple(tool for tool in tools if tool.name not in later)
    return Placement(listed=listed, loaded=loaded) if listed else Placement(listed=tuple(tools))

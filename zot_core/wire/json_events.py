"""From a session's events to the JSON events of the command line, in their promised order.

A `Projector` is the state of one stream of events: what was told of the message that is being made, which calls have
their result, what was used so far. It answers wire events and writes nothing; JSON mode and RPC do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from zot_core.types.content import text_of
from zot_core.types.messages import AssistantMessage, CustomMessage, ToolResultMessage, UserMessage
from zot_core.types.stream import Retrying, TextDelta, ThinkingDelta, ToolCallDelta, ToolCallEnd, ToolCallStart
from zot_core.types.usage import Usage
from zot_core.wire import codec
from zot_core.wire.codec import WireEvent

if TYPE_CHECKING:
    from zot_core.agent.sink import Stored
    from zot_core.events.agent import AgentEndEvent, AgentSettledEvent
    from zot_core.events.base import Block, Event, Handled
    from zot_core.events.message import MessageStartEvent, MessageUpdateEvent
    from zot_core.events.session import SessionBeforeCompactEvent, SessionCompactEvent
    from zot_core.events.tool import ToolCallEvent, ToolExecutionEndEvent, ToolExecutionUpdateEvent
    from zot_core.events.turn import TurnEndEvent, TurnStartEvent
    from zot_core.frontend import Note
    from zot_core.types.failure import Failure, StopReason
    from zot_core.types.stream import Key, StreamPart


class Projector:
    """Makes wire events of what a front end is told. One object serves one stream, over all its sessions and prompts.

    Text that a plugin may still change does not come here before its answer: the agent sees to that.
    """

    def __init__(self) -> None:
        self.used = Usage()
        self._any_delta = False
        self._calls: dict[Key, str] = {}
        self._results: set[str] = set()
        self._turn_open = False
        self._last_stop: str | None = None
        self._failure: Failure | None = None
        self._settled = False

    wants = frozenset(
        {
            "message_start",
            "message_update",
            "tool_call",
            "tool_execution_update",
            "tool_execution_end",
            "turn_start",
            "turn_end",
            "agent_start",
            "agent_end",
            "agent_settled",
            "session_before_compact",
            "session_compact",
        }
    )
    """The hooks whose events it makes something of."""

    def event(self, event: Event, stop: Block | Handled | None = None) -> list[WireEvent]:
        """The wire events for `event`, often none; `stop` is the Gate's, if a plugin stopped it."""
        if event.hook == "message_update":
            return self._part(event)  # type: ignore[arg-type]
        handler = getattr(self, f"_on_{event.hook}", None)
        if handler is None:
            return []
        return list(handler(event, stop))

    def stored(self, stored: Stored) -> list[WireEvent]:
        """The wire events for a message that became part of the session."""
        message = stored.message
        if isinstance(message, AssistantMessage):
            return list(self._assistant(message, stored))
        if isinstance(message, ToolResultMessage):
            return list(self._tool_message(message))
        if isinstance(message, CustomMessage):
            return [
                {
                    "type": "custom_message",
                    "custom_type": message.custom_type,
                    "content": codec.blocks(message.content),
                    "display": message.display,
                    "message_id": message.id,
                }
            ]
        return [_user(message)]

    def note(self, note: Note) -> list[WireEvent]:
        """The wire events for a note. A diagnostic has none: it is for stderr."""
        if note.kind == "notify":
            return [
                {
                    "type": "ext_notify",
                    "extension": note.by,
                    "level": note.level,
                    "message": note.text,
                }
            ]
        if note.kind in ("display", "answer"):
            return [{"type": "ext_display", "extension": note.by, "text": note.text}]
        if note.kind == "clear":
            return [{"type": "ext_clear_notes", "extension": note.by}]
        if note.kind == "plugin_error":
            return [{"type": "plugin_error", "plugin": note.source, "hook": note.hook, "message": note.text}]
        return []

    def begin(self) -> None:
        """A prompt begins: that another run has told its end does not tell this one's."""
        self._settled = False

    def finish(self, stop: StopReason = "end_turn", failure: Failure | None = None) -> list[WireEvent]:
        """The end of a prompt as its caller knows it: what `agent_settled` did not tell yet, `done` last.

        For a prompt that no run answered (a plugin handled it, a session could not be opened) as for one whose run was.
        """
        if self._settled:
            self._settled = False
            return []
        return list(self._end(stop, failure or self._failure))

    # --- a prompt's frame ---------------------------------------------------------------------------------------

    def _on_agent_start(self, event: Any, stop: Any) -> Iterator[WireEvent]:
        self._failure = None
        self._settled = False
        yield from ()

    def _on_agent_end(self, event: AgentEndEvent, stop: Any) -> Iterator[WireEvent]:
        self._failure = event.failure
        yield from ()

    def _on_agent_settled(self, event: AgentSettledEvent, stop: Any) -> Iterator[WireEvent]:
        yield from self._end(event.stop, self._failure)
        self._settled = True

    def _end(self, stop: StopReason, failure: Failure | None) -> Iterator[WireEvent]:
        if self._turn_open or (stop in ("error", "aborted", "blocked") and self._last_stop != stop):
            yield self._turn_end(stop, failure)
        if failure is not None:
            yield {
                "type": "error",
                "message": failure.message,
                "kind": failure.kind,
                "retryable": failure.retryable,
            }
        yield {"type": "done"}
        self._last_stop = self._failure = None
        self._results.clear()

    # --- a turn -------------------------------------------------------------------------------------------------

    def _on_turn_start(self, event: TurnStartEvent, stop: Any) -> Iterator[WireEvent]:
        self._turn_open = True
        self._last_stop = None
        yield {"type": "turn_start", "step": event.step}

    def _on_turn_end(self, event: TurnEndEvent, stop: Any) -> Iterator[WireEvent]:
        yield self._turn_end(event.stop, event.failure)

    def _turn_end(self, stop: StopReason, failure: Failure | None) -> WireEvent:
        self._turn_open = False
        self._last_stop = stop
        wire: WireEvent = {"type": "turn_end", "stop": stop}
        if failure is not None:
            wire["error"] = failure.message
        return wire

    def _on_session_before_compact(self, event: SessionBeforeCompactEvent, stop: Any) -> Iterator[WireEvent]:
        if stop is None:
            yield {"type": "compact_start", "reason": event.reason}

    def _on_session_compact(self, event: SessionCompactEvent, stop: Any) -> Iterator[WireEvent]:
        if event.accepted:
            data = event.compaction_entry.data if event.compaction_entry is not None else {}
            yield {
                "type": "compact_done",
                "summary": data.get("summary", ""),
                "tokens_before": data.get("tokens_before", 0),
                "tokens_after": data.get("tokens_after", 0),
            }

    # --- a message ----------------------------------------------------------------------------------------------

    def _on_message_start(self, event: MessageStartEvent, stop: Any) -> Iterator[WireEvent]:
        if isinstance(event.message, AssistantMessage):
            self._any_delta = False
            self._calls.clear()
            yield {"type": "assistant_start"}

    def _part(self, event: MessageUpdateEvent) -> list[WireEvent]:
        part = event.part
        if isinstance(part, TextDelta):
            if not part.text:
                return []
            self._any_delta = True
            return [{"type": "text_delta", "delta": part.text}]
        if isinstance(part, ThinkingDelta):
            if not part.text:
                return []
            self._any_delta = True
            return [{"type": "thinking_delta", "delta": part.text}]
        if isinstance(part, Retrying):
            return self._retry(part)
        return self._call_part(part)

    def _call_part(self, part: StreamPart) -> list[WireEvent]:
        if isinstance(part, ToolCallDelta):
            return [{"type": "tool_use_args", "id": self._calls.get(part.key, str(part.key)), "delta": part.args}]
        if isinstance(part, ToolCallStart):
            self._any_delta = True
            self._calls[part.key] = part.id
            return [{"type": "tool_use_start", "id": part.id, "name": part.name}]
        if isinstance(part, ToolCallEnd) and part.key in self._calls:
            return [{"type": "tool_use_end", "id": self._calls.pop(part.key)}]
        return []

    def _retry(self, part: Retrying) -> list[WireEvent]:
        told: list[WireEvent] = [
            {"type": "retry", "attempt": part.attempt, "delay_s": part.delay, "reason": part.failure.message}
        ]
        if self._any_delta:
            # What was streamed is void: a second start says so in a word that consumers know.
            told.append({"type": "assistant_start"})
        self._any_delta = False
        self._calls.clear()
        return told

    def _assistant(self, message: AssistantMessage, stored: Stored) -> Iterator[WireEvent]:
        for call_id in self._calls.values():
            yield {"type": "tool_use_end", "id": call_id}
        self._calls.clear()
        if message.usage is not None:
            yield self._used(message.usage)
        wire: WireEvent = {
            "type": "assistant_message",
            "content": codec.shown_blocks(message.content, None if stored.withheld else stored.display),
            "time": codec.rfc3339(message.time),
            "message_id": message.id,
        }
        if stored.withheld:
            wire["withheld"] = True
            if stored.reason:
                wire["reason"] = stored.reason
        yield wire

    def _used(self, usage: Usage) -> WireEvent:
        self.used += usage
        return {"type": "usage", **codec.usage(usage), "cumulative": codec.usage(self.used)}

    # --- tool calls ---------------------------------------------------------------------------------------------

    def _on_tool_call(self, event: ToolCallEvent, stop: Any) -> Iterator[WireEvent]:
        if stop is None:
            wire = {"type": "tool_call", "id": event.call_id, "name": event.tool_name, "args": dict(event.args)}
            yield _nested(wire, event.parent_call_id)

    def _on_tool_execution_update(self, event: ToolExecutionUpdateEvent, stop: Any) -> Iterator[WireEvent]:
        text = text_of(event.content)
        if text:
            yield {"type": "tool_progress", "id": event.call_id, "text": text}

    def _on_tool_execution_end(self, event: ToolExecutionEndEvent, stop: Any) -> Iterator[WireEvent]:
        self._results.add(event.call_id)
        wire: WireEvent = {
            "type": "tool_result",
            "id": event.call_id,
            "name": event.tool_name,
            "is_error": event.is_error,
            "content": codec.blocks(event.content),
        }
        if event.details:
            wire["details"] = dict(event.details)
        yield _nested(wire, event.parent_call_id)

    def _tool_message(self, message: ToolResultMessage) -> Iterator[WireEvent]:
        if message.usage is not None:
            self.used += message.usage
        if message.call_id in self._results:
            self._results.discard(message.call_id)
            return
        wire: WireEvent = {
            "type": "tool_result",
            "id": message.call_id,
            "name": message.tool_name,
            "is_error": message.is_error,
            "content": codec.blocks(message.content),
        }
        if message.details:
            wire["details"] = dict(message.details)
        yield wire


def _user(message: UserMessage) -> WireEvent:
    return {
        "type": "user_message",
        "content": codec.blocks(message.content),
        "time": codec.rfc3339(message.time),
        "message_id": message.id,
    }


def _nested(wire: WireEvent, parent: str | None) -> WireEvent:
    if parent is not None:
        wire["parent_id"] = parent
    return wire

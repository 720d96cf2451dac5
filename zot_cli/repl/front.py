"""The session's events as changes of what there is to show. Deltas are gathered and folded once a frame.

Knows what events mean and nothing of a terminal: `changed` is called when something is to be drawn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from zot_cli.modes.progress import retry_text
from zot_cli.repl import state as st
from zot_cli.repl.state import Custom, Flash, Said, State, Told
from zot_core.events.base import Block
from zot_core.types.content import Image, Text, text_of
from zot_core.types.messages import AssistantMessage, CustomMessage, ToolResultMessage, UserMessage
from zot_core.types.stream import Retrying, TextDelta, ThinkingDelta, ToolCallStart

if TYPE_CHECKING:
    from zot_core.agent.sink import Stored
    from zot_core.events.base import Event, Handled
    from zot_core.events.message import MessageUpdateEvent
    from zot_core.frontend import Note
    from zot_core.types.messages import Message
    from zot_core.types.specs import Mode

_BLOCKS = {TextDelta: st.text_delta, ThinkingDelta: st.thinking_delta}


class ReplFront:
    """A front end that keeps a State. `changed(soon)` is called after each change; `soon` is for what comes often."""

    mode: Mode = "repl"
    wants = frozenset(
        {
            "agent_start",
            "agent_settled",
            "message_update",
            "message_start",
            "tool_execution_start",
            "tool_call",
            "tool_execution_update",
            "tool_execution_end",
            "session_before_compact",
            "session_compact",
            "session_compact_failed",
            "session_start",
        }
    )

    plugin: Any = None

    def __init__(self, ui: Any, changed: Callable[[bool], None]) -> None:
        self.ui = ui
        self.state = State()
        self.retries = 2
        self._changed = changed
        self._deltas: list[Any] = []
        self._blocked: set[str] = set()

    def fold(self) -> None:
        """Folds the deltas that have come since into the state."""
        deltas, self._deltas = self._deltas, []
        kind: type[Any] | None = None
        texts: list[str] = []
        for delta in [*deltas, None]:
            if type(delta) is not kind and texts:
                assert kind is not None
                self.state = _BLOCKS[kind](self.state, "".join(texts))
                texts = []
            if delta is not None and delta.text:  # a provider may keep what was thought to itself
                kind = type(delta)
                texts.append(delta.text)

    def change(self, new: State) -> None:
        """Another state, and a frame for it."""
        self.state = new
        self._changed(False)

    # --- the session's side ------------------------------------------------------------------------------------------

    def event(self, event: Event, stop: Block | Handled | None = None, plugin: str = "") -> None:
        if event.hook == "message_update":
            self._part(event)  # type: ignore[arg-type]
            return
        handler = getattr(self, f"_on_{event.hook}", None)
        if handler is not None:
            self.fold()
            self.change(handler(event, stop))

    def stored(self, stored: Stored) -> None:
        self.fold()
        new, message = self.state, stored.message
        if isinstance(message, AssistantMessage):
            new = st.answer_over(new)
            if stored.withheld:
                new = st.append(new, st.Answer(text="", done=True, withheld=True, reason=stored.reason))
        elif not isinstance(message, ToolResultMessage):
            if not isinstance(message, CustomMessage) or message.display:
                new = st.append(new, _block(message))
            if isinstance(message, UserMessage):
                new = _arrived(new, text_of(message.content))
        if isinstance(message, AssistantMessage | ToolResultMessage) and message.usage is not None:
            new = st.used(new, message.usage)
        self.change(new)

    def note(self, note: Note) -> None:
        self.fold()
        self.change(noted(self.state, note))

    def _part(self, event: MessageUpdateEvent) -> None:
        part = event.part
        kind = type(part)
        if kind in _BLOCKS:
            self._deltas.append(part)
            self._changed(True)
            return
        self.fold()
        if isinstance(part, ToolCallStart):
            self.change(st.append(self.state, st.ToolRow(call_id=part.id, name=part.name)))
        elif isinstance(part, Retrying):
            told = Told(text=retry_text(part, self.retries), level="warning")
            self.change(st.append(st.voided(self.state), told))

    # --- events ------------------------------------------------------------------------------------------------------

    def _on_agent_start(self, event: Any, stop: Any) -> State:
        return self.state if self.state.running else st.started(self.state, time.monotonic())

    def _on_agent_settled(self, event: Any, stop: Any) -> State:
        return st.ended(self.state)

    def _on_message_start(self, event: Any, stop: Any) -> State:
        return self.state

    def _on_tool_execution_start(self, event: Any, stop: Any) -> State:
        return st.tool(
            _named(self.state, event), event.call_id, name=event.tool_name, args=_args(event), status="waiting"
        )

    def _on_tool_call(self, event: Any, stop: Any) -> State:
        if isinstance(stop, Block):
            self._blocked.add(event.call_id)
            return self.state
        now = time.monotonic()
        return st.tool(self.state, event.call_id, name=event.tool_name, args=_args(event), status="running", since=now)

    def _on_tool_execution_update(self, event: Any, stop: Any) -> State:
        return st.tool(self.state, event.call_id, progress=text_of(event.content))

    def _on_tool_execution_end(self, event: Any, stop: Any) -> State:
        row = next((b for b in self.state.blocks if isinstance(b, st.ToolRow) and b.call_id == event.call_id), None)
        took = time.monotonic() - row.since if row is not None and row.since else None
        status = "blocked" if event.call_id in self._blocked else "failed" if event.is_error else "done"
        self._blocked.discard(event.call_id)
        return st.tool(
            self.state,
            event.call_id,
            name=event.tool_name,
            status=status,
            result=tuple(event.content),
            details=event.details,
            took=took,
        )

    def _on_session_start(self, event: Any, stop: Any) -> State:
        self.ui.forget()
        return replace(self.state, statuses={})

    def _on_session_before_compact(self, event: Any, stop: Any) -> State:
        return self.state if stop is not None else st.busy(self.state, "Compacting", time.monotonic())

    def _on_session_compact_failed(self, event: Any, stop: Any) -> State:
        return replace(self.state, activity="")

    def _on_session_compact(self, event: Any, stop: Any) -> State:
        new = replace(self.state, activity="")
        if not event.accepted:
            return new
        data = event.compaction_entry.data if event.compaction_entry is not None else {}
        before, after = data.get("tokens_before", 0), data.get("tokens_after", 0)
        words = f"Compacted: {before} tokens became about {after}."
        return st.append(new, Told(text=words))


def noted(state: State, note: Note) -> State:
    """The state with a note: one-shot ones of plugins below the transcript, what went wrong and answers in it."""
    if note.kind == "clear":
        return st.unflash(state, note.by)
    if note.kind in ("notify", "display"):
        return st.flash(state, Flash(source=note.by, text=note.text, level=note.level, display=note.kind == "display"))
    if note.kind == "plugin_error":
        return st.append(state, Told(text=f"failed in {note.hook}: {note.text}", source=note.by, level="error"))
    if note.kind == "answer":
        return st.append(state, Told(text=note.text, markdown=True))
    return st.append(state, Told(text=note.text, source=note.by, level=note.level))


def from_messages(
    messages: list[Message],
    shown: Callable[[str], str | None],
    after: Mapping[str, Sequence[st.Block]] | None = None,
) -> list[st.Block]:
    """Blocks of a stored conversation; `shown(id)` is the text that people see of an assistant's message, `after` is
    what stands after a message by its id, "" for the beginning."""
    results = {m.call_id: m for m in messages if isinstance(m, ToolResultMessage)}
    after = after or {}
    blocks: list[st.Block] = [*after.get("", ())]
    for message in messages:
        if isinstance(message, AssistantMessage):
            text = shown(message.id)
            if text is None and message.text:
                blocks.append(st.Answer(text="", done=True, withheld=True))
            elif text:
                blocks.append(st.Answer(text=text, done=True))
            for call in message.tool_calls:
                blocks.append(_row(call, results.get(call.id)))
        elif isinstance(message, UserMessage) or (isinstance(message, CustomMessage) and message.display):
            blocks.append(_block(message))
        blocks += after.get(message.id, ())
    return blocks


def _row(call: Any, result: ToolResultMessage | None) -> st.ToolRow:
    args = call.args if isinstance(call.args, Mapping) else {}
    if result is None:
        return st.ToolRow(call_id=call.id, name=call.name, args=args, status="aborted")
    status: st.Status = "failed" if result.is_error else "done"
    return st.ToolRow(
        call_id=call.id, name=call.name, args=args, status=status, result=result.content, details=result.details
    )


def _block(message: UserMessage | CustomMessage) -> st.Block:
    if isinstance(message, CustomMessage):
        return Custom(custom_type=message.custom_type, content=message.content, details=message.details)
    pictures = tuple(block for block in message.content if isinstance(block, Image))
    text = "\n".join(block.text for block in message.content if isinstance(block, Text))
    return Said(text=text, pictures=pictures)


def _arrived(state: State, text: str) -> State:
    """What was queued and has joined the conversation waits no longer."""
    place = next((n for n, one in enumerate(state.waiting) if one.text == text), None)
    if place is None:
        return state
    return replace(state, waiting=(*state.waiting[:place], *state.waiting[place + 1 :]))


def _args(event: Any) -> Mapping[str, Any]:
    return event.args if isinstance(event.args, Mapping) else {}


def _named(state: State, event: Any) -> State:
    """The row that the model's own stream began under no id gets the call's."""
    for place, block in enumerate(state.blocks):
        if isinstance(block, st.ToolRow) and not block.call_id and block.name == event.tool_name:
            row = replace(block, call_id=event.call_id)
            return replace(state, blocks=(*state.blocks[:place], row, *state.blocks[place + 1 :]))
    return state

"""The front end of RPC: events as `--json` has them, and responses, through the one writer.

Knows events and lines; what a request does is not its business.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from zot_cli.modes.front import show_note
from zot_cli.modes.rpc.ui import RpcUi
from zot_core.wire import codec
from zot_core.wire.json_events import Projector

if TYPE_CHECKING:
    from collections.abc import Callable

    from zot_cli.modes.rpc.writer import Writer
    from zot_core.agent.sink import Stored
    from zot_core.events.base import Block, Event, Handled
    from zot_core.events.session import SessionCompactEvent, SessionCompactFailedEvent
    from zot_core.frontend import Note
    from zot_core.types.failure import Failure, StopReason
    from zot_core.types.specs import Mode
    from zot_core.types.usage import Usage
    from zot_core.wire.codec import WireEvent
    from zot_core.wire.rpc import Id


class RpcFront:
    """Writes everything that the client is told. `hurried` says that a run was aborted and must not wait for it."""

    mode: Mode = "rpc"
    plugin: object = None
    wants = Projector.wants | {"session_compact_failed"}

    def __init__(self, writer: Writer) -> None:
        self.ui = RpcUi(self.note, self.send)
        self.hurried: Callable[[], bool] = lambda: False
        self.on_compact: Callable[[], object] = lambda: None
        """Called when a compaction begins, before anything is told of it."""
        self._writer = writer
        self._projector = Projector()
        self._overheard: list[str] | None = None

    @property
    def used(self) -> Usage:
        """What model calls used since the start."""
        return self._projector.used

    # --- what the core tells ----------------------------------------------------------------------------------------

    def event(self, event: Event, stop: Block | Handled | None = None, plugin: str = "") -> Awaitable[None] | None:
        if event.hook == "session_before_compact" and stop is None:
            self.on_compact()
        if event.hook == "session_compact_failed":
            self._compact_failed(event)  # type: ignore[arg-type]
        else:
            self.send_all(self._projector.event(event, stop))
            if event.hook == "session_compact":
                self._compacted(event)  # type: ignore[arg-type]
        room = self._writer.room()
        return None if room is None or self.hurried() else room

    def stored(self, stored: Stored) -> None:
        # Nobody waits here: a stored message could not be interrupted, and the next event waits in its place.
        self.send_all(self._projector.stored(stored))

    def note(self, note: Note) -> None:
        if self._overheard is not None and note.kind == "diagnostic" and note.level in ("warning", "error"):
            self._overheard.append(note.text)
        told = self._projector.note(note)
        if told:
            self.send_all(told)
        else:
            show_note(note)

    # --- what requests bring ----------------------------------------------------------------------------------------

    def begin(self) -> None:
        """A prompt begins."""
        self._projector.begin()

    def finish(self, stop: StopReason, failure: Failure | None) -> None:
        """A prompt is over, `done` unless its run said so."""
        self.send_all(self._projector.finish(stop, failure))

    def respond(self, id: Id | None, command: str, data: Mapping[str, Any] | None, ignored: Iterable[str] = ()) -> None:
        """The response to a request that was done; `ignored` are its fields that nobody knew."""
        line = self._response(id, command, success=True)
        line["data"] = {} if data is None else data
        if names := list(ignored):
            line["ignored"] = names
        self.send(line)

    def refuse(self, id: Id | None, command: str, error: str) -> None:
        """The response to a request that was not done."""
        self.send({**self._response(id, command, success=False), "error": error})

    def fail(self, failure: Failure) -> None:
        """An `error` that belongs to no run."""
        self.send({"type": "error", "message": failure.message, "kind": failure.kind, "retryable": failure.retryable})

    @contextmanager
    def overhearing(self) -> Iterator[list[str]]:
        """The warnings that are noted meanwhile: why something was refused is said by a note."""
        said: list[str] = []
        self._overheard = said
        try:
            yield said
        finally:
            self._overheard = None

    def send_all(self, events: Iterable[WireEvent]) -> None:
        """Events, each a line."""
        for event in events:
            self._writer.put(codec.encode(event))

    def send(self, event: WireEvent) -> None:
        """One line."""
        self._writer.put(codec.encode(event))

    def _response(self, id: Id | None, command: str, *, success: bool) -> WireEvent:
        line: WireEvent = {"type": "response"}
        if id is not None:
            line["id"] = id
        line["command"], line["success"] = command, success
        return line

    def _compacted(self, event: SessionCompactEvent) -> None:
        if not event.accepted:
            self.send({"type": "compact_failed", "reason": event.reason, "message": event.rejection_cause})

    def _compact_failed(self, event: SessionCompactFailedEvent) -> None:
        message = "it was aborted" if event.aborted else event.error_message
        self.send({"type": "compact_failed", "reason": event.reason, "message": message})

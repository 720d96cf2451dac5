"""The sink of a session: in one place, the order in which an event reaches everybody.

The chain if it is a Gate, then the session's record, then the front end, then plugin Facts in rank order. Must not know
what an event means, nor which mode or plugin is listening.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from zot_core.agent.sink import Outcome, Stored
from zot_core.events.base import Fact, Gate
from zot_core.session.errors import SessionError
from zot_core.types.messages import AssistantMessage, CustomMessage, DraftEntry

if TYPE_CHECKING:
    from zot_core.events.base import Event
    from zot_core.frontend import FrontEnd
    from zot_core.plugins.pipeline import Pipeline
    from zot_core.session.session import Session

G = TypeVar("G", bound=Gate)

_ELSEWHERE = (
    "; what was said so far is kept as it was. Make room, or go on elsewhere: --session-dir DIR keeps sessions in "
    "another folder, --no-session keeps none"
)


class SessionSink:
    """Implements `zot_core.agent.sink.Sink` over one pipeline, one session and one front end.

    `settled` is called whenever the outermost dispatch is over: that is when runs which handlers asked for may start.
    """

    def __init__(self, pipeline: Pipeline, session: Session, front: FrontEnd, settled: Callable[[], None]) -> None:
        self._pipeline = pipeline
        self._session = session
        self._front = front
        self._settled = settled
        self._depth = 0
        self._sync: asyncio.Future[None] | None = None

    @property
    def dispatching(self) -> bool:
        """Whether handlers are being called right now."""
        return self._depth > 0

    def wants(self, hook: str) -> bool:
        """Whether the front end or a plugin would see the event."""
        return hook in self._front.wants or self._pipeline.wants(hook)

    def intercepts(self, hook: str) -> bool:
        """Whether a plugin may change or stop the event."""
        return self._pipeline.intercepts(hook)

    async def tell(self, event: Fact) -> None:
        """Front end first, then the plugins."""
        if event.hook in self._front.wants:
            await self._show(event)
        if self._pipeline.wants(event.hook):
            self._depth += 1
            try:
                await self._pipeline.tell(event)
            finally:
                self._leave()

    async def gate(self, event: G) -> Outcome[G]:
        """The chain first, then the front end with its outcome. A turn's end also puts the session on the disk."""
        outcome = Outcome(event)
        if self._pipeline.wants(event.hook):
            self._depth += 1
            try:
                outcome = await self._pipeline.gate(event)
            finally:
                self._leave()
        if event.hook in self._front.wants:
            await self._show(outcome.event, outcome)
        if event.hook == "turn_end":
            await self._start_sync()
        return outcome

    async def store(self, stored: Stored) -> None:
        """Writes the message, then tells the front end. Raises SessionError when it cannot be written."""
        message = stored.message
        try:
            if isinstance(message, AssistantMessage) and (stored.withheld or stored.display != message.text):
                self._session.append_message(message, display=stored.display)
            else:
                self._session.append_message(message)
        except SessionError as error:
            raise SessionError(f"{error}{_ELSEWHERE}", error.path) from error
        waiting = self._front.stored(stored)
        if waiting is not None:
            await waiting

    async def store_entry(self, entry: DraftEntry) -> CustomMessage | None:
        """Writes a plugin's entry; a `custom_message` joins the conversation and comes back."""
        if entry.kind == "custom":
            self._session.append_custom(entry.custom_type, entry.data)
            return None
        message = CustomMessage(
            custom_type=entry.custom_type, content=entry.content, display=entry.display, details=entry.data
        )
        await self.store(Stored(message=message, display=None))
        return message

    async def synced(self) -> None:
        """Waits until what was written is on the disk."""
        if self._sync is not None:
            under_way, self._sync = self._sync, None
            await under_way

    async def _start_sync(self) -> None:
        # One fsync is under way at most; a turn does not wait for its own, only for the one before.
        await self.synced()
        if self._session.path is not None:
            self._sync = asyncio.get_running_loop().run_in_executor(None, self._session.sync)

    async def _show(self, event: Event, outcome: Outcome[G] | None = None) -> None:
        if outcome is None:
            waiting = self._front.event(event)
        else:
            waiting = self._front.event(event, outcome.stop, outcome.plugin)
        if waiting is not None:
            await waiting

    def _leave(self) -> None:
        self._depth -= 1
        if not self._depth:
            self._settled()

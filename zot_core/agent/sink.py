"""The sink: the one door through which the agent tells the world and asks it. Knows no listener.

For every event the order is: the chain if it is a Gate, session recorder, front end, plugin Facts in rank order.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from zot_core.events.base import Fact, Gate
from zot_core.events.base import Outcome as Outcome
from zot_core.types.messages import DraftEntry, Message
from zot_core.types.record import record

G = TypeVar("G", bound=Gate)


@record(kw_only=True)
class Stored:
    """Told to front ends when a message is part of the session: what people see of it is `display`.

    `display` None with `withheld` true: `plugin` withheld it, and `reason` says why. For other messages than an
    assistant's it is their text.
    """

    message: Message
    display: str | None
    withheld: bool = False
    plugin: str = ""
    reason: str = ""


class Sink(Protocol):
    """What the agent is given. A method raises `RunFailed` (kind `session`) when a record cannot be written."""

    def wants(self, hook: str) -> bool:
        """Whether anyone would see the event `hook`; if not, it need not be built."""

    def intercepts(self, hook: str) -> bool:
        """Whether a plugin may rewrite or stop the event `hook`."""

    async def tell(self, event: Fact) -> None:
        """A Fact, to all."""

    async def gate(self, event: G) -> Outcome[G]:
        """A Gate through its chain; front ends are told the outcome."""

    async def store(self, stored: Stored) -> None:
        """Writes the message to the session, then tells front ends. Everything that depends on it comes after."""

    async def store_entry(self, entry: DraftEntry) -> Any:
        """Writes a plugin's entry to the session; a `custom_message` comes back as a CustomMessage, else None."""

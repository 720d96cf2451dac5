"""Messages that wait for a run: steering, follow-ups, and what joins the next prompt. Knows no run and no event."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from zot_core.types.messages import CustomMessage, UserMessage

Queued: TypeAlias = UserMessage | CustomMessage
Lane: TypeAlias = Literal["steer", "follow_up", "next_turn", "opening"]


@dataclass(slots=True)
class Queues:
    """Lanes. `steer` is delivered after the running tool batch, before the next model call; `follow_up`, one
    message at a time, when no tool call remains; `next_turn` joins the next prompt and starts nothing. `opening` is
    what a run that is about to begin begins with; an abort before it has begun leaves it there.

    `on_change` is called after each change, for whoever shows the queue.
    """

    steer: deque[Queued] = field(default_factory=deque)
    follow_up: deque[Queued] = field(default_factory=deque)
    next_turn: deque[Queued] = field(default_factory=deque)
    opening: deque[Queued] = field(default_factory=deque)
    on_change: Callable[[], None] | None = None

    def put(self, lane: Lane, message: Queued) -> None:
        """Adds a message at the end of a lane."""
        self._lane(lane).append(message)
        self._changed()

    def put_back(self, lane: Lane, messages: Sequence[Queued]) -> None:
        """Puts messages that were taken too early before what waits in a lane."""
        if messages:
            self._lane(lane).extendleft(reversed(messages))
            self._changed()

    def take(self, lane: Lane) -> Queued | None:
        """The oldest message of a lane, or None."""
        queue = self._lane(lane)
        if not queue:
            return None
        message = queue.popleft()
        self._changed()
        return message

    def take_all(self, lane: Lane) -> tuple[Queued, ...]:
        """Everything that waits in a lane, oldest first."""
        queue = self._lane(lane)
        taken = tuple(queue)
        if taken:
            queue.clear()
            self._changed()
        return taken

    def give_back(self) -> tuple[Queued, ...]:
        """Empties `steer` and `follow_up` and returns what waited there, so that no typed text is lost on an abort."""
        return (*self.take_all("steer"), *self.take_all("follow_up"))

    def __bool__(self) -> bool:
        """Whether something waits that a run would go on with; `next_turn` is not."""
        return bool(self.steer or self.follow_up)

    def _lane(self, lane: Lane) -> deque[Queued]:
        if lane == "steer":
            return self.steer
        if lane == "opening":
            return self.opening
        return self.follow_up if lane == "follow_up" else self.next_turn

    def _changed(self) -> None:
        if self.on_change is not None:
            self.on_change()

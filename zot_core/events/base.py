"""The kinds of event and the answers that a handler may give. Knows no single event.

A `Fact` is told. A `Gate` may be rewritten in its `rewritable` fields or stopped by one of its `stops`. A `Question` is
answered by the first who gives an instance of its `answer` type.
"""

from __future__ import annotations

import enum
from collections.abc import Set as AbstractSet
from dataclasses import fields, replace
from typing import Any, ClassVar, Generic, TypeVar

from zot_core.types.record import record

E = TypeVar("E", bound="Event")
G = TypeVar("G", bound="Gate")


class OnError(enum.Enum):
    """What a Gate or a Question does when a handler of it breaks."""

    CONTINUE = "continue"
    """The broken handler counts as having said nothing."""
    BLOCK = "block"
    """The broken handler counts as having refused."""


@record
class Block:
    """Refuses what a Gate announces. `reason` goes to whoever asked (the model for a tool call, else the user).

    `terminate` (tool calls only) asks to end the run after this batch.
    """

    reason: str = ""
    terminate: bool = False


@record
class Handled:
    """The plugin dealt with the input itself; no model is asked. Only `input` takes it."""


Stop = Block | Handled


class Event:
    """Base of all events. Its hook's name is in `hook`, set from the class's name."""

    __slots__ = ()
    hook: ClassVar[str] = ""
    modes: ClassVar[str] = "all"
    """Front ends that can see it, for the reference page."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__name__.endswith("Event") and cls.__name__ != "Event":
            cls.hook = _snake(cls.__name__.removesuffix("Event"))

    def replace(self: E, **changes: Any) -> E:
        """A copy with other values in some fields; the way in which a handler rewrites a Gate.

        Raises TypeError for a field that the event does not have.
        """
        return replace(self, **changes)  # type: ignore[type-var]


class Fact(Event):
    """Something happened; handlers are told in rank order. `budget` is (warn, cap) in seconds for one handler; an event
    that is not `awaited` is told in a task of its own."""

    __slots__ = ()
    budget: ClassVar[tuple[float, float] | None] = None
    awaited: ClassVar[bool] = True


class Gate(Event):
    """Something is about to happen. A handler answers nothing, a changed copy, or one of `stops`."""

    __slots__ = ()
    rewritable: ClassVar[AbstractSet[str]] = frozenset()
    stops: ClassVar[AbstractSet[type[Any]]] = frozenset()
    on_error: ClassVar[OnError] = OnError.CONTINUE
    budget: ClassVar[tuple[float, float] | None] = None

    def check(self, changed: Any) -> str | None:
        """Why the copy `changed` may not take this event's place, or None. Events with rules of their own add them."""
        for name in _field_names(type(self)):
            before, now = getattr(self, name), getattr(changed, name)
            if name not in self.rewritable and before is not now and before != now:
                return f"field {name!r} of {self.hook} cannot be changed"
        return None

    def withheld(self, notice: str) -> Any:
        """This event with its value replaced by `notice`, for a strict handler that broke on a Gate without stops.

        An event that carries nothing that could leak returns itself.
        """
        return self


class Question(Event):
    """Who knows? The first handler that answers with an instance of `answer` is believed."""

    __slots__ = ()
    answer: ClassVar[tuple[type[Any], ...]] = ()
    stops: ClassVar[AbstractSet[type[Any]]] = frozenset()
    on_error: ClassVar[OnError] = OnError.CONTINUE


@record
class Outcome(Generic[G]):
    """What became of a Gate: the event as rewritten, and the stop with its plugin's name if one stopped it."""

    event: G
    stop: Block | Handled | None = None
    plugin: str = ""


@record
class Answer:
    """What became of a Question: the first answer, or the Block of who refused it, with that plugin's name."""

    value: Any = None
    stop: Block | None = None
    plugin: str = ""


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).removeprefix("_")


def _field_names(cls: type[Any]) -> tuple[str, ...]:
    return tuple(f.name for f in fields(cls))

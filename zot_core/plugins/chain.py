"""What one dispatch needs of one hook, made once and kept until a registration changes: the implementations in order.

Knows how a handler is called and what of an event must not be shared; not when it is called, nor what answers mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import fields
from typing import Any, cast

from zot_core.hooks.markers import Mark, marks_of
from zot_core.plugins.manager import Listener
from zot_core.plugins.rank import Rank, rank_of

_AFTER_SOURCE_LINES = 1_000_000_000


class Link:
    """One implementation, ready to be called with an event alone: its ctx is bound in."""

    __slots__ = ("call", "function", "mark", "owner", "rank", "strict")

    def __init__(self, owner: str, function: Callable[..., Any], mark: Mark, rank: Rank) -> None:
        self.owner = owner
        self.function = function
        self.mark = mark
        self.rank = rank
        self.strict = mark.on_error == "block"
        self.call: Callable[[Any], Any] = function

    def bound(self, ctx: Any) -> Link:
        """This link with `ctx` for its handler."""
        link = Link(self.owner, self.function, self.mark, self.rank)
        link.call = _bind(self.function, self.mark, ctx)
        return link


class Chain:
    """The implementations of one hook: `observers` are told first, `handlers` are asked in turn. A dispatch keeps the
    Chain that it began with; a changed registration makes a new one."""

    __slots__ = ("handlers", "observers")

    def __init__(self, links: Iterable[Link]) -> None:
        links = tuple(links)
        self.observers = tuple(link for link in links if link.mark.observe)
        self.handlers = tuple(link for link in links if not link.mark.observe)

    def bound(self, ctx_for: Callable[[str], Any]) -> Chain:
        """This chain with other contexts."""
        return Chain(
            link.bound(ctx_for(link.owner) if "ctx" in link.mark.takes else None)
            for link in sorted((*self.observers, *self.handlers), key=lambda link: link.rank)
        )


def links_of(implementations: Iterable[Any], place_of: Callable[[str], tuple[int, int]]) -> list[Link]:
    """Links from pluggy's implementations, sorted by our own rank. `place_of` gives a plugin's (tier, position)."""
    links = []
    for implementation in implementations:
        plugin = implementation.plugin
        if isinstance(plugin, Listener):
            owner, function, mark = plugin.owner, plugin.function, plugin.mark
            line: int | None = _AFTER_SOURCE_LINES + plugin.number
        else:
            owner, function, line = implementation.plugin_name, implementation.function, None
            mark = cast(Mark, marks_of(function))
        tier, position = place_of(owner)
        links.append(Link(owner, function, mark, rank_of(mark, tier, position, owner, line)))
    return sorted(links, key=lambda link: link.rank)


def _bind(function: Callable[..., Any], mark: Mark, ctx: Any) -> Callable[[Any], Any]:
    if mark.by_keyword:
        wants_event, wants_ctx = "event" in mark.takes, "ctx" in mark.takes

        def by_keyword(event: Any) -> Any:
            return function(**({"event": event} if wants_event else {}), **({"ctx": ctx} if wants_ctx else {}))

        return by_keyword
    match mark.takes:
        case ("event",):
            return function
        case ("event", "ctx"):
            return lambda event: function(event, ctx)
        case ("ctx", "event"):
            return lambda event: function(ctx, event)
        case ("ctx",):
            return lambda event: function(ctx)
    return lambda event: function()


class Frame:
    """A dispatch that is going on. Tasks started within it inherit the variable; `live` tells them when it is over."""

    __slots__ = ("hook", "live", "outer", "token")

    def __init__(self, hook: str) -> None:
        self.hook = hook
        self.live = True

    def __enter__(self) -> None:
        self.outer = current_frame.get()
        self.token = current_frame.set(self)

    def __exit__(self, *error: object) -> None:
        self.live = False
        current_frame.reset(self.token)


current_frame: ContextVar[Frame | None] = ContextVar("zot_dispatch", default=None)


def dispatching() -> tuple[str, ...]:
    """The hooks whose handlers are being waited for around this point, innermost first; empty outside a dispatch."""
    hooks = []
    frame = current_frame.get()
    while frame is not None:
        if frame.live:
            hooks.append(frame.hook)
        frame = frame.outer
    return tuple(hooks)


_fields: dict[type[Any], tuple[tuple[str, ...], tuple[str, ...]]] = {}
"""Event class -> all its fields, and those that may hold dictionaries or lists."""


def shielded(event: Any) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """The event as handlers may see it, with copies of its dictionaries and lists; what was copied; the copies.

    The two tuples differ as soon as a handler has changed a copy in place.
    """
    cls = type(event)
    names, shared = _fields.get(cls) or _fields_of(cls)
    values = {name: value for name in shared if isinstance(value := getattr(event, name), dict | list)}
    if not values:
        return event, (), ()
    copies = {name: _copied(value) for name, value in values.items()}
    # Half the cost of event.replace, which looks the fields up each time.
    shown = cls(**{name: copies[name] if name in copies else getattr(event, name) for name in names})
    return shown, tuple(values.values()), tuple(copies.values())


def touched(event: Any, shown: Any) -> str:
    """The field of `shown` that a handler changed in place."""
    return next(name for name in _fields_of(type(event))[1] if getattr(event, name) != getattr(shown, name))


def _fields_of(cls: type[Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    declared = fields(cls)
    shared = tuple(f.name for f in declared if "Mapping" in str(f.type) or str(f.type) == "Any")
    _fields[cls] = (tuple(f.name for f in declared), shared)
    return _fields[cls]


def _copied(value: Any) -> Any:
    try:
        return _copy(value)
    except RecursionError:
        return value  # data that contains itself: shared, as other objects are


def _copy(value: Any) -> Any:
    # JSON-like data only: other objects are shared. Much cheaper than copy.deepcopy.
    if isinstance(value, dict):
        return {key: _copy(item) if isinstance(item, dict | list) else item for key, item in value.items()}
    return [_copy(item) if isinstance(item, dict | list) else item for item in value]

"""The pages of hooks: an overview of all of them, and every event in full."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from typing import Any

from generators.call_sites import call_sites
from generators.classes import fields_table
from generators.markdown import code, codes, doc, table
from zot_core.events import LANE_OF, LANES, class_name, event_class
from zot_core.events.base import Event, Fact, Gate, OnError, Question
from zot_core.hooks.contributions import CONTRIBUTIONS

HOOKS_INTRO = """
# Hooks

A hook is one of four kinds. A *contribution* answers data, and is collected when a session's plugins are loaded. A
*Fact* tells. A *Gate* may be answered with a changed copy of the event, or with one of its stops. A *Question* is
answered by the first plugin that knows. How to write one is in [the how-to pages](../index.md); every event's fields
are in [events](events.md), `ctx` and the items of contributions in [API](api.md).

A handler of an event names what it wants of `event` and `ctx`; it may be sync or async. `@hookimpl(observe=True)` is
told the event as it was sent, before the chain, and cannot change it.

*Modes* says where an event is sent: `all` are print, JSON, RPC and the interactive mode; `commands` means that in
the others a command of a plugin can bring it about; `HTTP` means providers that are reached by HTTP. *Sent* says
whether something sends it today.
"""

EVENTS_INTRO = """
# Events

Every event of zot, lane by lane. A hook's name is its event's name; the class is in `zot_core.events`. Fields marked
*yes* may be changed by `event.replace(field=...)`. *Sent by* names the modules that send it; events that nothing
sends yet are declared so that names and fields stand still, and say so.
"""


MODES = {"R": "RPC", "I": "interactive", "–": "none yet"}
"""Short words of the event classes, as the pages write them; others stand as they are."""


def modes_of(event: Any) -> str:
    """Where an event is sent, in words."""
    return ", ".join(MODES.get(word, word) for part in event.modes.split(", ") for word in _words(part))


def _words(part: str) -> list[str]:
    return part.split() if set(part.split()) <= MODES.keys() else [part]


def kind_of(event: Any) -> str:
    """Fact, Gate or Question."""
    return next(base.__name__ for base in (Fact, Gate, Question) if issubclass(event, base))


def hooks_page() -> str:
    """The overview."""
    head = ("hook", "kind", "may change or answer", "stops", "a broken handler", "modes", "sent")
    parts = [HOOKS_INTRO, "## Events", table(head, map(_overview_row, LANE_OF)), "## Contributions", _contributions()]
    return "\n\n".join(part.strip() for part in parts)


def _overview_row(hook: str) -> tuple[str, ...]:
    event = event_class(hook)
    return (
        f"[`{hook}`](events.md#{hook})",
        kind_of(event),
        codes(sorted(getattr(event, "rewritable", ()))) or codes(a.__name__ for a in getattr(event, "answer", ())),
        codes(_stops(event)),
        _on_error(event),
        modes_of(event),
        "yes" if call_sites()[hook] else "not yet",
    )


def _contributions() -> str:
    intro = (
        "Functions without parameters, or with one named `session` (its cwd, mode, flags, and own settings). They "
        "return one item, several, or None. *Later* is the way to do the same while a session goes on."
    )
    rows = (
        (code(row.name), _items(row.items), row.doc, row.equal_names, code(row.later)) for row in CONTRIBUTIONS.values()
    )
    return f"{intro}\n\n{table(('hook', 'items', 'what', 'equal names', 'later'), rows)}"


def _items(refs: tuple[str, ...]) -> str:
    return codes(ref.rpartition(":")[2] for ref in refs) or "any"


def _stops(event: Any) -> list[str]:
    return sorted(stop.__name__ for stop in getattr(event, "stops", ()))


def _on_error(event: Any) -> str:
    if issubclass(event, Fact):
        return "is reported"
    return "blocks" if event.on_error is OnError.BLOCK else "is skipped"


def events_page() -> str:
    """All events, in the order of their lanes, and what they are made of."""
    parts = [EVENTS_INTRO.strip()]
    for lane, hooks in LANES.items():
        parts.append(f"## Lane `{lane}`")
        parts.append(doc(sys.modules[event_class(hooks[0]).__module__]))
        parts += [_event(hook) for hook in hooks]
        parts += [_data(thing) for thing in _data_of(lane)]
    return "\n\n".join(parts)


def _event(hook: str) -> str:
    event = event_class(hook)
    facts = [f"**{kind_of(event)}** · class `{class_name(hook)}`", f"modes: {modes_of(event)}"]
    if stops := _stops(event):
        facts.append(f"stops: {codes(stops)}")
    if answers := getattr(event, "answer", ()):
        facts.append(f"answer: {codes(one.__name__ for one in answers)}")
    if not issubclass(event, Fact):
        facts.append(f"a broken handler {_on_error(event)}")
    if budget := getattr(event, "budget", None):
        facts.append(f"budget: a warning after {budget[0]:g} s, cancelled after {budget[1]:g} s")
    if not getattr(event, "awaited", True):
        facts.append("not awaited")
    sent = codes(call_sites()[hook]) or "nothing yet"
    head = f"### {hook}\n\n{' · '.join(facts)} · sent by: {sent}"
    return "\n\n".join([head, doc(event), fields_table(event, _rewritable(event))])


def _rewritable(event: Any) -> frozenset[str]:
    return frozenset(getattr(event, "rewritable", ()))


def _data_of(lane: str) -> Iterator[Any]:
    module = sys.modules[f"zot_core.events.{lane}"]
    for name in module.__all__:
        thing = getattr(module, name)
        if isinstance(thing, type) and not issubclass(thing, Event):
            yield thing


def _data(thing: Any) -> str:
    fields = f"\n\n{fields_table(thing)}" if dataclasses.is_dataclass(thing) else ""
    return f"### {thing.__name__}\n\n{doc(thing)}{fields}"

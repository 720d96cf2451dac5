"""Hookspecs for pluggy, one for each event (`event`, `ctx`) and each contribution (`session`), made from their tables.

Knows no event class: what a hook means is told by the class, and the reference page is made from there.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any

from zot_core.events import LANE_OF
from zot_core.hooks.contributions import CONTRIBUTIONS

PROJECT = "zot"
HOOKS: frozenset[str] = frozenset((*LANE_OF, *CONTRIBUTIONS))
"""Every hook there is."""


def _event_spec(event: Any, ctx: Any) -> Any: ...


def _contribution_spec(session: Any) -> Any: ...


@cache
def spec_namespace() -> type:
    """A class with one function for each hook, as pluggy's `add_hookspecs` wants it; made once for the process."""
    functions = {hook: _named(_event_spec, hook) for hook in LANE_OF}
    functions.update({hook: _named(_contribution_spec, hook) for hook in CONTRIBUTIONS})
    return type("ZotSpecs", (), {hook: staticmethod(function) for hook, function in functions.items()})


def _named(template: Any, hook: str) -> Any:
    return FunctionType(template.__code__, {}, hook)

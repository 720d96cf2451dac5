"""The chains of one session: a virtual model before each model that has one, and the order in which they are tried."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from zot_core.types.failure import Failure
from zot_core.types.routing import Route, RouteRequest, Tried, VirtualModel
from zot_core.types.specs import THINKING_LEVELS
from zot_plugins.model_fallback.cooldowns import COOLDOWNS, Cooldowns, may_fall_back

if TYPE_CHECKING:
    from zot_core.events.model import ModelSelectEvent

OFF_VARIABLE = "ZOT_NO_FALLBACK"
_SESSIONS: dict[str, Chains] = {}


def chains_of(ctx: Any) -> Chains:
    """The chains of the session of `ctx`."""
    found = _SESSIONS.get(ctx.session.id)
    if found is None:
        found = _SESSIONS[ctx.session.id] = Chains(ctx)
        session = ctx.session.id
        ctx.on("session_shutdown", lambda: _SESSIONS.pop(session, None) and None)
        ctx.on("model_select", found.chosen)
    return found


def route(request: RouteRequest, ctx: Any) -> Route | Failure:
    """The route of every model that has a chain."""
    return chains_of(ctx).route(request)


def bare(selector: str) -> str:
    """`provider/id` of a selector that may name a level."""
    head, colon, tail = selector.rpartition(":")
    return head if colon and tail in THINKING_LEVELS else selector


class Chains:
    """Routes the requests of models that have a chain.

    A model is tried when it is not cooling down, the target first; under the policy `never` the one that answered last
    comes first until it fails or the person chooses a model.
    """

    def __init__(self, ctx: Any, cooldowns: Cooldowns = COOLDOWNS) -> None:
        self._ctx = ctx
        self._cooldowns = cooldowns
        self._rewound: set[str] = set()
        self._told: dict[str, str] = {}
        self._skipped: set[tuple[str, str]] = set()
        section: Mapping[str, Any] = ctx.settings
        self.enabled = section.get("enabled") is not False
        self.revert = "never" if section.get("revert") == "never" else "cooldown-expiry"
        chains = section.get("chains")
        self.chains: dict[str, tuple[str, ...]] = {
            str(target): tuple(str(name) for name in names)
            for target, names in (chains.items() if isinstance(chains, Mapping) else ())
            if isinstance(names, (list, tuple)) and names
        }
        self._guarded = set(chains) if isinstance(chains, Mapping) else set()  # the plugin contributed these

    @property
    def off_because(self) -> str:
        """Why no chain is followed; empty when they are."""
        if self._ctx.flag("no-model-fallback"):
            return "--no-model-fallback"
        if os.environ.get(OFF_VARIABLE, "").strip() not in ("", "0"):
            return OFF_VARIABLE
        return "" if self.enabled else "plugins.model_fallback.enabled in settings.json"

    def set(self, target: str, chain: Sequence[str]) -> None:
        """Gives a model a chain, from the next request on."""
        self.chains[target] = tuple(chain)
        if target not in self._guarded:
            self._guarded.add(target)
            self._ctx.models.add(VirtualModel(model=target, route=route))

    def chosen(self, event: ModelSelectEvent) -> None:
        """A model was chosen: its own chain starts at its beginning."""
        self._rewound.add(f"{event.model.provider}/{event.model.id}")

    def state(self, selector: str) -> str:
        """What stands in the way of a model, in words; empty when nothing does."""
        left = self._cooldowns.left(bare(selector))
        return f"{self._cooldowns.why(bare(selector))}, left alone for {left:.0f} s more" if left else ""

    def route(self, request: RouteRequest) -> Route | Failure:
        """The model of the chain that is to answer; a failure when no other may."""
        target = f"{request.model.provider}/{request.model.id}"
        if self.off_because or target not in self.chains:
            return request.tried[-1].failure if request.tried else Route()
        order = self._order(target, request)
        if request.tried:
            last = request.tried[-1]
            self._cooldowns.note(last.model, last.failure)
            if not may_fall_back(last.failure):
                return last.failure
        name = self._first_open(target, order, request)
        if not name:
            if request.tried:
                return self._exhausted(target, order, request)
            name = target  # all are cooling down: asking is better than refusing
        self._tell(target, name, request.tried)
        state = {"at": name} if self.revert == "never" and request.purpose == "agent" else None
        return Route(model="" if name == target else name, state=state)

    def _first_open(self, target: str, order: Sequence[str], request: RouteRequest) -> str:
        """The first that may be asked, or ""; one that does not exist (any more) is passed over, and said so once."""
        tried = {one.model for one in request.tried}
        for name in order:
            if bare(name) in tried or self._cooldowns.left(bare(name)):
                continue
            if name == target or request.known(name):
                return name
            if (target, name) not in self._skipped:
                self._skipped.add((target, name))
                self._ctx.ui.notify(f"{name} in the chain of {target} is no known model: it is skipped", "warning")
        return ""

    def _order(self, target: str, request: RouteRequest) -> Sequence[str]:
        order = [target, *self.chains.get(target, ())]
        at = (request.state or {}).get("at")
        if target in self._rewound:
            if request.purpose == "agent":
                self._rewound.discard(target)
        elif self.revert == "never" and at in order:
            start = order.index(at)
            order = order[start:] + order[:start]
        return order

    def _tell(self, target: str, name: str, tried: Sequence[Tried]) -> None:
        if self._told.get(target, target) == name and not tried:
            return
        self._told[target] = name
        if name == target:
            self._ctx.ui.notify(f"{target} answers again")
            return
        why = tried[-1].failure.kind if tried else self._cooldowns.why(target)
        kind = why.replace("_", " ")
        failed = tried[-1].model if tried else target
        self._ctx.ui.notify(f"{failed} cannot answer ({kind}); {name} does instead", "warning")
        self._ctx.bus.emit("model_fallback", {"target": target, "failed": failed, "model": name, "kind": why})

    def _exhausted(self, target: str, order: Sequence[str], request: RouteRequest) -> Failure:
        tried = request.tried
        said = [f"{one.model} ({one.failure.kind.replace('_', ' ')})" for one in tried]
        names = {one.model for one in tried}
        for name in order:
            if bare(name) not in names:
                state = self.state(name) or ("" if request.known(name) else "unknown model")
                said += [f"{name} ({state})"] if state else []
        last = tried[-1].failure
        told = {"target": target, "failed": tried[-1].model, "model": "", "kind": last.kind}
        self._ctx.bus.emit("model_fallback", told)
        return replace(last, message=f"{last.message}. The fallback chain of {target} is at its end: {', '.join(said)}")

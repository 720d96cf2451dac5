"""Requests to virtual models: each is routed to a real one, and again when that one fails.

Must not know what a route is good for: a router, a fallback chain, anything that a plugin thinks of.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from zot_core.models.levels import clamp_level
from zot_core.types.failure import Failure, RunFailed, UsageError
from zot_core.types.messages import ToolResultMessage
from zot_core.types.routing import Route, RouteReason, RouteRequest, Tried, VirtualModel
from zot_core.types.specs import Json, ModelSpec, ProviderSpec, ThinkingLevel, resolve
from zot_core.types.stream import Failed, Retrying, Routed, StreamPart

if TYPE_CHECKING:
    from zot_core.models.protocol import Request
    from zot_core.models.registry import ModelRegistry
    from zot_core.models.runner import Runner
    from zot_core.runtime.runtime import Runtime

MOST_TRIES = 16
"""Models that one request is sent to at most, whatever a route says."""
ENTRY = "route"
"""The custom type of the session entries that keep a route's state."""

Passed = frozenset[tuple[str, str]]


class _Target(NamedTuple):
    model: ModelSpec
    provider: ProviderSpec | None
    level: ThinkingLevel


class Router:
    """Sends requests: those to virtual models where their routes say, all others straight to the runner."""

    def __init__(
        self, runtime: Runtime, models: ModelRegistry, runner: Runner, usable: Callable[[ProviderSpec], bool]
    ) -> None:
        self._runtime = runtime
        self._models = models
        self._runner = runner
        self._usable = usable
        self._states: dict[str, Json | None] = {}
        self._first: dict[tuple[str, str], str] = {}
        self.routed: ModelSpec | None = None
        """The real model of the last routed request of the agent."""

    def stream(
        self, request: Request, provider: ProviderSpec | None = None, passed: Passed = frozenset()
    ) -> AsyncIterator[StreamPart]:
        """The answer to `request`; `passed` are the virtual models that it came through already."""
        key = (request.model.provider, request.model.id)
        found = None if key in passed else self._models.virtual(*key)
        if found is None:
            return self._runner.stream(request, provider)
        return self._routed(found[0], found[1], request, provider, passed | {key})

    def first_of(self, model: ModelSpec) -> str:
        """The first provider wanting a key that the virtual `model` was routed to in this session; "" before that."""
        return self._first.get((model.provider, model.id), "")

    def _note_first(self, passed: Passed, target: _Target) -> None:
        name = target.model.provider
        spec = target.provider or self._models.provider(name)
        inner = self._models.virtual(name, target.model.id)
        if spec is None or spec.keyless or (inner is not None and isinstance(inner[1].model, ModelSpec)):
            return
        for key in passed:
            self._first.setdefault(key, name)

    async def _routed(
        self, owner: str, virtual: VirtualModel, request: Request, provider: ProviderSpec | None, passed: Passed
    ) -> AsyncGenerator[StreamPart, None]:
        tried: list[Tried] = []
        told = 0
        while True:
            route = await self._ask(owner, virtual, request, tuple(tried))
            if isinstance(route, Failure):
                yield Failed(route)
                return
            name = route.model or "/".join(virtual.key)
            try:
                target = self._target(virtual, route, request, provider, passed)
            except UsageError as error:
                tried.append(Tried(model=name, failure=Failure(kind="bad_request", message=str(error))))
                continue
            if len(tried) > told:
                told = len(tried)
                yield Retrying(told, 0.0, tried[-1].failure)
            if request.purpose == "agent":
                self.routed = target.model
            self._note_first(passed, target)
            yield Routed(target.model, target.level)
            failure: Failure | None = None
            onward = replace(request, model=target.model, thinking=target.level)
            parts: Any = self.stream(onward, target.provider, passed)
            async with aclosing(parts):
                async for part in parts:
                    if isinstance(part, Failed):
                        failure = part.failure
                        break
                    yield part
            if failure is None:
                return
            tried.append(Tried(model=f"{target.model.provider}/{target.model.id}", failure=failure))

    async def _ask(
        self, owner: str, virtual: VirtualModel, request: Request, tried: tuple[Tried, ...]
    ) -> Route | Failure:
        """What the plugin's route says; a failure ends the request."""
        name = "/".join(virtual.key)
        last = tried[-1].failure if tried else Failure(kind="bad_request", message=f"{name} has no route for this")
        if len(tried) >= MOST_TRIES:
            return last
        keeps = request.purpose == "agent"
        asked = RouteRequest(
            model=request.model,
            reason=_reason(request, tried),
            messages=request.messages,
            system=request.system,
            tools=request.tools,
            thinking=request.thinking,
            purpose=request.purpose,
            state=self._state(name),
            tried=tried,
            known=self._known,
        )
        try:
            answer = resolve(virtual.route)(asked, self._runtime.context(owner))
            answer = await answer if inspect.isawaitable(answer) else answer
            if not isinstance(answer, (Route, Failure, type(None))):
                raise TypeError(f"route of {name} answered {type(answer).__name__}; it answers a Route")
        except RunFailed as error:
            return error.failure
        except Exception as error:  # a plugin's code
            self._runtime.host.pipeline.broken(owner, "virtual_models", error)
            return Failure(kind="internal", message=f"the route of {name} failed: {type(error).__name__}")
        if isinstance(answer, Route) and answer.state is not None and keeps:
            self._keep(name, answer.state)
        return last if answer is None else answer

    def _target(
        self, virtual: VirtualModel, route: Route, request: Request, provider: ProviderSpec | None, passed: Passed
    ) -> _Target:
        """The model that a route means. Raises UsageError for an unknown one and for a circle."""
        name = "/".join(virtual.key)
        if route.model in ("", name) and isinstance(virtual.model, str):
            return _Target(request.model, provider, clamp_level(request.model, route.level or request.thinking))
        if not route.model:
            raise UsageError(f"the route of {name} names no model")
        found = self._models.resolve("", route.model, "", "", self._usable)
        key = (found.model.provider, found.model.id)
        inner = self._models.virtual(*key)
        if key in passed and inner is not None and isinstance(inner[1].model, ModelSpec):
            raise UsageError(f"the route of {name} leads in a circle: {route.model}")
        level = route.level or found.level or request.thinking
        return _Target(found.model, found.provider, clamp_level(found.model, level))

    def _known(self, name: str) -> bool:
        try:
            self._models.resolve("", name, "", "", self._usable)
        except UsageError:
            return False
        return True

    def _state(self, name: str) -> Json | None:
        if name not in self._states:
            self._states[name] = None
            for entry in self._runtime.session.branch():
                if entry.kind != "custom" or entry.data.get("custom_type") != ENTRY:
                    continue
                data = entry.data.get("data")
                if isinstance(data, dict) and data.get("model") == name and isinstance(data.get("state"), dict):
                    self._states[name] = data["state"]
        return self._states[name]

    def _keep(self, name: str, state: Json) -> None:
        if dict(state) != self._states.get(name):
            self._states[name] = dict(state)
            self._runtime.session.append_custom(ENTRY, {"model": name, "state": dict(state)})


def _reason(request: Request, tried: tuple[Tried, ...]) -> RouteReason:
    if tried:
        return "retry"
    if request.purpose != "agent":
        return "direct"
    last = request.messages[-1] if request.messages else None
    return "continuation" if isinstance(last, ToolResultMessage) else "user"

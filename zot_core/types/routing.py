"""Virtual models: names that stand for other models, and the choice that is made for each request.

A plugin contributes them as `virtual_models`, or adds them in a session with `ctx.models.add`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

from zot_core.types.failure import Failure
from zot_core.types.messages import Message
from zot_core.types.record import record
from zot_core.types.specs import Json, ModelSpec, Ref, ThinkingLevel

RouteReason: TypeAlias = Literal["user", "continuation", "retry", "direct"]


@record(kw_only=True)
class VirtualModel:
    """A model that answers no request itself: `route(request, ctx)` says who does, and is asked again when that fails.

    With a ModelSpec as `model` it is a model of its own, which is listed and chosen like any other; its figures are
    shown until a request was routed. With a text, `provider/id`, it stands before the model of that name, whose figures
    stay. `route` may be async and answers a Route; None or a Failure end the request. Of equal names the last counts.
    """

    model: ModelSpec | str
    route: Callable[..., Any] | Ref

    @property
    def key(self) -> tuple[str, str]:
        """Provider and id."""
        if isinstance(self.model, ModelSpec):
            return self.model.provider, self.model.id
        provider, _, name = self.model.partition("/")
        return provider, name


@record(kw_only=True)
class Tried:
    """A model that this very request was sent to, and how that failed, its own retries included."""

    model: str
    failure: Failure


@record(kw_only=True)
class RouteRequest:
    """What is asked of a virtual model. `reason` is `user` (the last message is a person's), `continuation` (results of
    tools), `retry` (all in `tried` failed) or `direct` (a plugin's own model call). `state` is what the last route of
    this model in this session said. `known(name)` says whether a `Route` could name that model."""

    model: ModelSpec
    reason: RouteReason
    messages: Sequence[Message]
    system: str | None = None
    tools: Sequence[Any] = ()
    thinking: ThinkingLevel = "off"
    purpose: str = "agent"
    state: Json | None = None
    tried: tuple[Tried, ...] = ()
    known: Callable[[str], bool] = bool  # without a registry every name is taken at its word


@record(kw_only=True)
class Route:
    """Where a request goes: `model` as in `--model` (a level may follow), "" for the model before which the virtual one
    stands. `level` None is the level that was asked for, clamped to the model. A `state` that is not None is kept in
    the session and comes with the next request, after a resume too."""

    model: str = ""
    level: ThinkingLevel | None = None
    state: Json | None = None

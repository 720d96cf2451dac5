"""The scope of one session: which models its person goes through, and the step from one to the next.

Resolved at the session's start. Must not know a key or a screen.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from zot_core.models.scope import ScopedModel, scope_of, unmatched_words
from zot_core.types.specs import ModelSpec

if TYPE_CHECKING:
    from zot_core.runtime.runtime import Runtime


class Scoping:
    """`patterns` are those of the line, else those of the settings; none means every model that can be used."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._found: list[ScopedModel] | None = None
        self._turn = asyncio.Lock()

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns in force."""
        return self._runtime.app.options.models or self._runtime.settings.values.enabled_models

    @property
    def origin(self) -> str:
        """Who says so, in words; "" without patterns."""
        if self._runtime.app.options.models:
            return "--models"
        return "the setting enabled_models" if self.patterns else ""

    async def begin(self) -> None:
        """Resolves the patterns, once everybody has brought their models; says which mean nothing."""
        await self._ask_servers()
        models = self._runtime.models.models()
        self._found, unmatched = scope_of(self.patterns, models, self._is_aside)
        for pattern in self.patterns:
            if pattern in unmatched:
                self._runtime.note(f"{self.origin}: {unmatched_words(pattern, models)}", "warning")
                continue
            fitting, _ = scope_of([pattern], models, self._is_aside)
            if not any(self._is_usable(one.model) for one in fitting):
                providers = ", ".join(sorted({one.model.provider for one in fitting}))
                words = f"there is no key for what fits {pattern!r} ({providers}), so it is left out"
                self._runtime.note(f"{self.origin}: {words}", "warning")

    @property
    def models(self) -> tuple[ScopedModel, ...]:
        """The scope: what can be used of it. Empty means every model that can be used."""
        if not self.patterns:
            return ()
        if self._found is None:  # before the start is over
            self._found, _ = scope_of(self.patterns, self._runtime.models.models(), self._is_aside)
        return tuple(one for one in self._found if self._is_usable(one.model))

    def candidates(self) -> tuple[ScopedModel, ...]:
        """What a person steps through: the scope, else all that can be used, and of those that must be named none but
        the one in use."""
        scoped = self.models
        if scoped:
            return scoped
        current = self._runtime.choice.model
        usable = [model for model in self._runtime.models.models() if self._is_usable(model)]
        real = [model for model in usable if not self._is_aside(model) or _same(model, current)]
        return tuple(ScopedModel(model=model) for model in real)

    async def cycle(self, step: int) -> ScopedModel | None:
        """Chooses the model that is `step` after the one in use, from the next model call on; None when there is no
        other. One step after another, however fast they come."""
        async with self._turn:
            rows, choice = self.candidates(), self._runtime.choice
            at = next((place for place, one in enumerate(rows) if _same(one.model, choice.model)), None)
            if not rows or (at is not None and len(rows) == 1):
                return None
            place = (at + step) % len(rows) if at is not None else (0 if step > 0 else -1)
            taken = rows[place]
            return taken if await choice.set_model(taken.name, "cycle", taken.level) else None

    async def _ask_servers(self) -> None:
        """Servers that are named and have no catalog are asked for their models, as for `--model`."""
        heads = {pattern.partition("/")[0] for pattern in self.patterns if "/" in pattern}
        for head in sorted(heads):
            spec = self._runtime.models.provider(head)
            if spec is not None and spec.base_url and not self._runtime.models.models(head):
                from zot_core.runtime.live import look_up  # only when the catalog does not know

                await look_up(self._runtime, head, "")

    def _is_usable(self, model: ModelSpec) -> bool:
        spec = self._runtime.models.provider(model.provider)
        return spec is not None and self._runtime.app.looks_usable(spec)

    def _is_aside(self, model: ModelSpec) -> bool:
        spec = self._runtime.models.provider(model.provider)
        return spec is not None and spec.named_only


def _same(one: ModelSpec, other: ModelSpec | None) -> bool:
    return other is not None and (one.provider, one.id) == (other.provider, other.id)

"""The choice of model and thinking level of one session, and the way to a model's answer.

Must not know a provider: the registry knows them, the runner asks them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Literal

from zot_core.config.levels import keep_level, kept_level
from zot_core.config.problems import SaveRefused
from zot_core.models.levels import clamp_level
from zot_core.models.registry import ModelRegistry, Resolution, UnknownModel
from zot_core.models.runner import Runner
from zot_core.runtime.remembered import levels_on
from zot_core.runtime.routing import Router
from zot_core.types.failure import Failure, RunFailed, UsageError
from zot_core.types.specs import THINKING_LEVELS, ModelSpec, ProviderSpec, ThinkingLevel

if TYPE_CHECKING:
    from zot_core.config.values import Settings
    from zot_core.models.protocol import Request
    from zot_core.runtime.runtime import Runtime
    from zot_core.types.stream import StreamPart

Source = Literal["set", "cycle", "restore"]


class Choice:
    """Holds the model in use. A change is stored in the session, told to plugins, and holds from the next model
    call."""

    def __init__(
        self,
        runtime: Runtime,
        models: ModelRegistry,
        runner: Runner,
        usable: Callable[[ProviderSpec], bool],
    ) -> None:
        self._runtime = runtime
        self._models = models
        self.router = Router(runtime, models, runner, usable)
        self._usable = usable
        self._asked = self._words = ("", "", "", "")
        self._chosen: Resolution | None = None
        self._missing = ""
        self.thinking: ThinkingLevel = "off"
        self._wanted: ThinkingLevel = "off"
        self._levels: dict[tuple[str, str], ThinkingLevel] = {}

    @property
    def model(self) -> ModelSpec | None:
        """The model in use; None while none is known."""
        return None if self._chosen is None else self._chosen.model

    @property
    def provider(self) -> ProviderSpec | None:
        """The provider of the model in use."""
        return None if self._chosen is None else self._chosen.provider

    def takes_key(self, provider_id: str) -> bool:
        """Whether `--api-key` is meant for this provider: that of the model in use, or, where that is a virtual model
        of its own, the first one that it was routed to. A key is one vendor's; no other may see it."""
        if self._chosen is None:
            return False
        model = self._chosen.model
        virtual = self._models.virtual(model.provider, model.id)
        if virtual is None or not isinstance(virtual[1].model, ModelSpec):
            return self._chosen.provider.id == provider_id
        return (self.router.first_of(model) or model.provider) == provider_id

    def require(self) -> ModelSpec:
        """The model in use. Raises RunFailed, which says how to name one, when there is none."""
        if self._chosen is None:
            raise RunFailed(Failure(kind="auth", message=self._missing or "no model is chosen"))
        return self._chosen.model

    async def prepare(self) -> None:
        """Before `start`: asks providers for the model that the command line, the session or the settings name, if the
        catalog has no such name."""
        options, settings = self._runtime.app.options, self._runtime.settings.values
        last = self._runtime.session.last_model()
        if options.base_url:
            return
        if options.provider or options.model:
            await self._look_up(options.provider, options.model)
            return
        if last is not None:
            await self._look_up(last.provider, last.model)
        elif self._named_in(settings):
            await self._look_up(settings.provider, settings.model)

    async def _look_up(self, provider: str, model: str) -> None:
        if not self._knows(provider, model):
            from zot_core.runtime.live import look_up  # only when the catalog does not know

            await look_up(self._runtime, provider, model)

    def _knows(self, provider: str, model: str) -> bool:
        """Whether the catalog alone tells what is meant, or that nothing can be."""
        try:
            found = self._models.resolve(provider, model, usable=self._usable)
        except UnknownModel:
            return False
        except UsageError:
            return True
        return bool(self._models.models(found.provider.id))

    def start(self, level: ThinkingLevel | None) -> None:
        """The choice at start: the command line's, else the session's last, else the settings', else the first with
        a key.

        Raises UsageError for a name on the command line that no model has; a stored name that is gone is noted and
        passed by.
        """
        options, settings = self._runtime.app.options, self._runtime.settings.values
        if options.provider or options.model or options.base_url:
            self._take(self._resolve(options.provider, options.model, options.base_url, options.api))
        else:
            self._take_named_or_first(self._stored_names(), options.api)
        stored = self._runtime.session.last_thinking()
        named = self._chosen.level if self._chosen else None
        remembered: ThinkingLevel | None = stored if stored in THINKING_LEVELS else None
        self._wanted = level or named or remembered or self._kept() or settings.reasoning or "off"
        self.thinking = self._clamped(self._wanted)
        self._remember()

    def _stored_names(self) -> list[tuple[str, str, str]]:
        """What session and settings name, as (provider, model, what it is), in the order in which it is tried; of each
        the model first, and its provider's default model when that is gone."""
        settings, last = self._runtime.settings.values, self._runtime.session.last_model()
        names = [(last.provider, last.model, "the session's model")] if last is not None else []
        if self._named_in(settings):
            names.append((settings.provider, settings.model, "the settings' model"))
        elif last is not None:
            names.append((last.provider, "", "the session's provider"))
        if settings.provider and settings.model:
            names.append((settings.provider, "", "the settings' provider"))
        return names

    def _take_named_or_first(self, names: list[tuple[str, str, str]], api: str) -> None:
        """Never another provider than one that was named: it may cost money that nobody meant to spend."""
        if any(self._try(*name) for name in names):
            return
        if names:
            tried = " and ".join(f"{what} {'/'.join(filter(None, name))!r}" for *name, what in names)
            self._missing = f"{tried} cannot be used; name another with --provider and --model"
            return
        try:
            self._take(self._resolve("", "", "", api))
        except UsageError as error:
            self._missing = str(error)

    async def set_model(self, name: str, source: Source = "set", pinned: ThinkingLevel | None = None) -> bool:
        """Chooses a model by name; False when there is none of that name or no credential for it. A `pinned` level is
        in force with it and remembered for nothing."""
        await self._look_up("", name)
        try:
            found = self._resolve("", name, "", "")
        except UsageError as error:
            self._runtime.note(str(error), "error")
            return False
        if not self._usable(found.provider):
            self._runtime.note(self._runtime.app.auth_missing(found.provider), "error")
            return False
        before = self.model
        self._take(found)
        self._runtime.session.append_model(found.model.provider, found.model.id)
        self._runtime.state.prompt.raise_epoch("model")
        wanted = self._wanted
        if pinned:
            await self._set_level(pinned)
        elif found.level:
            await self.set_thinking(found.level)
        else:
            await self._set_level(self._level_before(found.model) or self._kept() or wanted)
        self._wanted = found.level or wanted
        if self._runtime.sink.wants("model_select"):
            from zot_core.events.model import ModelSelectEvent

            await self._runtime.sink.tell(ModelSelectEvent(model=found.model, previous_model=before, source=source))
        return True

    async def set_thinking(self, level: ThinkingLevel) -> ThinkingLevel:
        """Chooses the level, clamped to what the model takes; answers the one in force. It is remembered for the model
        beyond the session, if that is kept itself."""
        await self._set_level(level)
        model = self.model
        if model is not None and model.reasoning and self._runtime.session.path is not None:
            settings = self._runtime.settings.values.reasoning
            name = f"{model.provider}/{model.id}"
            try:
                await asyncio.to_thread(keep_level, self._runtime.app.paths, name, self.thinking, settings)
            except SaveRefused as error:  # it holds for this session all the same
                self._runtime.note(str(error), "warning")
        return self.thinking

    async def _set_level(self, level: ThinkingLevel) -> None:
        before, self.thinking = self.thinking, self._clamped(level)
        self._wanted = level
        self._remember()
        if self.thinking != before:
            self._runtime.session.append_thinking(self.thinking)
            if self._runtime.sink.wants("thinking_level_select"):
                from zot_core.events.model import ThinkingLevelSelectEvent

                await self._runtime.sink.tell(ThinkingLevelSelectEvent(level=self.thinking, previous_level=before))

    def stream(self, request: Request) -> AsyncIterator[StreamPart]:
        """The model's answer to `request`, part by part; the last one is Done or Failed."""
        provider = self.provider if self._chosen and request.model is self._chosen.model else None
        return self.router.stream(request, provider)

    def refresh(self) -> None:
        """Looks the model in use up again, because providers came or went; one that is gone stays as it was."""
        if self._chosen is not None:
            _, _, base_url, api = self._words
            try:
                found = self._resolve(self._chosen.model.provider, self._chosen.model.id, base_url, api)
            except UsageError:
                return
            self._take(found)

    def _resolve(self, provider: str, model: str, base_url: str, api: str) -> Resolution:
        self._asked = (provider, model, base_url, api)
        return self._models.resolve(provider, model, base_url, api, self._usable)

    @staticmethod
    def _named_in(settings: Settings) -> bool:
        return bool(settings.provider or settings.model)

    def _take(self, found: Resolution) -> None:
        self._chosen, self._words = found, self._asked

    def _try(self, provider: str, model: str, what: str) -> bool:
        try:
            self._take(self._resolve(provider, model, "", ""))
        except UsageError as error:
            self._runtime.note(f"{what} cannot be used: {error}", "warning")
            return False
        return True

    def _remember(self) -> None:
        if self._chosen is not None:
            self._levels[self._chosen.model.provider, self._chosen.model.id] = self.thinking

    def _level_before(self, model: ModelSpec) -> ThinkingLevel | None:
        """The level that this model had when it was last used in this session."""
        key = (model.provider, model.id)
        if key not in self._levels:
            return levels_on(self._runtime.session.branch()).get(key)
        return self._levels[key]

    def _kept(self) -> ThinkingLevel | None:
        """The level that was chosen for the model in an earlier session."""
        model, app = self.model, self._runtime.app
        if model is None or not model.reasoning:
            return None
        settings = self._runtime.settings.values.reasoning
        level, problems = kept_level(app.paths, f"{model.provider}/{model.id}", settings)
        app.problems(problems)
        return level

    def _clamped(self, level: ThinkingLevel) -> ThinkingLevel:
        return level if self._chosen is None else clamp_level(self._chosen.model, level)

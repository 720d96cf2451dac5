"""The choice of model and thinking level of one session, and the way to a model's answer.

Must not know a provider: the registry knows them, the runner asks them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Literal

from zot_core.models.levels import clamp_level
from zot_core.models.registry import ModelRegistry, Resolution
from zot_core.models.runner import Runner
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
        self._runner = runner
        self._usable = usable
        self._chosen: Resolution | None = None
        self._missing = ""
        self.thinking: ThinkingLevel = "off"

    @property
    def model(self) -> ModelSpec | None:
        """The model in use; None while none is known."""
        return None if self._chosen is None else self._chosen.model

    @property
    def provider(self) -> ProviderSpec | None:
        """The provider of the model in use."""
        return None if self._chosen is None else self._chosen.provider

    def require(self) -> ModelSpec:
        """The model in use. Raises RunFailed, which says how to name one, when there is none."""
        if self._chosen is None:
            raise RunFailed(Failure(kind="auth", message=self._missing or "no model is chosen"))
        return self._chosen.model

    def start(self, level: ThinkingLevel | None) -> None:
        """The choice at start: the command line's, else the session's last, else the settings', else the first with
        a key.

        Raises UsageError for a name on the command line that no model has; a stored name that is gone is noted and
        passed by.
        """
        options, settings = self._runtime.app.options, self._runtime.settings.values
        last = self._runtime.session.last_model()
        if options.provider or options.model or options.base_url:
            self._take(self._resolve(options.provider, options.model, options.base_url, options.api))
        elif not (
            (last is not None and self._try(last.provider, last.model, "the session's model"))
            or (self._named_in(settings) and self._try(settings.provider, settings.model, "the settings' model"))
        ):
            try:
                self._take(self._resolve("", "", "", options.api))
            except UsageError as error:
                self._missing = str(error)
        stored = self._runtime.session.last_thinking()
        named = self._chosen.level if self._chosen else None
        remembered: ThinkingLevel | None = stored if stored in THINKING_LEVELS else None
        self.thinking = self._clamped(level or named or remembered or settings.reasoning or "off")

    async def set_model(self, name: str, source: Source = "set") -> bool:
        """Chooses a model by name; False when there is none of that name or no credential for it."""
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
        await self.set_thinking(found.level or self.thinking)
        if self._runtime.sink.wants("model_select"):
            from zot_core.events.model import ModelSelectEvent

            await self._runtime.sink.tell(ModelSelectEvent(model=found.model, previous_model=before, source=source))
        return True

    async def set_thinking(self, level: ThinkingLevel) -> ThinkingLevel:
        """Chooses the level, clamped to what the model takes; answers the one in force."""
        before, self.thinking = self.thinking, self._clamped(level)
        if self.thinking != before:
            self._runtime.session.append_thinking(self.thinking)
            if self._runtime.sink.wants("thinking_level_select"):
                from zot_core.events.model import ThinkingLevelSelectEvent

                await self._runtime.sink.tell(ThinkingLevelSelectEvent(level=self.thinking, previous_level=before))
        return self.thinking

    def stream(self, request: Request) -> AsyncIterator[StreamPart]:
        """The model's answer to `request`, part by part; the last one is Done or Failed."""
        provider = self.provider if self._chosen and request.model is self._chosen.model else None
        return self._runner.stream(request, provider)

    def _resolve(self, provider: str, model: str, base_url: str, api: str) -> Resolution:
        return self._models.resolve(provider, model, base_url, api, self._usable)

    @staticmethod
    def _named_in(settings: Settings) -> bool:
        return bool(settings.provider or settings.model)

    def _take(self, found: Resolution) -> None:
        self._chosen = found

    def _try(self, provider: str, model: str, what: str) -> bool:
        try:
            self._take(self._resolve(provider, model, "", ""))
        except UsageError as error:
            self._runtime.note(f"{what} cannot be used: {error}", "warning")
            return False
        return True

    def _clamped(self, level: ThinkingLevel) -> ThinkingLevel:
        return level if self._chosen is None else clamp_level(self._chosen.model, level)

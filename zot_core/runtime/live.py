"""Models that only their providers know of: asked when a name is not in the catalog, and when models are listed.

Nobody is asked without a credential of its own, and a local server only when a person named it or gave its address in
models.json. Must not know a provider.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from zot_core.config.auth import Credential
from zot_core.config.secrets import needs_command
from zot_core.models.discovery import Discovery, Listed
from zot_core.models.registry import DEFAULT_API, UnknownModel
from zot_core.types.failure import UsageError
from zot_core.types.specs import ProviderSpec

if TYPE_CHECKING:
    from zot_core.app import App
    from zot_core.runtime.runtime import Runtime


def discovery(app: App) -> Discovery:
    """The way to live lists of this process."""

    def credential(spec: ProviderSpec) -> Credential | Awaitable[Credential | None] | None:
        # --api-key is for the provider of the run: no other one may see it
        flag = app.options.provider == spec.id
        if needs_command(spec.api_key) or app.auth.may_run_command(spec.id):
            return asyncio.to_thread(app.auth.find, spec.id, spec.env, spec.api_key, flag)
        return app.auth.find(spec.id, spec.env, spec.api_key, flag)

    folder = app.paths.cache / "models"
    return Discovery(folder, app.client, credential, expand=app.expand, offline=app.options.offline)


async def look_up(runtime: Runtime, provider: str, model: str) -> None:
    """Asks the providers that may serve `model`, if the catalog has no such name; what they list joins the registry.

    A provider that names no models of its own is asked for its first one too. Failures are noted and stop nothing.
    """
    models = runtime.models
    named = models.provider(provider) if provider else None
    if named is not None and not model and not models.models(named.id) and _is_askable(runtime, named, named.id):
        await _ask(runtime, [named])
        return
    if not model:
        return
    head, slash, _ = model.partition("/")
    named = named or (models.provider(head) if slash else None)
    if named is None or models.models(named.id):
        try:
            models.resolve(provider, model)
            return
        except UnknownModel as error:
            named = models.provider(error.provider) if error.provider else None
        except UsageError:
            return  # said by whoever asks for the model
    names = named.id if named is not None else ""
    candidates = [named] if named is not None else list(models.providers())
    await _ask(runtime, [spec for spec in candidates if _is_askable(runtime, spec, names)])


async def list_all(runtime: Runtime, named: str = "") -> list[Listed]:
    """Asks every provider that can be asked, those named by `named` (an id) included."""
    choice = runtime.choice.provider
    specs = [choice if choice is not None and choice.id == spec.id else spec for spec in runtime.models.providers()]
    names = (named, runtime.app.options.provider, runtime.settings.values.provider)
    return await _ask(runtime, [spec for spec in specs if any(_is_askable(runtime, spec, name) for name in names)])


def _is_askable(runtime: Runtime, spec: ProviderSpec, named: str) -> bool:
    app = runtime.app
    if spec.stream is not None or not spec.base_url:
        return False
    if app.auth.has(spec.id, spec.env, spec.api_key, app.options.provider == spec.id):
        return True
    return spec.keyless and (spec.id == named or runtime.models.is_own(spec.id))


async def _ask(runtime: Runtime, specs: list[ProviderSpec]) -> list[Listed]:
    models = runtime.models
    found = await runtime.app.discovery.all((spec, models.format(spec.api or DEFAULT_API)) for spec in specs)
    for listed in found:
        models.add_found(listed.provider, listed.models)
        if runtime.app.discovery.is_news(listed):
            runtime.note(listed.problem, "warning")
    return found

"""The doors to keys and logins: trying one, keeping one, forgetting one. What is kept is in use from the next request.

Gives out no credential. Must not know a provider or how people log in: that is a plugin's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zot_core.config.logins import store_login
from zot_core.models.naming import is_loopback, near
from zot_core.models.registry import DEFAULT_API
from zot_core.toolkit.browsing import open_page
from zot_core.toolkit.shell import child_environment
from zot_core.types.failure import Failure, RunFailed, UsageError
from zot_core.types.login import Probed, Tokens
from zot_core.types.specs import ProviderSpec

if TYPE_CHECKING:
    from zot_core.app import App


class Credentials:
    """What `ctx.credentials` does, for the session that is in force."""

    def __init__(self, app: App) -> None:
        self._app = app

    @property
    def offline(self) -> bool:
        """Whether nothing but the chosen model may be asked."""
        return self._app.options.offline

    @property
    def file(self) -> Path:
        """Where keys and logins are kept: auth.json."""
        return self._app.paths.auth

    def providers(self) -> Sequence[ProviderSpec]:
        """Every provider, by name."""
        return self._app.runtime.models.providers()

    def provider(self, provider: str) -> ProviderSpec:
        """The provider of that name. Raises UsageError, naming those that are near."""
        models = self._app.runtime.models
        found = models.provider(provider) or models.provider(provider.lower())
        if found is None:
            # What was typed is not repeated: it may be a key
            raise UsageError(f"no provider has this name{near(provider, [spec.id for spec in models.providers()])}")
        return found

    def where(self, provider: str) -> str:
        """Where the provider's credential comes from, in words; "" where there is none."""
        return self._app.credential_source(self.provider(provider))

    def stored(self) -> Sequence[str]:
        """The providers that auth.json has a key or a login for."""
        self._app.auth.reload()
        return self._app.auth.stored()

    def problems(self) -> Sequence[str]:
        """Why nothing can be kept in auth.json; none where it can."""
        self._app.auth.reload()
        return [str(problem) for problem in self._app.auth.problems if problem.level == "error"]

    async def probe(self, provider: str, key: str) -> Probed:
        """Tries a key by the cheapest question that there is. Raises UsageError for one that no request can carry."""
        key = key.strip()
        self._app.auth.check_key(key)
        spec = self.provider(provider)
        api = self._app.runtime.models.format(spec.api or DEFAULT_API)
        return await self._app.discovery.probe(spec, api, key)

    async def store_key(self, provider: str, key: str) -> None:
        """Keeps a key in place of what auth.json had for the provider. Raises UsageError, SaveRefused."""
        spec = self.provider(provider)
        async with self._replacing(spec):
            await asyncio.to_thread(self._app.auth.set_key, spec.id, key)
        self._changed(spec)

    async def store_login(self, provider: str, tokens: Tokens) -> None:
        """Keeps a login in place of what auth.json had for the provider. Raises SaveRefused."""
        spec = self.provider(provider)
        async with self._replacing(spec):
            await asyncio.to_thread(store_login, self._app.paths, spec.id, tokens)
        self._changed(spec)

    async def forget(self, provider: str) -> bool:
        """Takes out of auth.json what it has for the provider, which may have gone; False for nothing. Raises
        SaveRefused."""
        models = self._app.runtime.models
        spec = models.provider(provider) or ProviderSpec(id=provider)
        async with self._replacing(spec):
            done = await asyncio.to_thread(self._app.auth.remove, spec.id)
        self._changed(spec)
        return done

    async def post(
        self, url: str, fields: Mapping[str, str], *, as_json: bool = False
    ) -> tuple[int, Mapping[str, Any]]:
        """Sends a form, or JSON, over the process's HTTP client: status and JSON object of the answer, {} for another
        body. Raises RunFailed: kind network, or bad_request for an address that is neither https nor on loopback."""
        if not (url.lower().startswith("https://") or is_loopback(url)):
            raise RunFailed(Failure(kind="bad_request", message="a login is sent over https only"))
        from zot_core.net.client import NetError
        from zot_core.runtime.renewing import post

        try:
            return await post(self._app, url, fields, as_json=as_json)
        except NetError as error:
            raise RunFailed(Failure(kind="network", message=str(error), retryable=True)) from error

    def open_page(self, url: str) -> bool:
        """Opens a page in the person's browser, which gets no credential from here; False where there is none."""
        return open_page(url, child_environment(self._app.runtime.secret_env()))

    def _replacing(self, spec: ProviderSpec) -> Any:
        # A renewal that goes on elsewhere would bring the old login back
        from zot_core.runtime.renewing import login_lock

        return login_lock(self._app, spec.id)

    def _changed(self, spec: ProviderSpec) -> None:
        self._app.auth.reload()
        self._app.discovery.forget(spec)
        self._app.runtime.choice.refresh()

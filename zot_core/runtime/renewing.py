"""Renewing a login before its token ends: one process at a time, and what another one renewed meanwhile is taken.

Must not know a provider: its `OAuthSpec` says how. Nothing here shows a token.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from zot_core._version import __version__
from zot_core.config.auth import Credential
from zot_core.config.logins import store_tokens
from zot_core.config.problems import SaveRefused
from zot_core.net.client import NetError
from zot_core.net.redact import clean_text
from zot_core.types.failure import Failure, RunFailed
from zot_core.types.login import OAuthSpec, Tokens, read_tokens
from zot_core.types.specs import ProviderSpec, resolve

if TYPE_CHECKING:
    from zot_core.app import App

LOCK_SECONDS = 45.0
"""How long another process may take to renew the same login."""


async def renewed(app: App, provider: ProviderSpec, spec: OAuthSpec) -> Credential | None:
    """The credential of `provider` once its login is fresh. Raises RunFailed: kind auth when the login is over."""
    auth = app.auth
    async with login_lock(app, provider.id):
        auth.reload()
        old = auth.stale_login(provider.id)
        if old is not None:
            try:
                await _renew(app, provider, spec, old)
            except RunFailed as error:
                if error.failure.kind == "auth" or not (old.expires and old.expires > time.time()):
                    raise
                return Credential(old.access, f"the login of {provider.id}", "oauth")  # good for some seconds yet
            auth.reload()
    return auth.find(provider.id, provider.env, provider.api_key, use_flag=False)


@asynccontextmanager
async def login_lock(app: App, provider_id: str) -> AsyncIterator[None]:
    """Held by the one process that renews or replaces the login of a provider. Raises RunFailed (kind auth)."""
    from filelock import AsyncFileLock, Timeout

    name = "".join(char if char.isalnum() else "_" for char in provider_id)
    locks = app.paths.cache / "locks"
    try:
        await asyncio.to_thread(locks.mkdir, mode=0o700, parents=True, exist_ok=True)
        async with AsyncFileLock(locks / f"login-{name}.lock", timeout=LOCK_SECONDS):
            yield
    except Timeout as error:
        message = f"another zot has been renewing the login of {provider_id} for {LOCK_SECONDS:g} s"
        raise RunFailed(Failure(kind="auth", message=message)) from error
    except OSError as error:
        message = f"the login of {provider_id} cannot be renewed: {error.strerror or error}"
        raise RunFailed(Failure(kind="auth", message=message)) from error


async def _renew(app: App, provider: ProviderSpec, spec: OAuthSpec, old: Tokens) -> None:
    try:
        if spec.refresh is not None:
            new: Tokens = await resolve(spec.refresh)(old)
        else:
            new = await _ask(app, provider, spec, old)
        await asyncio.to_thread(store_tokens, app.paths, provider.id, new)
    except SaveRefused as error:
        message = f"the renewed login of {provider.id} could not be kept: {error}"
        raise RunFailed(Failure(kind="auth", message=message)) from error
    except RunFailed:
        raise
    except Exception as error:  # a plugin's code; its words may hold a token
        message = f"the login of {provider.id} could not be renewed: {type(error).__name__}"
        raise RunFailed(Failure(kind="auth", message=message)) from None


async def _ask(app: App, provider: ProviderSpec, spec: OAuthSpec, old: Tokens) -> Tokens:
    """The refresh of RFC 6749, section 6."""
    form = {"grant_type": "refresh_token", "refresh_token": old.refresh, "client_id": spec.client_id}
    if spec.scope:
        form["scope"] = spec.scope
    try:
        status, answer = await post(app, spec.token_url, form)
    except NetError as error:
        message = f"the login of {provider.id} could not be renewed: {error}"
        raise RunFailed(Failure(kind="network", message=message, retryable=True)) from error
    new = read_tokens(answer, old.refresh)
    if not 200 <= status < 300 or new is None:
        raise RunFailed(_refused(provider, status, answer, old))
    return new


async def post(app: App, url: str, fields: Mapping[str, str], *, as_json: bool = False) -> tuple[int, dict[str, Any]]:
    """Sends a form (or JSON) to an authorization server: the status and the object that it answered, {} for another
    body. Raises NetError."""
    kind = "application/json" if as_json else "application/x-www-form-urlencoded"
    content = json.dumps(dict(fields)) if as_json else urlencode(fields)
    headers = {"content-type": kind, "accept": "application/json", "user-agent": f"zot/{__version__}"}
    async with app.client().stream("POST", url, headers=headers, content=content.encode()) as response:
        status, body = response.status, await response.read(1 << 16)
    try:
        answer: Any = json.loads(body)
    except ValueError:
        answer = {}
    return status, answer if isinstance(answer, dict) else {}


def _refused(provider: ProviderSpec, status: int, answer: dict[str, Any], old: Tokens) -> Failure:
    said = answer.get("error_description") or answer.get("error") or f"status {status}"
    text = clean_text(str(said)[:200], [secret for secret in (old.access, old.refresh) if secret])
    if status >= 500 or status == 429:
        return Failure(
            kind="provider", message=f"the login of {provider.id} could not be renewed: {text}", status=status
        )
    message = f"the login of {provider.id} is over: {text}; log in again, or give a key"
    return Failure(kind="auth", message=message, status=status)

"""Logins: tokens that end and are renewed, as providers describe them and as `auth.json` keeps them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import field

from zot_core.types.record import record
from zot_core.types.specs import Ref


@record(kw_only=True)
class Tokens:
    """A login: `access` is sent with requests until `expires` (seconds since the epoch, None is never), and `refresh`
    renews it. Neither is ever shown."""

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    expires: float | None = None


@record(kw_only=True)
class OAuthSpec:
    """How a provider's login is renewed: at `token_url` with `client_id`, as RFC 6749 section 6 says, or by
    `async def refresh(tokens: Tokens) -> Tokens` where the provider has a way of its own. Either runs in one process at
    a time, 60 s before the token ends; `refresh` raises RunFailed (kind auth) when the login is over."""

    token_url: str = ""
    client_id: str = ""
    scope: str = ""
    refresh: Callable[[Tokens], Awaitable[Tokens]] | Ref | None = None

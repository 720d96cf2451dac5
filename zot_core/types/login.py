"""Logins: tokens that end and are renewed, as providers describe them and as `auth.json` keeps them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Any, Literal

from zot_core.types.record import record
from zot_core.types.specs import Ref


@record(kw_only=True)
class Tokens:
    """A login: `access` is sent with requests until `expires` (seconds since the epoch, None is never), and `refresh`
    renews it. Neither is ever shown."""

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    expires: float | None = None


Post = Callable[[str, Mapping[str, str]], Awaitable[tuple[int, Mapping[str, Any]]]]
"""`await post(url, fields)`: status and JSON object of the answer, {} for another body. Raises RunFailed (network)."""


@record(kw_only=True)
class LoginCode:
    """What came back from the browser, for an `exchange` of a provider's own. `post_json` sends fields as JSON."""

    code: str = field(repr=False)
    verifier: str = field(repr=False)
    redirect_uri: str
    post_json: Post = field(repr=False)


@record(kw_only=True)
class OAuthSpec:
    """How people log in to a provider, and how that login is renewed; as data, `/login` does the rest.

    Two ways in, either or both: `authorize_url` is a page that sends the browser back to this machine with a code
    (RFC 6749 section 4.1 with PKCE S256, RFC 8252), `device_url` gives a short code to type on any device (RFC 8628).
    With neither a login can only be renewed. `token_url` answers both with tokens; all addresses are https, or on
    loopback. `client_id` is the one that the vendor gave this plugin: a public client, there is no secret.

    The login is renewed at `token_url` with `client_id`, as RFC 6749 section 6 says, or by
    `async def refresh(tokens: Tokens) -> Tokens` where the provider has a way of its own. Either runs in one process at
    a time, 60 s before the token ends; `refresh` raises RunFailed (kind auth) when the login is over.
    """

    token_url: str = ""
    client_id: str = ""
    scope: str = ""
    refresh: Callable[[Tokens], Awaitable[Tokens]] | Ref | None = None
    authorize_url: str = ""
    authorize_params: Mapping[str, str] = field(default_factory=dict)
    """More parameters of `authorize_url`; they win over those of the protocol, and "" leaves one out."""
    redirect_host: Literal["127.0.0.1", "localhost"] = "127.0.0.1"
    redirect_port: int = 0
    """0 takes a free one, as RFC 8252 wants it; another number where the vendor allows only that."""
    redirect_path: str = "/callback"
    redirect_param: str = "redirect_uri"
    """What the vendor calls the parameter that holds the way back."""
    state_in: Literal["query", "path"] = "query"
    """`path` where the vendor does not hand `state` back: it is then the end of the redirect's path."""
    device_url: str = ""
    exchange: Callable[[LoginCode], Awaitable[Tokens | str]] | Ref | None = None
    """`async def exchange(code: LoginCode)` answers the tokens, or a text: an API key, which is kept as one. Without it
    the code goes to `token_url`. Raises RunFailed (kind auth) when the vendor refuses."""
    notice: str = ""
    """A plain word on the vendor's terms, shown before the login; it has to be agreed to."""


@record(kw_only=True)
class Probed:
    """What trying a key came to: the provider took it, refused it, could not be reached, or it could not be told.
    `reason` says why, in words without the key."""

    verdict: Literal["good", "refused", "unreachable", "unknown"]
    reason: str = ""


def read_tokens(answer: Mapping[str, Any], refresh: str = "") -> Tokens | None:
    """The tokens in the answer of a `token_url` (RFC 6749, section 5.1), None when there are none. `refresh` stays
    where the answer brings no other."""
    access = answer.get("access_token")
    if not isinstance(access, str) or not access or not access.isascii() or not access.isprintable():
        return None
    lasts = answer.get("expires_in")
    if isinstance(lasts, str) and lasts.isdecimal():
        lasts = int(lasts)
    expires = time.time() + lasts if isinstance(lasts, (int, float)) and not isinstance(lasts, bool) else None
    new = answer.get("refresh_token")
    return Tokens(access=access, refresh=new if isinstance(new, str) and new else refresh, expires=expires)

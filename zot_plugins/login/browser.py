"""A login in the browser: the authorization code with PKCE (RFC 6749, 7636, 8252), back over loopback or pasted."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
from typing import Any
from urllib.parse import urlencode, urlsplit

from zot_core.types.failure import Failure, RunFailed
from zot_core.types.login import LoginCode, OAuthSpec, Tokens
from zot_core.types.specs import ProviderSpec, resolve
from zot_plugins.login import answers
from zot_plugins.login.callback import Callback

LIMIT_S = 600.0
"""How long the browser is waited for."""


async def login(spec: ProviderSpec, oauth: OAuthSpec, ctx: Any, limit: float = LIMIT_S) -> Tokens | str | None:
    """Tokens, or an API key where the vendor gives one; None when the person gave up. Raises RunFailed."""
    name = spec.name or spec.id
    verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(24)
    async with Callback(name, oauth, state) as callback:
        url = address(oauth, callback.redirect_uri, state, verifier)
        opened = ctx.mode == "repl" and ctx.credentials.open_page(url)
        callback.page = url
        ctx.ui.display(
            f"{'If no page opens, open' if opened else 'Open'} {callback.short} in a browser of this machine, or in "
            f"another machine's:\n\n{url}"
        )
        code = await _code(callback, name, ctx, limit)
        if code is None:
            return None
        found = LoginCode(
            code=code,
            verifier=verifier,
            redirect_uri=callback.redirect_uri,
            post_json=lambda url, fields: ctx.credentials.post(url, fields, as_json=True),
        )
    return await _exchanged(name, oauth, found, ctx)


def address(oauth: OAuthSpec, redirect_uri: str, state: str, verifier: str) -> str:
    """The page to log in on."""
    digest = hashlib.sha256(verifier.encode()).digest()
    fields = {
        "response_type": "code",
        "client_id": oauth.client_id,
        oauth.redirect_param: redirect_uri,
        "scope": oauth.scope,
        "state": state if oauth.state_in == "query" else "",
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
        **oauth.authorize_params,
    }
    query = urlencode({name: value for name, value in fields.items() if value})
    return f"{oauth.authorize_url}{'&' if urlsplit(oauth.authorize_url).query else '?'}{query}"


async def _code(callback: Callback, name: str, ctx: Any, limit: float) -> str | None:
    """The code, from the browser or from what is pasted, whichever comes first; None when the person gave up."""
    browser = asyncio.ensure_future(callback.code())
    try:
        async with asyncio.timeout(limit):
            while True:
                title = f"Waiting for the login to {name}. Or paste the address that the browser ended at"
                typed = asyncio.ensure_future(ctx.ui.input(title, hidden=True))
                try:
                    await asyncio.wait({browser, typed}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    if not typed.done():
                        typed.cancel()
                        await asyncio.wait({typed})
                if browser.done():
                    return browser.result()
                text = typed.result()
                if text is None:
                    return None
                try:
                    return callback.read(text)
                except ValueError as error:
                    ctx.ui.notify(f"This cannot be used: {error}.", "warning")
    except TimeoutError as error:
        message = f"the login to {name} failed: nobody came back from the browser within {limit / 60:g} minutes"
        raise RunFailed(Failure(kind="auth", message=message)) from error
    finally:
        browser.cancel()


async def _exchanged(name: str, oauth: OAuthSpec, found: LoginCode, ctx: Any) -> Tokens | str:
    if oauth.exchange is not None:
        try:
            got: Tokens | str = await resolve(oauth.exchange)(found)
        except RunFailed:
            raise
        except Exception as error:  # a plugin's code; its words may hold a secret
            message = f"the login to {name} failed: {type(error).__name__}"
            raise RunFailed(Failure(kind="auth", message=message)) from None
        return got
    form = {
        "grant_type": "authorization_code",
        "code": found.code,
        "redirect_uri": found.redirect_uri,
        "client_id": oauth.client_id,
        "code_verifier": found.verifier,
    }
    status, answer = await ctx.credentials.post(oauth.token_url, form)
    return answers.tokens(name, status, answer, (found.code, found.verifier))

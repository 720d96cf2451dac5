"""A login with a short code that is typed on any device (RFC 8628), for machines without a browser."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from zot_core.types.failure import RunFailed
from zot_core.types.login import OAuthSpec, Tokens
from zot_core.types.specs import ProviderSpec
from zot_plugins.login import answers

GRANT = "urn:ietf:params:oauth:grant-type:device_code"
INTERVAL_S, SLOWER_S, LONGEST_S = 5.0, 5.0, 60.0
LIMIT_S = 1800.0
"""How long a code is waited for at most, whatever the server says."""
STOP = "Stop waiting"
Sleep = Callable[[float], Awaitable[None]]


async def login(
    spec: ProviderSpec,
    oauth: OAuthSpec,
    ctx: Any,
    sleep: Sleep = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Tokens | None:
    """The tokens once the code was typed; None when the person gave up. Raises RunFailed."""
    name = spec.name or spec.id
    form = {"client_id": oauth.client_id, **({"scope": oauth.scope} if oauth.scope else {})}
    status, answer = await ctx.credentials.post(oauth.device_url, form)
    device_code, user_code, page = (_text(answer, key) for key in ("device_code", "user_code", "verification_uri"))
    page = page or _text(answer, "verification_url")  # Google's word for it
    if not (200 <= status < 300 and device_code and user_code and urlsplit(page).scheme in ("http", "https")):
        raise answers.failed(name, answer, status, (device_code,))
    if ctx.mode == "repl":
        ctx.credentials.open_page(_text(answer, "verification_uri_complete") or page)
    polling = asyncio.ensure_future(_poll(name, oauth, answer, ctx, sleep, clock))
    title = f"Log in to {name}: open {page} on any device and type the code {user_code}"
    stopped = asyncio.ensure_future(ctx.ui.select(title, [STOP]))
    try:
        await asyncio.wait({polling, stopped}, return_when=asyncio.FIRST_COMPLETED)
        return polling.result() if polling.done() else None
    finally:
        waiting = [task for task in (polling, stopped) if not task.done()]
        for task in waiting:
            task.cancel()
        if waiting:
            await asyncio.wait(waiting)


async def _poll(
    name: str, oauth: OAuthSpec, given: Mapping[str, Any], ctx: Any, sleep: Sleep, clock: Callable[[], float]
) -> Tokens:
    """Asks until the server has an answer, no oftener than it wants."""
    device_code = _text(given, "device_code")
    interval = min(_seconds(given, "interval", INTERVAL_S), LONGEST_S)
    until = clock() + min(_seconds(given, "expires_in", LIMIT_S), LIMIT_S)
    form = {"grant_type": GRANT, "device_code": device_code, "client_id": oauth.client_id}
    while True:
        await sleep(interval)
        if clock() >= until:
            raise answers.failed(name, {"error": "expired_token"})
        try:
            status, answer = await ctx.credentials.post(oauth.token_url, form)
        except RunFailed as error:
            if error.failure.kind != "network":
                raise
            interval = min(interval * 2, LONGEST_S)  # as section 3.5 wants it
            continue
        error_code = answer.get("error")
        if error_code == "slow_down":
            interval += SLOWER_S
        elif status >= 500 or status == 429:
            interval = min(interval * 2, LONGEST_S)
        elif error_code != "authorization_pending":
            return answers.tokens(name, status, answer, (device_code,))


def _text(answer: Mapping[str, Any], key: str) -> str:
    """A word of the server's in one line."""
    value = answer.get(key)
    return value.strip() if isinstance(value, str) and value.isprintable() else ""


def _seconds(answer: Mapping[str, Any], key: str, otherwise: float) -> float:
    value = answer.get(key)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
        return float(value)
    return otherwise

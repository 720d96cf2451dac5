"""`/login` and `/logout`: which provider, which way, and what holds afterwards."""

from __future__ import annotations

from typing import Any

from zot_core.types.failure import UsageError
from zot_core.types.login import OAuthSpec, Tokens
from zot_core.types.specs import ProviderSpec, resolve
from zot_plugins.login import browser, device, keys

NOTHING = "Nothing was stored."
_KEY, _BROWSER, _DEVICE = "Type an API key", "Log in with the browser", "Log in with a code, on any device"


async def login(args: str, ctx: Any) -> str | None:
    """Keeps a key or a login for the provider that is named or chosen. Raises UsageError, SaveRefused, RunFailed."""
    if problems := ctx.credentials.problems():
        raise UsageError(f"nothing can be stored: {'; '.join(problems)}")
    spec = await _chosen(args, ctx)
    if spec is None:
        return None
    oauth: OAuthSpec | None = resolve(spec.oauth)
    way = await _way(spec, oauth, ctx)
    if way is None:
        return NOTHING
    if way == _KEY or oauth is None:
        said = await keys.ask(spec, ctx)
        return NOTHING if said is None else f"{said} {await _after(spec, ctx)}"
    if ctx.credentials.offline:
        raise UsageError("a login needs the network, and this is --offline")
    if oauth.notice:
        if not await ctx.ui.confirm(f"Log in to {name_of(spec)}?", oauth.notice):
            return NOTHING
    else:
        ctx.ui.notify(f"Whether programs like zot may use your account is said in {name_of(spec)}'s terms.")
    try:
        got = await (browser.login(spec, oauth, ctx) if way == _BROWSER else device.login(spec, oauth, ctx))
    finally:
        ctx.ui.clear_notes()  # addresses and codes that are of no use any more
    if got is None:
        return NOTHING
    if isinstance(got, Tokens):
        await ctx.credentials.store_login(spec.id, got)
    else:
        await ctx.credentials.store_key(spec.id, got)
    return f"You are logged in to {name_of(spec)}; it is kept in {ctx.credentials.file}. {await _after(spec, ctx)}"


async def logout(args: str, ctx: Any) -> str | None:
    """Takes what auth.json has for a provider out of it, once the person agrees. Raises UsageError, SaveRefused."""
    stored = ctx.credentials.stored()
    wanted = _one_word(args, "/logout")
    if wanted and wanted not in stored:
        raise UsageError(f"{ctx.credentials.file} holds nothing for a provider of this name")
    if not stored:
        return f"{ctx.credentials.file} holds no key and no login."
    if not wanted:
        wanted = await ctx.ui.select("Forget the key or login of which provider?", stored)
    if not wanted:
        return None
    if not await ctx.ui.confirm(f"Forget what is stored for {wanted}?", f"It is taken out of {ctx.credentials.file}."):
        return "Nothing was changed."
    await ctx.credentials.forget(wanted)
    said = f"The key or login of {wanted} is forgotten here; the provider's own pages end it everywhere."
    known = any(spec.id == wanted for spec in ctx.credentials.providers())
    left = ctx.credentials.where(wanted) if known else ""
    return f"{said} There is still one: {left}." if left else said


async def _chosen(args: str, ctx: Any) -> ProviderSpec | None:
    wanted = _one_word(args, "/login")
    if wanted:
        found: ProviderSpec = ctx.credentials.provider(wanted)
        if not _takes(found, named=True):
            raise UsageError(f"{found.id} needs no key and has no login")
        return found
    rows = {_row(spec, ctx): spec for spec in ctx.credentials.providers() if _takes(spec)}
    if not rows:
        raise UsageError("no provider that wants a key is loaded")
    chosen = await ctx.ui.select("Log in to which provider?", list(rows))
    return rows.get(chosen)


async def _way(spec: ProviderSpec, oauth: OAuthSpec | None, ctx: Any) -> str | None:
    ways = [_BROWSER] if oauth is not None and oauth.authorize_url else []
    ways += [_DEVICE] if oauth is not None and oauth.device_url else []
    if spec.env or not ways:
        ways.append(_KEY)
    if len(ways) == 1:
        return ways[0]
    chosen: str | None = await ctx.ui.select(f"How do you log in to {name_of(spec)}?", ways)
    return chosen


async def _after(spec: ProviderSpec, ctx: Any) -> str:
    """What holds now: another place that comes first, and the model that can be asked."""
    where = ctx.credentials.where(spec.id)
    if str(ctx.credentials.file) not in where:
        return f"But {where or 'another place'} comes first, and is used for as long as it is there."
    current = ctx.models.current
    if current is not None and (current.provider == spec.id or _usable(current.provider, ctx)):
        return f"{current.provider}/{current.id} answers; `/model` chooses another."
    ids = [model.id for model in ctx.models.all() if model.provider == spec.id]
    name = spec.default_model if spec.default_model in ids else next(iter(ids), "")
    if name and await ctx.models.set(f"{spec.id}/{name}"):
        return f"{spec.id}/{name} answers from now on; `/model` chooses another."
    return "`/model` chooses a model."


def _usable(provider: str, ctx: Any) -> bool:
    spec = next((spec for spec in ctx.credentials.providers() if spec.id == provider), None)
    return spec is not None and (spec.keyless or bool(ctx.credentials.where(provider)))


def _takes(spec: ProviderSpec, named: bool = False) -> bool:
    """Whether there is something to store for it. A local server that may want a key is not listed, but taken."""
    if spec.env or spec.oauth:
        return True
    if spec.stream is not None or spec.authorize is not None:  # no key, or credentials of other tools
        return False
    return named or not spec.keyless


def _row(spec: ProviderSpec, ctx: Any) -> str:
    there = ctx.credentials.where(spec.id)
    name = f"{spec.id}  {name_of(spec)}" if name_of(spec) != spec.id else spec.id
    return f"{name}  (has {there})" if there else name


def name_of(spec: ProviderSpec) -> str:
    """The provider's name for people."""
    return spec.name or spec.id


def _one_word(args: str, command: str) -> str:
    words = args.split()
    if len(words) > 1:
        raise UsageError(f"{command} takes the name of a provider and nothing else; a key is asked for, hidden")
    return words[0] if words else ""

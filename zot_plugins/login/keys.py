"""An API key: typed hidden, tried once, kept when it is good or when the person wants it all the same."""

from __future__ import annotations

from typing import Any

from zot_core.types.specs import ProviderSpec


async def ask(spec: ProviderSpec, ctx: Any) -> str | None:
    """Asks for a key and keeps it; what was done, or None when nothing was. Raises UsageError, SaveRefused."""
    name = spec.name or spec.id
    key = await ctx.ui.input(f"API key of {name} (it is not shown)", hidden=True)
    key = (key or "").strip()
    if not key:
        return None
    if ctx.credentials.offline:
        tried = "It was not tried, because of --offline."
    else:
        ctx.ui.notify(f"Asking {name} whether it takes the key …")
        try:
            probed = await ctx.credentials.probe(spec.id, key)
        finally:
            ctx.ui.clear_notes()  # it was asked
        tried = f"{name} takes it." if probed.verdict == "good" else f"It was not tried: {probed.reason}."
        if probed.verdict == "refused":
            if not await ctx.ui.confirm(f"{name} refused the key: {probed.reason}.", "Store it all the same?"):
                return None
            tried = f"{name} refused it."
        elif probed.verdict == "unreachable" and not await ctx.ui.confirm(
            f"The key could not be tried: {probed.reason}.", "Store it untried?"
        ):
            return None
    await ctx.credentials.store_key(spec.id, key)
    return f"The key is kept in {ctx.credentials.file}. {tried}"

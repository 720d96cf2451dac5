"""`zot --list-models [FILTER]`: the models of the providers that are loaded, where each is known from, and for which
there is a key. Providers with a key, and the one that is named, are asked what they serve now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zot_cli import running
from zot_cli.commands.opening import opened, say_problems
from zot_cli.commands.tables import show_rows
from zot_core.ctx.quiet import QuietFront
from zot_core.models.levels import levels_of

if TYPE_CHECKING:
    from zot_cli.options import CommandLine
    from zot_core.app import App
    from zot_core.types.specs import Prices


def run(line: CommandLine) -> int:
    """Prints a row a model; with `--provider` that provider's, with words after the flags those that have them all."""
    front = QuietFront()

    async def look() -> list[dict[str, Any]]:
        async with opened(line, front) as app:
            words = [word.lower() for word in line.words]
            await app.list_models(words[0].partition("/")[0] if words else "")
            return _rows(app, line.get("provider", ""), words)

    rows = running.run(look())
    say_problems(front.notes)
    columns = ("model", "context_window", "max_output", "inputs", "reasoning", "usable", "source")
    empty = "no models; a provider's plugin or models.json brings them"
    if line.words:
        empty = f"no model has {' '.join(line.words)!r} in its name; zot --list-models lists all"
    show_rows(rows, columns, as_json=bool(line.get("json")), empty=empty)
    return 0


def _rows(app: App, provider: str, words: Sequence[str] = ()) -> list[dict[str, Any]]:
    models, chosen = app.runtime.models, app.runtime.choice.model
    usable = {spec.id: app.looks_usable(spec) for spec in models.providers()}
    return [
        {
            "model": f"{model.provider}/{model.id}",
            "id": model.id,
            "provider": model.provider,
            "name": model.name,
            "context_window": model.context_window,
            "max_output": model.max_output,
            "inputs": list(model.inputs),
            "reasoning": model.reasoning,
            "levels": list(levels_of(model)),
            "prices": _prices(model.prices),
            "source": model.source or "catalog",
            "usable": usable.get(model.provider, False),
            "chosen": chosen is not None and (model.provider, model.id) == (chosen.provider, chosen.id),
        }
        for model in models.models(provider)
        if all(word in f"{model.provider}/{model.id} {model.name}".lower() for word in words)
    ]


def _prices(prices: Prices | None) -> dict[str, Any] | None:
    """Dollars per million tokens; `tiers` are what long requests cost."""
    if prices is None:
        return None
    row: dict[str, Any] = {name: getattr(prices, name) for name in ("input", "output", "cache_read", "cache_write")}
    if prices.tiers:
        row["tiers"] = [{"above": above, **(_prices(tier) or {})} for above, tier in prices.tiers]
    return row

"""A row of a catalog as a ModelSpec, its price looked up in the generated table."""

from __future__ import annotations

from typing import Any

from zot_core.types.specs import Json, ModelSpec, Prices
from zot_plugins.providers.prices import PRICES

Row = tuple[float, float, float, float]


def prices_of(provider: str, model_id: str) -> Prices | None:
    """What genai-prices said of the model, or None."""
    row = PRICES.get(provider, {}).get(model_id)
    return None if row is None else _prices(*row)


def model(
    provider: str,
    model_id: str,
    name: str,
    window: int,
    output: int,
    *,
    levels: Json | None = None,
    sees: bool = False,
    compat: Json | None = None,
) -> ModelSpec:
    """A model of `window` and `output` tokens that thinks if it has `levels`, and takes pictures if it `sees`."""
    return ModelSpec(
        id=model_id,
        provider=provider,
        name=name,
        context_window=window,
        max_output=output,
        inputs=("text", "image") if sees else ("text",),
        reasoning=levels is not None,
        thinking_levels=levels,
        prices=prices_of(provider, model_id),
        compat=compat or {},
    )


def _prices(figures: Row, tiers: tuple[tuple[int, Row], ...] = ()) -> Prices:
    names = ("input", "output", "cache_read", "cache_write")

    def named(row: Row) -> dict[str, Any]:
        return dict(zip(names, row, strict=True))

    return Prices(**named(figures), tiers=tuple((above, Prices(**named(row))) for above, row in tiers))

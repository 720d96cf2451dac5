"""A person's models.json as provider specs: the field names of the Go zot and of pi both read.

Takes decoded JSON, of which config/models_json.py checked the outer shape; resolves no key: values such as `$VAR` or
`!command` stay as they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from zot_core.types.specs import THINKING_LEVELS, ModelSpec, Prices, ProviderSpec

Problem = Callable[[str], None]


def specs_from_models_json(data: Any, problem: Problem = lambda text: None) -> list[ProviderSpec]:
    """The providers in `{"providers": {ID: {...}}}`. What has the wrong type is left out and told to `problem`.

    A provider with a base URL and no key needs none. Add them with `keep_models=True`, so that they extend a provider
    of the same name instead of replacing its catalog.
    """
    providers = data.get("providers") if isinstance(data, Mapping) else None
    if not isinstance(providers, Mapping):
        if data not in ({}, None):
            problem('expected an object with "providers"')
        return []
    specs = []
    for provider_id, row in providers.items():
        if isinstance(row, Mapping):
            specs.append(_provider(str(provider_id), _Fields(row, f"providers.{provider_id}", problem)))
        else:
            problem(f"providers.{provider_id}: expected an object")
    return specs


class _Fields:
    """Typed reading of one object; a wrong type is told and read as absent."""

    def __init__(self, row: Mapping[str, Any], where: str, problem: Problem) -> None:
        self.row = row
        self.where = where
        self.problem = problem

    def text(self, *names: str) -> str:
        return str(self._first(names, str, "a text") or "")

    def flag(self, *names: str) -> bool:
        return bool(self._first(names, bool, "true or false"))

    def number(self, *names: str) -> float:
        return float(self._first(names, (int, float), "a number") or 0)

    def table(self, *names: str) -> Mapping[str, Any]:
        return self._first(names, Mapping, "an object") or {}

    def rows(self, *names: str) -> list[Any]:
        return list(self._first(names, list, "a list") or [])

    def _first(self, names: tuple[str, ...], kind: Any, word: str) -> Any:
        for name in names:
            value = self.row.get(name)
            if value is None:
                continue
            if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
                return value
            self.problem(f"{self.where}.{name}: expected {word}")
        return None


def _provider(provider_id: str, fields: _Fields) -> ProviderSpec:
    base_url = fields.text("baseUrl", "base_url")
    key = fields.text("apiKey", "api_key")
    models = []
    for index, row in enumerate(fields.rows("models")):
        where = f"{fields.where}.models[{index}]"
        if not isinstance(row, Mapping) or not isinstance(row.get("id"), str) or not row["id"].strip():
            fields.problem(f"{where}: expected an object with an id")
            continue
        models.append(_model(provider_id, _Fields(row, where, fields.problem)))
    return ProviderSpec(
        id=provider_id,
        name=fields.text("name"),
        api=fields.text("api"),
        base_url=base_url,
        api_key=key,
        keyless=bool(base_url) and not key,
        headers={str(name): str(value) for name, value in fields.table("headers").items()},
        models=tuple(models),
        default_model=fields.text("defaultModel", "default_model"),
        compat=dict(fields.table("compat")),
    )


def _model(provider_id: str, fields: _Fields) -> ModelSpec:
    kinds: list[Literal["text", "image"]] = []
    for kind in fields.rows("input"):
        if kind == "text" or kind == "image":
            kinds.append(kind)
    compat = dict(fields.table("compat"))
    if sampling := fields.table("samplingParams"):
        compat["extraBody"] = {**compat.get("extraBody", {}), **sampling}
    levels: dict[str, Any] = {
        level: word for level, word in fields.table("thinkingLevelMap").items() if level in THINKING_LEVELS
    }
    return ModelSpec(
        id=fields.text("id"),
        provider=provider_id,
        name=fields.text("name"),
        api=fields.text("api"),
        base_url=fields.text("baseUrl", "base_url"),
        context_window=int(fields.number("contextWindow", "context_window")) or 128_000,
        max_output=int(fields.number("maxTokens", "maxOutput", "max_output")) or 16_384,
        inputs=tuple(kinds) or ("text",),
        reasoning=fields.flag("reasoning"),
        thinking_levels=levels or None,
        prices=_prices(fields),
        compat=compat,
        headers={str(name): str(value) for name, value in fields.table("headers").items()},
    )


def _prices(fields: _Fields) -> Prices | None:
    cost = _Fields(fields.table("cost"), f"{fields.where}.cost", fields.problem)
    prices = Prices(
        input=cost.number("input") or fields.number("priceInput"),
        output=cost.number("output") or fields.number("priceOutput"),
        cache_read=cost.number("cacheRead") or fields.number("priceCacheRead"),
        cache_write=cost.number("cacheWrite") or fields.number("priceCacheWrite"),
    )
    return prices if prices != Prices() else None

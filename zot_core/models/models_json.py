"""A person's models.json as provider specs: the field names of the Go zot and of pi both read.

Takes decoded JSON, of which config/models_json.py checked the outer shape; resolves no key: values such as `$VAR` or
`!command` stay as they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Literal

from zot_core.types.record import record
from zot_core.types.specs import THINKING_LEVELS, ModelSpec, Prices, ProviderSpec

Problem = Callable[[str], None]
Override = Callable[[ModelSpec], ModelSpec]
ALIASES: Mapping[str, Mapping[Any, Mapping[str, Any]]] = {
    "thinkingFormat": {
        "deepseek": {"thinkingToggle": True},
        "zai": {"thinkingToggle": True},
        "openrouter": {"reasoningObject": True},
    },
    "forceAdaptiveThinking": {True: {"thinking": "adaptive"}},
    "allowEmptySignature": {True: {"replaysUnsignedThinking": True}},
}
"""Compat flags of pi that have another name here."""


@record(kw_only=True)
class Read:
    """What a models.json says: providers to lay over those that there are, and changes to models by provider and id."""

    providers: tuple[ProviderSpec, ...] = ()
    overrides: Mapping[str, Mapping[str, Override]] = field(default_factory=dict)


def read_models(data: Any, problem: Problem = lambda text: None) -> Read:
    """Both halves of a models.json; what has the wrong type is left out and told to `problem`."""
    specs = specs_from_models_json(data, problem)
    overrides = {}
    rows = data.get("providers") if isinstance(data, Mapping) else None
    for provider_id, row in (rows if isinstance(rows, Mapping) else {}).items():
        given = row.get("modelOverrides") if isinstance(row, Mapping) else None
        if given is None:
            continue
        where = f"providers.{provider_id}.modelOverrides"
        if not isinstance(given, Mapping):
            problem(f"{where}: expected an object")
            continue
        found = {}
        for model_id, change in given.items():
            if isinstance(change, Mapping):
                found[str(model_id)] = _override(_Fields(change, f"{where}.{model_id}", problem))
            else:
                problem(f"{where}.{model_id}: expected an object")
        overrides[str(provider_id)] = found
    return Read(providers=tuple(specs), overrides=overrides)


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

    def headers(self) -> dict[str, str]:
        """The object `headers`: texts, numbers as they are written."""
        found = {}
        for name, value in self.table("headers").items():
            if isinstance(value, (str, int, float)) and not isinstance(value, bool):
                found[str(name)] = str(value)
            else:
                self.problem(f"{self.where}.headers.{name}: expected a text")
        return found

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
    models: list[ModelSpec] = []
    known: set[str] = set()
    for index, row in enumerate(fields.rows("models")):
        where = f"{fields.where}.models[{index}]"
        if not isinstance(row, Mapping) or not isinstance(row.get("id"), str) or not row["id"].strip():
            fields.problem(f"{where}: expected an object with an id")
            continue
        if row["id"] in known:
            fields.problem(f"{where}: there is a model {row['id']!r} before it, which counts")
            continue
        known.add(row["id"])
        models.append(_model(provider_id, _Fields(row, where, fields.problem)))
    return ProviderSpec(
        id=provider_id,
        name=fields.text("name"),
        api=fields.text("api"),
        base_url=base_url,
        api_key=key,
        keyless=bool(base_url) and not key,
        headers=fields.headers(),
        models=tuple(models),
        default_model=fields.text("defaultModel", "default_model"),
        compat=_compat(fields),
    )


def _compat(fields: _Fields) -> dict[str, Any]:
    given = dict(fields.table("compat"))
    for name, meanings in ALIASES.items():
        value = given.get(name)
        if isinstance(value, (str, bool)) and value in meanings:
            given = {**meanings[value], **given}
    if fields.flag("authHeader"):
        given = {"bearerAuth": True, **given}
    if sampling := fields.table("samplingParams"):
        given["extraBody"] = {**given.get("extraBody", {}), **sampling}
    return given


def _override(fields: _Fields) -> Override:
    """The change that a row of `modelOverrides` makes: what it names, over what is there."""
    changes: dict[str, Any] = {}
    if name := fields.text("name"):
        changes["name"] = name
    if "reasoning" in fields.row:
        changes["reasoning"] = fields.flag("reasoning")
    if window := int(fields.number("contextWindow", "context_window")):
        changes["context_window"] = window
    if output := int(fields.number("maxTokens", "maxOutput", "max_output")):
        changes["max_output"] = output
    if kinds := _kinds(fields):
        changes["inputs"] = kinds
    compat, headers = _compat(fields), fields.headers()
    levels = _levels(fields)
    cost = _Fields(fields.table("cost"), f"{fields.where}.cost", fields.problem)
    prices = {here: cost.number(name) for name, here in PRICES.items() if name in cost.row}
    prices |= {here: fields.number(name) for name, here in FLAT_PRICES.items() if name in fields.row}
    tiers = _tiers(cost)

    def change(model: ModelSpec) -> ModelSpec:
        more: dict[str, Any] = dict(changes)
        if compat:
            body = {**model.compat.get("extraBody", {}), **compat.get("extraBody", {})}
            more["compat"] = {**model.compat, **compat, **({"extraBody": body} if body else {})}
        if headers:
            more["headers"] = {**model.headers, **headers}
        if levels:
            more["thinking_levels"] = {**(model.thinking_levels or {}), **levels}
        if prices or tiers:
            kept = model.prices or Prices()
            more["prices"] = replace(kept, **prices, tiers=tiers or kept.tiers)
        return replace(model, **more)

    return change


def _kinds(fields: _Fields) -> tuple[Literal["text", "image"], ...]:
    kinds: list[Literal["text", "image"]] = []
    for kind in fields.rows("input"):
        if kind == "text" or kind == "image":
            kinds.append(kind)
    return tuple(kinds)


def _levels(fields: _Fields) -> dict[str, Any]:
    return {level: word for level, word in fields.table("thinkingLevelMap").items() if level in THINKING_LEVELS}


def _model(provider_id: str, fields: _Fields) -> ModelSpec:
    return ModelSpec(
        id=fields.text("id"),
        provider=provider_id,
        name=fields.text("name"),
        api=fields.text("api"),
        base_url=fields.text("baseUrl", "base_url"),
        context_window=int(fields.number("contextWindow", "context_window")) or 128_000,
        max_output=int(fields.number("maxTokens", "maxOutput", "max_output")) or 16_384,
        inputs=_kinds(fields) or ("text",),
        reasoning=fields.flag("reasoning"),
        thinking_levels=_levels(fields) or None,
        prices=_prices(fields),
        compat=_compat(fields),
        headers=fields.headers(),
        source="models.json",
    )


PRICES = {"input": "input", "output": "output", "cacheRead": "cache_read", "cacheWrite": "cache_write"}
FLAT_PRICES = {
    "priceInput": "input",
    "priceOutput": "output",
    "priceCacheRead": "cache_read",
    "priceCacheWrite": "cache_write",
}


def _tiers(cost: _Fields) -> tuple[tuple[int, Prices], ...]:
    """Rates for long requests, as pi writes them: `{"inputTokensAbove": 200000, "input": …}`."""
    tiers = []
    for index, row in enumerate(cost.rows("tiers")):
        if not isinstance(row, Mapping):
            cost.problem(f"{cost.where}.tiers[{index}]: expected an object")
            continue
        tier = _Fields(row, f"{cost.where}.tiers[{index}]", cost.problem)
        figures: dict[str, Any] = {here: tier.number(name) for name, here in PRICES.items()}
        tiers.append((int(tier.number("inputTokensAbove")), Prices(**figures)))
    return tuple(tiers)


def _prices(fields: _Fields) -> Prices | None:
    cost = _Fields(fields.table("cost"), f"{fields.where}.cost", fields.problem)
    prices = Prices(
        input=cost.number("input") or fields.number("priceInput"),
        output=cost.number("output") or fields.number("priceOutput"),
        cache_read=cost.number("cacheRead") or fields.number("priceCacheRead"),
        cache_write=cost.number("cacheWrite") or fields.number("priceCacheWrite"),
        tiers=_tiers(cost),
    )
    return prices if prices != Prices() else None

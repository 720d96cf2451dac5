"""Models that the catalog lacks, changes to those that it has, and who is chosen when nobody was named."""

from __future__ import annotations

import pytest

from zot_core.models.models_json import read_models
from zot_core.models.registry import ModelRegistry, UnknownModel
from zot_core.models.runner import cost_of
from zot_core.types.failure import UsageError
from zot_core.types.specs import ModelSpec, Prices, ProviderSpec
from zot_core.types.usage import Usage


def provider(name: str, *models: ModelSpec, **more: object) -> ProviderSpec:
    return ProviderSpec(id=name, base_url=f"http://{name}.test", models=models, **more)  # type: ignore[arg-type]


def one(name: str, model: str, **more: object) -> ModelSpec:
    return ModelSpec(id=model, provider=name, **more)  # type: ignore[arg-type]


@pytest.fixture
def registry() -> ModelRegistry:
    found = ModelRegistry()
    zeta = provider("zeta", one("zeta", "z-1", prices=Prices(input=1, output=2), compat={"a": 1}))
    found.add_providers([("p", zeta), ("p", provider("alpha", one("alpha", "a-1"))), ("p", provider("bare"))])
    return found


def test_the_order_of_the_plugins_decides_and_the_persons_own_come_first(registry: ModelRegistry) -> None:
    assert registry.resolve().provider.id == "zeta"
    assert registry.resolve(usable=lambda spec: spec.id == "alpha").provider.id == "alpha"
    registry.add_provider(provider("mine", one("mine", "m")), first=True)
    assert registry.resolve().provider.id == "mine"
    assert registry.is_own("mine") and not registry.is_own("zeta")


def test_found_models_join_and_the_catalog_stays(registry: ModelRegistry) -> None:
    with pytest.raises(UnknownModel) as caught:
        registry.resolve("zeta", "z-2")
    assert caught.value.provider == "zeta"
    with pytest.raises(UnknownModel) as caught:
        registry.resolve("", "zeta/z-2")
    assert caught.value.provider == "zeta"
    registry.add_found("zeta", [one("zeta", "z-1", source="live"), one("zeta", "z-2", source="live")])
    assert [(m.id, m.source) for m in registry.models("zeta")] == [("z-1", ""), ("z-2", "live")]
    assert registry.resolve("", "z-2").model.base_url == "http://zeta.test"


def test_a_provider_without_a_list_takes_every_name(registry: ModelRegistry) -> None:
    assert registry.resolve("bare", "my-deployment").model.id == "my-deployment"
    assert registry.resolve("", "bare/org/model:high")[1:] == (registry.resolve("bare", "org/model").model, "high")
    registry.add_found("bare", [one("bare", "only")])
    assert registry.resolve("bare").model.id == "only"
    with pytest.raises(UsageError, match="only"):
        registry.resolve("bare", "onyl")


def test_near_names_are_said_once(registry: ModelRegistry) -> None:
    with pytest.raises(UnknownModel) as caught:
        registry.resolve("", "z-9")
    assert str(caught.value).count("z-1") == 1


def test_model_overrides_change_what_they_name(registry: ModelRegistry) -> None:
    rows = {
        "z-1": {
            "name": "Mine",
            "contextWindow": 5,
            "reasoning": True,
            "thinkingLevelMap": {"max": "max"},
            "input": ["text", "image"],
            "cost": {"output": 9, "tiers": [{"inputTokensAbove": 100, "input": 3, "output": 8}]},
            "headers": {"x": "1"},
            "compat": {"b": 2},
            "samplingParams": {"top_p": 1},
        },
        "nobody": {"name": "x"},
    }
    problems: list[str] = []
    read = read_models(
        {"providers": {"zeta": {"modelOverrides": {**rows, "bad": 3}}, "y": {"modelOverrides": 4}}}, problems.append
    )
    assert problems == [
        "providers.zeta.modelOverrides.bad: expected an object",
        "providers.y.modelOverrides: expected an object",
    ]
    for spec in read.providers:
        registry.add_provider(spec, keep_models=True)
    registry.override("zeta", read.overrides["zeta"])
    (model,) = registry.models("zeta")
    assert (model.name, model.context_window, model.max_output, model.reasoning) == ("Mine", 5, 16_384, True)
    assert model.inputs == ("text", "image") and model.thinking_levels == {"max": "max"}
    assert model.prices == Prices(input=1, output=9, tiers=((100, Prices(input=3, output=8)),))
    assert (model.compat, model.headers) == ({"a": 1, "b": 2, "extraBody": {"top_p": 1}}, {"x": "1"})


def test_the_persons_own_models_are_as_written(registry: ModelRegistry) -> None:
    read = read_models({"providers": {"zeta": {"models": [{"id": "z-1"}], "modelOverrides": {"z-1": {"name": "No"}}}}})
    registry.add_provider(read.providers[0], keep_models=True)
    registry.override("zeta", read.overrides["zeta"])
    (model,) = registry.models("zeta")
    assert (model.name, model.source) == ("z-1", "models.json")


def test_flags_of_pi_have_their_name_here() -> None:
    compat = {"thinkingFormat": "deepseek", "forceAdaptiveThinking": True, "allowEmptySignature": True}
    (spec,) = read_models({"providers": {"p": {"baseUrl": "http://x", "authHeader": True, "compat": compat}}}).providers
    wanted = {"thinkingToggle": True, "thinking": "adaptive", "replaysUnsignedThinking": True, "bearerAuth": True}
    assert wanted.items() <= spec.compat.items()


def test_a_long_request_costs_its_tier() -> None:
    prices = Prices(input=1, output=2, cache_read=0.5, tiers=((100, Prices(input=2, output=4, cache_read=1)),))
    assert cost_of(Usage(input=50, cache_read=50, output=10), prices).cost == pytest.approx(95e-6)
    assert cost_of(Usage(input=51, cache_read=50, output=10), prices).cost == pytest.approx(192e-6)

"""Which model a person means, and how providers of one name lie on one another."""

from __future__ import annotations

import pytest

from zot_core.models.levels import clamp_level, level_word, levels_of
from zot_core.models.registry import ModelRegistry
from zot_core.types.failure import UsageError
from zot_core.types.specs import ApiFormat, ModelSpec, ProviderSpec

ACME = ProviderSpec(
    id="acme",
    api="openai-completions",
    base_url="https://acme.test/v1",
    env=("ACME_API_KEY",),
    headers={"x-a": "1"},
    compat={"flag": 1, "other": 1},
    models=(
        ModelSpec(id="big-2", provider="acme", name="Big Two"),
        ModelSpec(id="big-2-mini", provider="acme", api="other-format", compat={"flag": 2}),
        ModelSpec(id="vendor/small", provider="acme"),
    ),
    default_model="big-2-mini",
)
LOCAL = ProviderSpec(
    id="local",
    api="openai-completions",
    base_url="http://127.0.0.1:1/v1",
    keyless=True,
    models=(ModelSpec(id="llama3.1:8b", provider="local"), ModelSpec(id="big-2", provider="local")),
)
CUSTOM = ProviderSpec(id="custom", api="openai-completions", keyless=True)
SCRIPTED = ProviderSpec(
    id="scripted", keyless=True, models=(ModelSpec(id="scripted", provider="scripted"),), stream=lambda request: request
)


@pytest.fixture
def registry() -> ModelRegistry:
    one = ModelRegistry()
    one.add_providers(("built-in", spec) for spec in (ACME, LOCAL, CUSTOM, SCRIPTED))
    one.add_format(ApiFormat(name="openai-completions", build="x:y", parser="x:y"))
    one.add_format(ApiFormat(name="other-format", build="x:y", parser="x:y"))
    return one


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("", "big-2-mini", ("acme", "big-2-mini", None)),
        ("", "acme/big-2", ("acme", "big-2", None)),
        ("acme", "big-2", ("acme", "big-2", None)),
        ("local", "big-2", ("local", "big-2", None)),
        ("", "ACME/Big-2", ("acme", "big-2", None)),
        ("", "acme/big-2:high", ("acme", "big-2", "high")),
        ("", "mini:LOW", ("acme", "big-2-mini", "low")),
        ("", "llama3.1:8b", ("local", "llama3.1:8b", None)),
        ("", "llama3.1:8b:off", ("local", "llama3.1:8b", "off")),
        ("", "llama", ("local", "llama3.1:8b", None)),
        ("", "vendor/small", ("acme", "vendor/small", None)),
        ("acme", "vendor/small", ("acme", "vendor/small", None)),
        ("", "acme/vendor/small", ("acme", "vendor/small", None)),
        ("acme", "acme/big-2", ("acme", "big-2", None)),
        ("acme", "", ("acme", "big-2-mini", None)),
        ("local", "", ("local", "llama3.1:8b", None)),
        ("scripted", "", ("scripted", "scripted", None)),
        ("", "", ("acme", "big-2-mini", None)),
    ],
)
def test_what_words_mean(
    registry: ModelRegistry, provider: str, model: str, expected: tuple[str, str, str | None]
) -> None:
    found = registry.resolve(provider, model)
    assert (found.provider.id, found.model.id, found.level) == expected
    assert found.model.provider == found.provider.id


@pytest.mark.parametrize(
    ("provider", "model", "words"),
    [
        ("acmee", "", ["unknown provider 'acmee'", "did you mean acme?"]),
        ("", "bog-2", ["unknown model 'bog-2'; did you mean big-2?", "--list-models"]),
        ("", "acme/bog-2", ["unknown model 'acme/bog-2'; did you mean acme/big-2", "--list-models"]),
        ("acme", "llama3.1:8b", ["unknown model", "of provider 'acme'"]),
        ("", "big", ["fits several models", "acme/big-2", "acme/big-2-mini", "local/big-2"]),
        ("", "big-2", ["several providers", "acme/big-2", "local/big-2"]),
        ("", "big-2:huge", ["unknown model 'big-2:huge'"]),
    ],
)
def test_the_unknown_and_the_ambiguous_name_what_is_near(
    registry: ModelRegistry, provider: str, model: str, words: list[str]
) -> None:
    with pytest.raises(UsageError) as caught:
        registry.resolve(provider, model)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_of_two_providers_the_one_with_a_key_is_meant(registry: ModelRegistry) -> None:
    assert registry.resolve("", "big-2", usable=lambda spec: spec.keyless).provider.id == "local"
    assert registry.resolve("", "", usable=lambda spec: spec.keyless).provider.id == "local"


def test_the_scripted_provider_is_never_chosen_unasked() -> None:
    one = ModelRegistry()
    one.add_provider(SCRIPTED)
    one.add_provider(CUSTOM)
    with pytest.raises(UsageError, match="--provider"):
        one.resolve()


def test_a_base_url_takes_an_unknown_model_at_its_word(registry: ModelRegistry) -> None:
    found = registry.resolve("", "my-model:high", "http://127.0.0.1:9/v1")
    assert (found.provider.id, found.model.id, found.level) == ("custom", "my-model", "high")
    assert found.model.base_url == found.provider.base_url == "http://127.0.0.1:9/v1"
    assert found.model.api == "openai-completions"
    assert found.provider.keyless
    assert registry.resolve("acme", "new", "https://x.test/v1", "other-format").model.api == "other-format"
    assert registry.resolve("", "", "http://127.0.0.1:9").model.id == "default"
    assert registry.resolve("", "org/model", "http://127.0.0.1:9").model.id == "org/model"


def test_a_base_url_moves_a_known_model_and_a_local_one_needs_no_key(registry: ModelRegistry) -> None:
    moved = registry.resolve("acme", "big-2", "https://proxy.test")
    assert (moved.model.id, moved.model.base_url, moved.provider.keyless) == ("big-2", "https://proxy.test", False)
    assert registry.resolve("acme", "big-2", "http://localhost:8080").provider.keyless


def test_an_unknown_format_is_refused(registry: ModelRegistry) -> None:
    with pytest.raises(UsageError, match="openai-completions, other-format"):
        registry.resolve("acme", "", "", "nonsense")


def test_models_are_complete(registry: ModelRegistry) -> None:
    big, mini, _ = registry.models("acme")
    assert (big.api, big.base_url, big.headers) == ("openai-completions", "https://acme.test/v1", {"x-a": "1"})
    assert (big.compat, mini.compat) == ({"flag": 1, "other": 1}, {"flag": 2, "other": 1})
    assert (mini.api, mini.name) == ("other-format", "big-2-mini")


def test_a_layer_fills_what_it_leaves_open_from_below_and_goes_away_again(registry: ModelRegistry) -> None:
    before = registry.provider("acme")
    remove = registry.add_provider(ProviderSpec(id="acme", base_url="https://proxy.test", headers={"x-b": "2"}))
    changed = registry.provider("acme")
    assert changed is not None
    assert (changed.base_url, changed.env, dict(changed.headers)) == (
        "https://proxy.test",
        ("ACME_API_KEY",),
        {"x-a": "1", "x-b": "2"},
    )
    assert [model.base_url for model in registry.models("acme")] == ["https://proxy.test"] * 3
    remove()
    remove()
    assert registry.provider("acme") == before


def test_models_replace_those_below_or_are_added(registry: ModelRegistry) -> None:
    mine = ProviderSpec(
        id="acme", models=(ModelSpec(id="big-2", provider="acme", name="Mine"), ModelSpec(id="new", provider="acme"))
    )
    remove = registry.add_provider(mine)
    assert [model.id for model in registry.models("acme")] == ["big-2", "new"]
    remove()
    registry.add_provider(mine, owner="me", keep_models=True)
    assert [model.id for model in registry.models("acme")] == ["big-2-mini", "vendor/small", "big-2", "new"]
    assert registry.resolve("acme", "big-2").model.name == "Mine"
    registry.remove_provider("acme", "me")
    assert len(registry.models("acme")) == 3
    registry.remove_provider("nobody", "me")


def test_the_first_in_rank_lies_on_top() -> None:
    one = ModelRegistry()
    one.add_providers(
        [("user", ProviderSpec(id="x", base_url="http://a")), ("built-in", ProviderSpec(id="x", base_url="http://b"))]
    )
    spec = one.provider("x")
    assert spec is not None
    assert spec.base_url == "http://a"


def test_of_equal_formats_the_first_stays_and_the_second_comes_back() -> None:
    one = ModelRegistry()
    first, second = (ApiFormat(name="f", build=name, parser=name) for name in ("a:b", "c:d"))
    remove = one.add_format(first)
    one.add_format(second)
    assert one.format("f") is first
    remove()
    assert one.format("f") is second


def test_levels_are_clamped_to_the_model() -> None:
    plain = ModelSpec(id="a", provider="p")
    thinks = ModelSpec(id="b", provider="p", reasoning=True)
    holes = ModelSpec(
        id="c",
        provider="p",
        reasoning=True,
        thinking_levels={"off": None, "minimal": None, "low": None, "medium": None, "high": "hi", "max": "max"},
    )
    assert levels_of(plain) == ("off",)
    assert levels_of(thinks) == ("off", "minimal", "low", "medium", "high")
    assert levels_of(holes) == ("high", "max")
    assert [clamp_level(thinks, level) for level in ("off", "xhigh", "max")] == ["off", "high", "high"]
    assert [clamp_level(holes, level) for level in ("off", "xhigh", "max")] == ["high", "high", "max"]
    assert clamp_level(plain, "max") == "off"
    assert (level_word(holes, "high"), level_word(thinks, "low")) == ("hi", "low")

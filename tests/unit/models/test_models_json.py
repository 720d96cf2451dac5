"""A person's models.json, in the Go zot's and in pi's field names."""

from __future__ import annotations

from zot_core.models.models_json import specs_from_models_json
from zot_core.types.specs import Prices


def test_the_field_names_of_the_go_zot() -> None:
    data = {
        "providers": {
            "corp": {
                "api": "openai-completions",
                "baseUrl": "https://llm.corp.test/v1",
                "apiKey": "$CORP_KEY",
                "headers": {"x-team": "a"},
                "compat": {"supportsDeveloperRole": False},
                "models": [
                    {
                        "id": "m",
                        "name": "M",
                        "contextWindow": 200000,
                        "maxTokens": 8000,
                        "reasoning": True,
                        "input": ["text", "image"],
                        "priceInput": 1.5,
                        "priceOutput": 6,
                        "priceCacheRead": 0.1,
                    }
                ],
            }
        }
    }
    problems: list[str] = []
    (spec,) = specs_from_models_json(data, problems.append)
    (model,) = spec.models
    assert not problems
    assert (spec.id, spec.api, spec.base_url, spec.api_key, spec.keyless) == (
        "corp",
        "openai-completions",
        "https://llm.corp.test/v1",
        "$CORP_KEY",
        False,
    )
    assert (model.context_window, model.max_output, model.reasoning, model.inputs) == (
        200_000,
        8000,
        True,
        ("text", "image"),
    )
    assert model.prices == Prices(input=1.5, output=6, cache_read=0.1)


def test_the_field_names_of_pi() -> None:
    row = {
        "id": "qwen",
        "cost": {"input": 1, "output": 2, "cacheRead": 0.1, "cacheWrite": 0.2},
        "thinkingLevelMap": {"off": None, "max": "max", "nonsense": "x"},
        "samplingParams": {"top_p": 0.9},
        "compat": {"maxTokensField": "max_tokens"},
    }
    (spec,) = specs_from_models_json({"providers": {"local": {"baseUrl": "http://127.0.0.1:1", "models": [row]}}})
    (model,) = spec.models
    assert spec.keyless
    assert model.prices == Prices(input=1, output=2, cache_read=0.1, cache_write=0.2)
    assert model.thinking_levels == {"off": None, "max": "max"}
    assert model.compat == {"maxTokensField": "max_tokens", "extraBody": {"top_p": 0.9}}
    assert (model.context_window, model.max_output, model.inputs) == (128_000, 16_384, ("text",))


def test_what_is_wrong_is_named_and_costs_only_itself() -> None:
    problems: list[str] = []
    data = {
        "providers": {
            "a": {"baseUrl": 7, "models": [{"id": "ok", "contextWindow": "big", "reasoning": 1}, {"name": "no id"}, 3]},
            "b": [],
        }
    }
    (spec,) = specs_from_models_json(data, problems.append)
    assert [model.id for model in spec.models] == ["ok"]
    assert [problem.partition(":")[0] for problem in problems] == [
        "providers.a.baseUrl",
        "providers.a.models[0].contextWindow",
        "providers.a.models[0].reasoning",
        "providers.a.models[1]",
        "providers.a.models[2]",
        "providers.b",
    ]


def test_no_providers_is_nothing() -> None:
    problems: list[str] = []
    assert specs_from_models_json({}, problems.append) == specs_from_models_json(None, problems.append) == []
    assert not problems
    assert specs_from_models_json([1], problems.append) == []
    assert problems


def test_headers_that_are_no_texts_and_models_named_twice_are_told_and_left_out() -> None:
    rows = [{"id": "m", "name": "First"}, {"id": "m", "name": "Second"}]
    data = {"providers": {"a": {"headers": {"x": 7, "y": None, "z": ["a"], "t": "text"}, "models": rows}}}
    problems: list[str] = []
    (spec,) = specs_from_models_json(data, problems.append)
    assert dict(spec.headers) == {"x": "7", "t": "text"}
    assert [model.name for model in spec.models] == ["First"]
    assert [problem.partition(":")[0] for problem in problems] == [
        "providers.a.models[1]",
        "providers.a.headers.y",
        "providers.a.headers.z",
    ]

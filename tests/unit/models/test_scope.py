"""Patterns of `--models`: what they mean in a catalog."""

from __future__ import annotations

import pytest

from zot_core.models.scope import scope_of, unmatched_words
from zot_core.types.specs import ModelSpec

MODELS = [
    ModelSpec(id=name, provider=provider)
    for provider, name in (
        ("anthropic", "claude-opus-4"),
        ("anthropic", "claude-haiku-4"),
        ("openai", "gpt-5"),
        ("openai", "gpt-5-mini"),
        ("router", "anthropic/claude-opus-4"),
        ("ollama", "qwen3:8b"),
        ("ollama", "odd:high"),
        ("scripted", "gpt-play"),
    )
]


def named(*patterns: str) -> list[str]:
    found, unmatched = scope_of(patterns, MODELS, lambda model: model.provider == "scripted")
    assert not unmatched
    return [one.name + (f" {one.level}" if one.level else "") for one in found]


@pytest.mark.parametrize(
    ("patterns", "meant"),
    [
        (["gpt-5"], ["openai/gpt-5"]),
        (["GPT-5"], ["openai/gpt-5"]),
        (["gpt-*"], ["openai/gpt-5", "openai/gpt-5-mini"]),
        (["gpt-5?mini"], ["openai/gpt-5-mini"]),
        (["anthropic/*:high"], ["anthropic/claude-opus-4 high", "anthropic/claude-haiku-4 high"]),
        (["router/*"], ["router/anthropic/claude-opus-4"]),
        (["*opus*"], ["anthropic/claude-opus-4", "router/anthropic/claude-opus-4"]),
        (["qwen3:8b"], ["ollama/qwen3:8b"]),
        (["qwen3:8b:low"], ["ollama/qwen3:8b low"]),
        (["ollama/odd:high"], ["ollama/odd:high"]),
        (["scripted/*"], ["scripted/gpt-play"]),
        (["gpt-play"], ["scripted/gpt-play"]),
    ],
)
def test_a_pattern_means(patterns: list[str], meant: list[str]) -> None:
    assert named(*patterns) == meant


def test_the_order_is_that_of_the_patterns_and_the_first_pins() -> None:
    assert named("gpt-5-mini:low", "openai/*:high", "claude-haiku-4") == [
        "openai/gpt-5-mini low",
        "openai/gpt-5 high",
        "anthropic/claude-haiku-4",
    ]


def test_what_means_nothing_is_said_with_what_is_near() -> None:
    found, unmatched = scope_of(["gpt-6-mini", "gpt-5", "zzz*"], MODELS)
    assert [one.name for one in found] == ["openai/gpt-5"]
    assert unmatched == ["gpt-6-mini", "zzz*"]
    assert unmatched_words("gpt-6-mini", MODELS) == "no model fits 'gpt-6-mini'; did you mean gpt-5-mini?"


def test_a_bracket_that_is_not_closed_is_a_letter() -> None:
    assert scope_of(["[gpt"], MODELS) == ([], ["[gpt"])

"""OpenAI's models. Prices in US dollars per million tokens, of the standard tier.

From GPT-5.6 on tools and reasoning go together through the Responses API alone, so these models speak
`openai-responses`. Above 272,000 input tokens the 5.6 and 6 families cost twice the input and 1.5 times the output
price; the windows given here stay below (they take 1,050,000).
"""

from __future__ import annotations

from zot_core.types.specs import Json, ModelSpec, Prices

_TO_MAX: Json = {"off": "none", "minimal": None, "xhigh": "xhigh", "max": "max"}
_ALWAYS_TO_MAX: Json = {**_TO_MAX, "off": None}
_FAST: Json = {"serviceTierPrices": {"priority": 2.0, "fast": 2.0}}
_FAST_AND_FLEX: Json = {"serviceTierPrices": {"priority": 2.0, "fast": 2.0, "flex": 0.5}}


def _model(model_id: str, name: str, prices: Prices, levels: Json = _TO_MAX, compat: Json | None = None) -> ModelSpec:
    return ModelSpec(
        id=model_id,
        provider="openai",
        name=name,
        api="openai-responses",
        context_window=272_000,
        max_output=128_000,
        inputs=("text", "image"),
        reasoning=True,
        thinking_levels=levels,
        prices=prices,
        compat=compat or {},
    )


MODELS = (
    # https://developers.openai.com/api/docs/models/gpt-6.2-sol (2026-11): limits, levels, prices, fast mode twice
    _model(
        "gpt-6.2-sol",
        "GPT-6.2 Sol",
        Prices(input=2.0, output=10.0, cache_read=0.1, cache_write=2.5),
        _ALWAYS_TO_MAX,
        _FAST,
    ),
    # https://developers.openai.com/api/docs/models (2026-11): limits, levels, input and output; cache prices as quoted
    # from the price list by https://github.com/iyulab/TokenMeter/releases/tag/v0.17.0
    _model(
        "gpt-6.2-astra",
        "GPT-6.2 Astra",
        Prices(input=8.0, output=40.0, cache_read=0.4, cache_write=10.0),
        _ALWAYS_TO_MAX,
        _FAST,
    ),
    # https://developers.openai.com/api/docs/models/gpt-6.1-sol as quoted on 2026-09-30 by
    # https://github.com/amine123max/Codex-Manager/releases/tag/0.4.7; cache writes: docs.apiyi.com, gpt-6-1-sol-launch
    _model(
        "gpt-6.1-sol",
        "GPT-6.1 Sol",
        Prices(input=2.0, output=10.0, cache_read=0.1, cache_write=2.5),
        _ALWAYS_TO_MAX,
        _FAST_AND_FLEX,
    ),
    # https://developers.openai.com/api/docs/models (2026-11): levels, input and output; cache prices of 2026-10-26 as
    # quoted by https://github.com/TheKrush/PromptFuel/releases/tag/v1.0.24
    _model("gpt-6.1-terra", "GPT-6.1 Terra", Prices(input=1.0, output=5.0, cache_read=0.05, cache_write=1.25)),
    # https://developers.openai.com/api/docs/models/gpt-6-astra as quoted on 2026-09-05 by
    # https://github.com/prefect12/codex-token-meter/releases/tag/v0.2.22 (prices) and dev.to/aakira (levels, tiers)
    _model(
        "gpt-6-astra",
        "GPT-6 Astra",
        Prices(input=10.0, output=50.0, cache_read=1.0, cache_write=12.5),
        _ALWAYS_TO_MAX,
        _FAST_AND_FLEX,
    ),
    # https://developers.openai.com/api/docs/models/gpt-6-sol (2026-11): limits, levels, prices
    _model("gpt-6-sol", "GPT-6 Sol", Prices(input=2.0, output=10.0, cache_read=0.2, cache_write=2.5)),
    # Limits and levels: https://docs.litellm.ai/blog/gpt_6_sol_luna (2026-09-22). Prices: OpenAI's price list of
    # 2026-09-22 as quoted by https://github.com/merefield/codexometer/releases/tag/v0.18.4
    _model("gpt-6-luna", "GPT-6 Luna", Prices(input=0.1, output=0.5, cache_read=0.01, cache_write=0.125)),
    # https://developers.openai.com/api/docs/models/gpt-5.6-terra (prices since 2026-07-30; cache writes 1.25 x input)
    _model("gpt-5.6-terra", "GPT-5.6 Terra", Prices(input=2.0, output=12.0, cache_read=0.2, cache_write=2.5)),
    # Prices: pydantic/genai-prices, prices/providers/openai.yml (checked 2025-11-13). Shut down on 2027-04-01
    ModelSpec(
        id="gpt-5.1",
        provider="openai",
        name="GPT-5.1",
        context_window=400_000,
        max_output=128_000,
        inputs=("text", "image"),
        reasoning=True,
        thinking_levels={"off": "none", "minimal": None},
        prices=Prices(input=1.25, output=10.0, cache_read=0.125),
    ),
)

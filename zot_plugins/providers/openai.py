"""OpenAI's models that Chat Completions serves together with tools. Prices in US dollars per million tokens.

GPT-5.6 and GPT-6 refuse tools with any reasoning there ("use /v1/responses or set reasoning_effort to 'none'"), so with
tools they are asked for none. GPT-6 Astra, GPT-6.1 and GPT-6.2 take tools through the Responses API alone and are
not listed here. Above 272,000 input tokens the 5.6 and 6 families cost twice the input and 1.5 times the output
price; the windows given here stay below. Prices are those of the standard tier.
"""

from __future__ import annotations

from zot_core.types.specs import ModelSpec, Prices

_NO_REASONING_WITH_TOOLS = {"reasoningEffortWithTools": "none"}
_LEVELS = {"off": "none", "minimal": None, "xhigh": "xhigh", "max": "max"}

MODELS = (
    # Window, limit, levels: https://docs.litellm.ai/blog/gpt_6_sol_luna (2026-09-22). Prices: OpenAI's price list of
    # 2026-09-22 as quoted by https://github.com/merefield/codexometer/releases/tag/v0.18.4
    ModelSpec(
        id="gpt-6-sol",
        provider="openai",
        name="GPT-6 Sol",
        context_window=272_000,
        max_output=128_000,
        inputs=("text", "image"),
        reasoning=True,
        thinking_levels=_LEVELS,
        prices=Prices(input=2.0, output=10.0, cache_read=0.2, cache_write=2.5),
        compat=_NO_REASONING_WITH_TOOLS,
    ),
    ModelSpec(
        id="gpt-6-luna",
        provider="openai",
        name="GPT-6 Luna",
        context_window=272_000,
        max_output=128_000,
        inputs=("text", "image"),
        reasoning=True,
        thinking_levels=_LEVELS,
        prices=Prices(input=0.1, output=0.5, cache_read=0.01, cache_write=0.125),
        compat=_NO_REASONING_WITH_TOOLS,
    ),
    # https://developers.openai.com/api/docs/models/gpt-5.6-terra (prices since 2026-07-30; cache writes 1.25 x input)
    ModelSpec(
        id="gpt-5.6-terra",
        provider="openai",
        name="GPT-5.6 Terra",
        context_window=272_000,
        max_output=128_000,
        inputs=("text", "image"),
        reasoning=True,
        thinking_levels=_LEVELS,
        prices=Prices(input=2.0, output=12.0, cache_read=0.2, cache_write=2.5),
        compat=_NO_REASONING_WITH_TOOLS,
    ),
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

"""Google's Gemini models. Prices in US dollars per million tokens, of the standard tier; thinking is billed as output.

The window is shared by input, thinking and output. None of these can be told not to think, and none takes a budget in
tokens: their levels are words.
"""

from __future__ import annotations

from zot_core.types.specs import Json, ModelSpec, Prices

_TO_HIGH: Json = {"off": None, "minimal": None}
_TO_XHIGH: Json = {**_TO_HIGH, "xhigh": "xhigh"}


def _model(model_id: str, name: str, prices: Prices, levels: Json) -> ModelSpec:
    return ModelSpec(
        id=model_id,
        provider="google",
        name=name,
        context_window=1_048_576,
        max_output=65_536,
        inputs=("text", "image"),
        reasoning=True,
        thinking_levels=levels,
        prices=prices,
        # From Gemini 3 on: https://ai.google.dev/gemini-api/docs/thought-signatures, and multimodal function responses
        # (https://docs.cloud.google.com/vertex-ai/generative-ai/docs/models/gemini/3-flash)
        compat={"requiresThoughtSignature": True, "supportsMultimodalFunctionResponse": True},
    )


MODELS = (
    # Limits, levels and prices: https://apidog.com/blog/gemini-4-neon-api/ (2026-11-19), after Google's documentation
    _model("gemini-4-neon", "Gemini 4 Neon", Prices(input=3.0, output=15.0, cache_read=0.15), _TO_XHIGH),
    # Levels and prices: https://github.com/BerriAI/litellm/discussions/51436; cached input as quoted from the price
    # list by https://github.com/iyulab/TokenMeter/releases/tag/v0.17.0 (2026-11)
    _model("gemini-4-hydrogen", "Gemini 4 Hydrogen", Prices(input=1.5, output=7.5, cache_read=0.075), _TO_XHIGH),
    # https://ai.google.dev/gemini-api/docs/generate-content/latest-model (limits, levels, prices from 2026-12-01, half
    # of them before); cached input: https://github.com/BerriAI/litellm/discussions/46238
    _model("gemini-4-argon", "Gemini 4 Argon", Prices(input=4.0, output=20.0, cache_read=0.2), _TO_HIGH),
    # Prices until 2026-12-31, double after: https://github.com/BerriAI/litellm/discussions/39357; levels:
    # https://github.com/simonw/llm-gemini/releases/tag/0.34
    _model("gemini-3.8-flash", "Gemini 3.8 Flash", Prices(input=0.75, output=3.75, cache_read=0.075), _TO_HIGH),
)

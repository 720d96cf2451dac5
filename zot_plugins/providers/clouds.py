"""Models of vendors as two clouds serve them: Anthropic's on Amazon Bedrock and Vertex AI, Google's on Vertex AI.

Windows, limits, levels and prices are the vendor's (anthropic.py, google.py). Prices are those of the global endpoints,
which ask no premium; regional ones cost a tenth more from Claude 4.5 on: docs.claude.com, "Claude on Vertex AI" and
"Claude on Amazon Bedrock", global versus regional endpoints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from zot_core.types.specs import ModelSpec
from zot_plugins.providers.anthropic import MODELS as ANTHROPIC
from zot_plugins.providers.google import MODELS as GOOGLE

# Inference profiles, which on-demand use needs: docs.aws.amazon.com/bedrock/latest/userguide, the model cards of Opus
# 5.5 and Haiku 4.5 (2026-11); dev.classmethod.jp/en/articles/bedrock-claude-opus-5-5 (list-inference-profiles of
# 2026-09-23); @ai-sdk/amazon-bedrock 4.0.186, 4.0.192 and 3.0.145 for Sonnet 5.5, Haiku 5.5 and Fable 5.2. Ids have no
# date from Opus 4.6 on
_DATED_BEDROCK = {"claude-haiku-4-5": "claude-haiku-4-5-20251001-v1:0"}
# platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai, API model IDs (2026-11); Fable 5.2, Sonnet 5.5 and
# Haiku 5.5: @ai-sdk/google-vertex, releases of 2026-09-28 to 2026-11-09
_DATED_VERTEX = {"claude-haiku-4-5": "claude-haiku-4-5@20251001"}
# Version: the same page. Vertex takes betas as a header, and the one for preserved thinking among them. Tool references
# need another beta there (tool-search-tool-2025-10-19) than with Anthropic itself
_MESSAGES: Mapping[str, Any] = {
    "path": "publishers/anthropic/models/{model}:streamRawPredict",
    "bodyVersion": "vertex-2023-10-16",
    "supportsToolReferences": False,
}


def _bedrock(model: ModelSpec) -> ModelSpec:
    name = _DATED_BEDROCK.get(model.id, model.id)
    return replace(model, id=f"global.anthropic.{name}", provider="amazon-bedrock")


def _vertex(model: ModelSpec) -> ModelSpec:
    return replace(
        model,
        id=_DATED_VERTEX.get(model.id, model.id),
        provider="google-vertex",
        api="anthropic-messages",
        compat={**model.compat, **_MESSAGES},
    )


BEDROCK = tuple(_bedrock(model) for model in ANTHROPIC)
# vercel.com/ai-gateway/models/google/gemini-4-neon.md (served by vertex, 2026-11) and @ai-sdk/google-vertex 5.0.143
VERTEX = (*(replace(model, provider="google-vertex") for model in GOOGLE), *(_vertex(model) for model in ANTHROPIC))

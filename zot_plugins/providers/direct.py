"""Models of vendors that serve their own over Chat Completions. Prices are in prices.py, which is generated.

Windows: genai-prices 0.2.3 (2026-11). The page behind output limits, levels and pictures stands at each model.
"""

from __future__ import annotations

from zot_core.types.specs import Json, ModelSpec
from zot_plugins.providers.rows import model

_THREE: Json = {"off": None, "minimal": None, "medium": None, "max": "max"}
_SWITCH: Json = {"minimal": None, "low": None, "medium": None, "high": "high"}
_SWITCH_TO_MAX: Json = {**_SWITCH, "max": "max"}
_ALWAYS: Json = {"off": None, "minimal": None}
_ON_OR_OFF: Json = {"thinkingToggle": True, "supportsReasoningEffort": False}

KIMI: tuple[ModelSpec, ...] = (
    # Always think, at low, high or max; sst/models.dev kimi-k3.toml and platform.kimi.ai/docs/api/chat (2026-10-07),
    # 131,072 of the 1,048,576 tokens of output that it takes; K3.1 has the constraints of K3 (dev.to/aihubmix, 2026-10)
    model("kimi", "kimi-k3.1-pro", "Kimi K3.1 Pro", 1_048_576, 131_072, levels=_THREE, sees=True),
    model("kimi", "kimi-k3", "Kimi K3", 1_048_576, 131_072, levels=_THREE, sees=True),
    # Thinks always, without levels; withdrawn at the end of December 2026 (dev.to/aihubmix, 2026-10)
    model(
        "kimi",
        "kimi-k2.7-code",
        "Kimi K2.7 Code",
        262_144,
        32_768,
        levels={"off": None, "minimal": None, "low": None, "medium": None},
        compat={"supportsReasoningEffort": False},
    ),
)

DEEPSEEK: tuple[ModelSpec, ...] = (
    # thinking enabled or disabled, effort high or max, 384K of output: github.com/arikusi/deepseek-mcp-server v2.0.0
    # (2026-06-22), deepseek-ai/deepseek-harness packages/llm/llm-deepseek. Pictures: V4.1 Flash takes them
    # (developer.mittwald.de, deepseek-v4-1-flash-1017). Prices of the peak hours, off-peak is half
    model(
        "deepseek",
        "deepseek-v4-pro",
        "DeepSeek V4 Pro",
        1_000_000,
        384_000,
        levels=_SWITCH_TO_MAX,
        compat={"thinkingToggle": True},
    ),
    model(
        "deepseek",
        "deepseek-flash",
        "DeepSeek V4.1 Flash",
        1_000_000,
        262_144,
        levels=_SWITCH_TO_MAX,
        sees=True,
        compat={"thinkingToggle": True},
    ),
)

ZAI: tuple[ModelSpec, ...] = (
    # Always thinks, at low, high or max; 131,072 of output: dev.to/aihubmix, GLM-5.3 API guide (2026-08-14)
    model("zai", "glm-5.3", "GLM-5.3", 1_048_576, 131_072, levels=_THREE),
    # As GLM-5.3 (docs.together.ai/docs/glm-5.3-quickstart)
    model("zai", "glm-5.3-flash", "GLM-5.3 Flash", 1_048_576, 131_072, levels=_THREE),
    # Thinking can be switched off: the migration notes of the same guide
    model("zai", "glm-5.2", "GLM-5.2", 1_000_000, 131_072, levels=_SWITCH, compat=_ON_OR_OFF),
)

XAI: tuple[ModelSpec, ...] = (
    # Levels low, medium, high, pictures: docs.litellm.ai/docs/providers/xai (2026-10-09) for Grok 4.5; 4.6 and 4.7 are
    # taken to be alike. No output limit is published: 128,000 is asked for at most
    model("xai", "grok-4.7", "Grok 4.7", 500_000, 128_000, levels=_ALWAYS, sees=True),
    model("xai", "grok-4.6", "Grok 4.6", 500_000, 128_000, levels=_ALWAYS, sees=True),
    # none, low, medium, high: @ai-sdk/xai 3.0.97
    model("xai", "grok-4.3", "Grok 4.3", 1_000_000, 128_000, levels={"off": "none", "minimal": None}, sees=True),
)

MISTRAL: tuple[ModelSpec, ...] = (
    # vercel.com/ai-gateway/models/mistral/mistral-large-4.md (window, output), dev.to/antoine_laurentt (2026-10: text
    # and pictures, reasoning blocks). Mistral's efforts are none and high
    model(
        "mistral",
        "mistral-large-4",
        "Mistral Large 4",
        1_048_576,
        262_144,
        levels={**_SWITCH, "off": "none"},
        sees=True,
    ),
    # Windows and prices: genai-prices; whether they think is left to models.json
    model("mistral", "mistral-medium-3-5", "Mistral Medium 3.5", 262_144, 32_768, sees=True),
    model("mistral", "mistral-small-2603", "Mistral Small 4", 262_144, 32_768, sees=True),
)

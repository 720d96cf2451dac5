"""Models of hosts that serve what others made. Prices are in prices.py, which is generated.

Windows: genai-prices 0.2.3 (2026-11). Output limits that no page names are 32,768, which all of these take. A host has
many more: `zot --list-models` asks it for them.
"""

from __future__ import annotations

from zot_core.types.specs import Json, ModelSpec
from zot_plugins.providers.rows import model

# GPT-OSS thinks always, at low, medium or high: docs.rs/crate/harn-vm/0.8.113, 80-cerebras.toml
_OSS: Json = {"off": None, "minimal": None}
# Kimi K3, GLM 5.3: see direct.py
_THREE: Json = {"off": None, "minimal": None, "medium": None, "max": "max"}
# OpenRouter's words for efforts, mapped by it to what each model has
_ROUTED: Json = {"off": None, "minimal": None, "xhigh": "xhigh"}
_WINDOW = 1_048_576

OPENROUTER: tuple[ModelSpec, ...] = (
    model("openrouter", "anthropic/claude-opus-5.5", "Claude Opus 5.5", 1_000_000, 128_000, levels=_ROUTED, sees=True),
    model(
        "openrouter", "anthropic/claude-sonnet-5.5", "Claude Sonnet 5.5", 1_000_000, 128_000, levels=_ROUTED, sees=True
    ),
    model("openrouter", "openai/gpt-6.1-sol", "GPT-6.1 Sol", 272_000, 128_000, levels=_ROUTED, sees=True),
    model("openrouter", "google/gemini-4-argon", "Gemini 4 Argon", _WINDOW, 65_536, levels=_OSS, sees=True),
    model("openrouter", "moonshotai/kimi-k3.1-pro", "Kimi K3.1 Pro", _WINDOW, 131_072, levels=_ROUTED, sees=True),
    model("openrouter", "z-ai/glm-5.3", "GLM 5.3", _WINDOW, 131_072, levels=_THREE),
    model(
        "openrouter", "deepseek/deepseek-v4.1-flash", "DeepSeek V4.1 Flash", _WINDOW, 131_072, levels=_OSS, sees=True
    ),
    model("openrouter", "x-ai/grok-4.7", "Grok 4.7", 500_000, 128_000, levels=_OSS, sees=True),
)

GROQ: tuple[ModelSpec, ...] = (
    model("groq", "openai/gpt-oss-120b", "GPT OSS 120B", 131_072, 32_768, levels=_OSS),
    model("groq", "openai/gpt-oss-20b", "GPT OSS 20B", 131_072, 32_768, levels=_OSS),
    # Efforts none and default: console.groq.com/docs/reasoning, for Groq's Qwen 3 models
    model(
        "groq",
        "qwen/qwen3.8-27b",
        "Qwen 3.8 27B",
        131_072,
        32_768,
        levels={"off": "none", "minimal": None, "low": None, "medium": None, "high": "default"},
    ),
)

CEREBRAS: tuple[ModelSpec, ...] = (
    model("cerebras", "gpt-oss-120b", "GPT OSS 120B", 131_072, 32_768, levels=_OSS),
    model("cerebras", "qwen-3.8-27b", "Qwen 3.8 27B", 65_536, 32_768),
)

TOGETHER: tuple[ModelSpec, ...] = (
    model("together", "moonshotai/Kimi-K3.1-Pro", "Kimi K3.1 Pro", _WINDOW, 131_072, levels=_THREE, sees=True),
    # low, medium, high, max; never off: docs.together.ai/docs/glm-5.3-quickstart
    model("together", "zai-org/GLM-5.3", "GLM 5.3", _WINDOW, 131_072, levels={**_OSS, "max": "max"}),
    model("together", "openai/gpt-oss-120b", "GPT OSS 120B", 131_072, 32_768, levels=_OSS),
)

_FIREWORKS = "accounts/fireworks/models/"
FIREWORKS: tuple[ModelSpec, ...] = (
    model("fireworks", f"{_FIREWORKS}kimi-k3p1-pro", "Kimi K3.1 Pro", _WINDOW, 131_072, levels=_THREE, sees=True),
    model("fireworks", f"{_FIREWORKS}glm-5p3", "GLM 5.3", _WINDOW, 131_072, levels=_THREE),
    model("fireworks", f"{_FIREWORKS}gpt-oss-120b", "GPT OSS 120B", 131_072, 32_768, levels=_OSS),
)

# The router chooses who serves a model, and so what it costs: no prices
HUGGINGFACE: tuple[ModelSpec, ...] = (
    model("huggingface", "moonshotai/Kimi-K3", "Kimi K3", _WINDOW, 131_072, levels=_THREE, sees=True),
    model("huggingface", "zai-org/GLM-5.3", "GLM 5.3", _WINDOW, 131_072, levels=_THREE),
    model("huggingface", "openai/gpt-oss-120b", "GPT OSS 120B", 131_072, 32_768, levels=_OSS),
)

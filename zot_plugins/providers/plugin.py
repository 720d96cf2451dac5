"""Brings the providers that are data over a wire format; their catalogs are imported when a model is looked up."""

from __future__ import annotations

from zot_core import hookimpl
from zot_core.types.specs import ProviderSpec


@hookimpl
def providers() -> list[ProviderSpec]:
    """Anthropic, Google, OpenAI, and `custom`: any compatible server, named with `--base-url`."""
    return [
        ProviderSpec(
            id="anthropic",
            name="Anthropic",
            api="anthropic-messages",
            base_url="https://api.anthropic.com",
            env=("ANTHROPIC_API_KEY",),
            models="zot_plugins.providers.anthropic:MODELS",
            default_model="claude-opus-5-5",
        ),
        ProviderSpec(
            id="google",
            name="Google",
            api="google-generative-ai",
            base_url="https://generativelanguage.googleapis.com/v1beta",
            env=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            models="zot_plugins.providers.google:MODELS",
            default_model="gemini-4-neon",
        ),
        ProviderSpec(
            id="openai",
            name="OpenAI",
            api="openai-completions",
            base_url="https://api.openai.com/v1",
            env=("OPENAI_API_KEY",),
            models="zot_plugins.providers.openai:MODELS",
            default_model="gpt-6.2-sol",
            compat={
                "supportsDeveloperRole": True,
                "maxTokensField": "max_completion_tokens",
                "supportsPromptCacheKey": True,
                "supportsStore": True,
            },
        ),
        # A server of one's own may want no key, and OpenAI's is none of its business: --api-key or auth.json give one
        ProviderSpec(id="custom", name="Any compatible server", api="openai-completions", keyless=True),
    ]

"""Where models are served: address, format, the variables of the key, and how a server differs from its format.

Their order is the one in which a provider is chosen when nobody named one: the vendors whose formats zot speaks, other
vendors, hosts, those that need more than a key. Local servers are last and are never chosen unasked, because their
models are not known before they are asked.
"""

from __future__ import annotations

import os
from typing import Any

from zot_core.types.specs import ProviderSpec

CHAT = "openai-completions"
# Body: docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html;
# path: botocore 1.44.8's model of bedrock-runtime. `mismatch_behavior`: @ai-sdk/amazon-bedrock 5.0.83, whose notes
# quote how Anthropic's own name is refused. Tool references stand in no document of InvokeModel
BEDROCK: dict[str, Any] = {
    "path": "model/{model}/invoke-with-response-stream",
    "bodyVersion": "bedrock-2023-05-31",
    "betasInBody": True,
    "streamField": False,
    "bearerAuth": True,
    "bindingField": "mismatch_behavior",
    "supportsToolReferences": False,
    "listsModels": False,
}
# docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference
VERTEX: dict[str, Any] = {
    "path": "publishers/google/models/{model}:streamGenerateContent?alt=sse",
    "bearerAuth": True,
    "listsModels": False,
}


def _chat(provider_id: str, name: str, base_url: str, *env: str, **more: Any) -> ProviderSpec:
    return ProviderSpec(id=provider_id, name=name, api=CHAT, base_url=base_url, env=env, **more)


def endpoints() -> list[ProviderSpec]:
    """All of them; those of Azure and of local servers may be moved by an environment variable."""
    return [*_vendors(), *_others(), *_hosts(), _azure(), _github(), *_clouds(), *_local()]


def _vendors() -> list[ProviderSpec]:
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
        _chat(
            "openai",
            "OpenAI",
            "https://api.openai.com/v1",
            "OPENAI_API_KEY",
            models="zot_plugins.providers.openai:MODELS",
            default_model="gpt-6.2-sol",
            compat={
                "supportsDeveloperRole": True,
                "maxTokensField": "max_completion_tokens",
                "supportsPromptCacheKey": True,
                "supportsStore": True,
            },
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
    ]


def _others() -> list[ProviderSpec]:
    catalog = "zot_plugins.providers.direct"
    return [
        _chat(
            "kimi",
            "Kimi (Moonshot AI)",
            "https://api.moonshot.ai/v1",
            "KIMI_API_KEY",
            "MOONSHOT_API_KEY",
            models=f"{catalog}:KIMI",
            default_model="kimi-k3.1-pro",
            compat={"maxTokensField": "max_completion_tokens"},
        ),
        _chat(
            "deepseek",
            "DeepSeek",
            "https://api.deepseek.com/v1",
            "DEEPSEEK_API_KEY",
            models=f"{catalog}:DEEPSEEK",
            default_model="deepseek-v4-pro",
        ),
        _chat(
            "zai",
            "Z.AI",
            "https://api.z.ai/api/paas/v4",
            "ZAI_API_KEY",
            models=f"{catalog}:ZAI",
            default_model="glm-5.3",
        ),
        _chat("xai", "xAI", "https://api.x.ai/v1", "XAI_API_KEY", models=f"{catalog}:XAI", default_model="grok-4.7"),
        _chat(
            "mistral",
            "Mistral",
            "https://api.mistral.ai/v1",
            "MISTRAL_API_KEY",
            models=f"{catalog}:MISTRAL",
            default_model="mistral-large-4",
            # Ids of exactly nine letters and digits; thinking comes in the content, and is not taken back in a field
            compat={"callIdLength": 9, "supportsUsageInStreaming": False, "replaysReasoning": False},
        ),
    ]


def _hosts() -> list[ProviderSpec]:
    catalog = "zot_plugins.providers.hosts"
    no_replay = {"replaysReasoning": False}
    return [
        _chat(
            "openrouter",
            "OpenRouter",
            "https://openrouter.ai/api/v1",
            "OPENROUTER_API_KEY",
            models=f"{catalog}:OPENROUTER",
            default_model="anthropic/claude-opus-5.5",
            compat={"reasoningObject": True, **no_replay},
            oauth="zot_plugins.providers.openrouter:LOGIN",
            probe="key",  # its models are listed for anybody
        ),
        _chat(
            "groq",
            "Groq",
            "https://api.groq.com/openai/v1",
            "GROQ_API_KEY",
            models=f"{catalog}:GROQ",
            default_model="openai/gpt-oss-120b",
            compat=no_replay,
        ),
        _chat(
            "cerebras",
            "Cerebras",
            "https://api.cerebras.ai/v1",
            "CEREBRAS_API_KEY",
            models=f"{catalog}:CEREBRAS",
            default_model="gpt-oss-120b",
            compat={"maxTokensField": "max_completion_tokens", **no_replay},
        ),
        _chat(
            "together",
            "Together AI",
            "https://api.together.xyz/v1",
            "TOGETHER_API_KEY",
            models=f"{catalog}:TOGETHER",
            default_model="moonshotai/Kimi-K3.1-Pro",
        ),
        _chat(
            "fireworks",
            "Fireworks AI",
            "https://api.fireworks.ai/inference/v1",
            "FIREWORKS_API_KEY",
            models=f"{catalog}:FIREWORKS",
            default_model="accounts/fireworks/models/kimi-k3p1-pro",
        ),
        _chat(
            "huggingface",
            "Hugging Face",
            "https://router.huggingface.co/v1",
            "HF_TOKEN",
            models=f"{catalog}:HUGGINGFACE",
            default_model="moonshotai/Kimi-K3",
            probe="https://huggingface.co/api/whoami-v2",
        ),
    ]


def _azure() -> ProviderSpec:
    """Deployments have names of the person's own, and no list: every name is taken. Without a version, or with `v1`, it
    is the API without versions; with a dated one the deployment stands in the path."""
    place = os.environ.get("AZURE_OPENAI_ENDPOINT", "").strip().rstrip("/")
    version = os.environ.get("AZURE_OPENAI_API_VERSION", "").strip()
    dated = version not in ("", "v1")
    compat: dict[str, Any] = {
        "keyHeader": "api-key",
        "maxTokensField": "max_completion_tokens",
        "supportsDeveloperRole": True,
        "listsModels": False,
    }
    if dated:
        compat["path"] = f"openai/deployments/{{model}}/chat/completions?api-version={version}"
    elif place:
        place = f"{place}/openai/v1"
    return _chat("azure", "Azure OpenAI", place, "AZURE_OPENAI_API_KEY", compat=compat)


def _github() -> ProviderSpec:
    # Not GITHUB_TOKEN: that one is around for other reasons, and code must not leave because of it
    return _chat(
        "github",
        "GitHub Models",
        "https://models.github.ai/inference",
        "GITHUB_MODELS_TOKEN",
        discover="zot_plugins.providers.github:discover",
        probe="https://api.github.com/user",
        compat={"versionlessPath": True},
    )


def _clouds() -> list[ProviderSpec]:
    """Whose requests are signed, or whose tokens come from a person's own tools: what is in braces in their addresses
    is filled in with that. Such credentials are around for other reasons too, so neither is chosen unasked."""
    return [
        ProviderSpec(
            id="amazon-bedrock",
            name="Amazon Bedrock",
            api="anthropic-messages",
            base_url="https://bedrock-runtime.{region}.amazonaws.com",
            env=("AWS_BEARER_TOKEN_BEDROCK",),
            # Without the id of the key too: AWS's own tools take half a credential for a mistake
            secret_env=("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN"),
            headers={"accept": "application/vnd.amazon.eventstream", "x-amzn-bedrock-accept": "application/json"},
            models="zot_plugins.providers.clouds:BEDROCK",
            default_model="global.anthropic.claude-opus-5-5",
            compat=BEDROCK,
            authorize="zot_plugins.providers.bedrock:authorize",
            signs="zot_plugins.providers.bedrock:signs",
            named_only=True,
        ),
        ProviderSpec(
            id="google-vertex",
            name="Google Vertex AI",
            api="google-generative-ai",
            base_url="https://{endpoint}/v1/projects/{project}/locations/{location}",
            models="zot_plugins.providers.clouds:VERTEX",
            default_model="gemini-4-neon",
            compat=VERTEX,
            authorize="zot_plugins.providers.vertex:authorize",
            signs="zot_plugins.providers.vertex:signs",
            named_only=True,
        ),
    ]


def _local() -> list[ProviderSpec]:
    unknown = {"supportsReasoningEffort": False}
    return [
        _server(
            "ollama", "Ollama", "OLLAMA_HOST", 11434, "OLLAMA_API_KEY", discover="zot_plugins.providers.local:ollama"
        ),
        # Its own variable for that: lmstudio.ai/docs/developer/core/authentication
        _server(
            "lmstudio",
            "LM Studio",
            "LMSTUDIO_HOST",
            1234,
            "LM_API_TOKEN",
            discover="zot_plugins.providers.local:lmstudio",
        ),
        # What llama-server itself reads for --api-key: github.com/ggml-org/llama.cpp, tools/server/README.md
        _server("llamacpp", "llama.cpp", "LLAMACPP_HOST", 8080, "LLAMA_API_KEY", compat=unknown),
        _server("vllm", "vLLM", "VLLM_HOST", 8000, "VLLM_API_KEY"),
    ]


def _server(provider_id: str, name: str, variable: str, port: int, *env: str, **more: Any) -> ProviderSpec:
    given = os.environ.get(variable, "").strip().rstrip("/").replace("0.0.0.0", "127.0.0.1")
    if given and "://" not in given:
        given = f"http://{given}" if ":" in given else f"http://{given}:{port}"
    return _chat(provider_id, name, given or f"http://127.0.0.1:{port}", *env, keyless=True, **more)

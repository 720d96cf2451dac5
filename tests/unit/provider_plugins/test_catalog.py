"""The providers that zot brings: complete, in their documented order, and with prices from the generated table."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from zot_core.models.levels import levels_of
from zot_core.models.protocol import Request
from zot_core.models.registry import ModelRegistry
from zot_core.types.content import Text, ToolCall
from zot_core.types.messages import AssistantMessage, ToolResultMessage, UserMessage
from zot_core.types.specs import ApiFormat, ProviderSpec
from zot_plugins.api_openai_chat.request import build
from zot_plugins.providers.plugin import providers

ROOT = Path(__file__).parents[3]
ORDER = """anthropic openai google kimi deepseek zai xai mistral openrouter groq cerebras together fireworks huggingface
azure github amazon-bedrock google-vertex ollama lmstudio llamacpp vllm custom""".split()
CLOUDS = ("amazon-bedrock", "google-vertex")  # see test_clouds.py
LOCAL = {"ollama": 11434, "lmstudio": 1234, "llamacpp": 8080, "vllm": 8000}
VARIABLES = ("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_VERSION", "OLLAMA_HOST", "VLLM_HOST", "LMSTUDIO_HOST")


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, "LLAMACPP_HOST"):
        monkeypatch.delenv(name, raising=False)


def registry() -> ModelRegistry:
    found = ModelRegistry()
    found.add_providers(("providers", spec) for spec in providers())
    for name in ("openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai"):
        found.add_format(ApiFormat(name=name, build="x:y", parser="x:y"))
    return found


def by_id() -> dict[str, ProviderSpec]:
    return {spec.id: spec for spec in providers()}


def test_the_order_is_the_documented_one() -> None:
    assert [spec.id for spec in providers()] == ORDER
    page = (ROOT / "docs" / "providers" / "index.md").read_text(encoding="utf-8")
    places = [page.index(f"| `{name}` |") for name in ORDER]
    assert places == sorted(places)


@pytest.mark.parametrize("name", [name for name in ORDER if name not in (*LOCAL, *CLOUDS, "azure", "github", "custom")])
def test_a_catalog_is_complete(name: str) -> None:
    found = registry()
    spec = by_id()[name]
    models = found.models(name)
    assert spec.base_url.startswith("https://") and spec.env and isinstance(spec.models, str)
    assert any(model.id == spec.default_model for model in models)
    assert len({model.id for model in models}) == len(models)
    for model in models:
        assert model.provider == name and model.name != model.id
        assert 1000 < model.max_output <= model.context_window
        assert levels_of(model) and found.format(model.api) is not None
        if name != "huggingface":
            assert model.prices is not None, model.id
            assert 0 < model.prices.input <= model.prices.output
            assert model.prices.cache_read <= model.prices.input


def test_nobody_is_chosen_who_has_no_key_but_the_first() -> None:
    found = registry()
    assert found.resolve(usable=lambda spec: spec.keyless).provider.id == "anthropic"
    assert found.resolve(usable=lambda spec: spec.id in ("groq", "kimi")).provider.id == "kimi"


@pytest.mark.parametrize(("name", "port"), LOCAL.items())
def test_local_servers_need_no_key_and_may_be_moved(name: str, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = by_id()[name]
    assert spec.keyless and spec.base_url == f"http://127.0.0.1:{port}" and not spec.models
    monkeypatch.setenv(f"{name.upper()}_HOST", "0.0.0.0:99")
    assert by_id()[name].base_url == "http://127.0.0.1:99"
    monkeypatch.setenv(f"{name.upper()}_HOST", "box")
    assert by_id()[name].base_url == f"http://box:{port}"
    monkeypatch.setenv(f"{name.upper()}_HOST", "https://box/x/")
    assert by_id()[name].base_url == "https://box/x"


def request(provider: str, model_id: str, level: str = "off") -> Request:
    model = registry().resolve(provider, model_id).model
    messages = (
        UserMessage(content=(Text("hi"),)),
        AssistantMessage(content=(ToolCall("call_1|x", "read", {}),), provider="other", model="m"),
        ToolResultMessage(call_id="call_1|x", tool_name="read", content=(Text("ok"),)),
    )
    return Request(model=model, messages=messages, thinking=level)  # type: ignore[arg-type]


def test_azure_has_the_deployment_in_the_path_only_with_a_dated_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com/")
    sent = build(request("azure", "my deploy"))
    assert by_id()["azure"].base_url == "https://me.openai.azure.com/openai/v1"
    assert (sent.path, sent.auth, sent.payload["model"]) == ("v1/chat/completions", {"api-key": "{key}"}, "my deploy")
    monkeypatch.setenv("AZURE_OPENAI_API_VERSION", "2024-10-21")
    sent = build(request("azure", "my deploy"))
    assert by_id()["azure"].base_url == "https://me.openai.azure.com"
    assert sent.path == "openai/deployments/my%20deploy/chat/completions?api-version=2024-10-21"


@pytest.mark.parametrize(
    ("provider", "model", "level", "asked"),
    [
        ("kimi", "kimi-k3.1-pro", "off", {"reasoning_effort": "low"}),
        ("kimi", "kimi-k3.1-pro", "max", {"reasoning_effort": "max"}),
        ("kimi", "kimi-k2.7-code", "high", {}),
        ("deepseek", "deepseek-v4-pro", "off", {"thinking": {"type": "disabled"}}),
        ("deepseek", "deepseek-v4-pro", "high", {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
        ("zai", "glm-5.2", "high", {"thinking": {"type": "enabled"}}),
        ("zai", "glm-5.3", "medium", {"reasoning_effort": "low"}),
        ("xai", "grok-4.3", "off", {"reasoning_effort": "none"}),
        ("mistral", "mistral-large-4", "off", {"reasoning_effort": "none"}),
        ("openrouter", "anthropic/claude-opus-5.5", "high", {"reasoning": {"effort": "high"}}),
        ("groq", "qwen/qwen3.8-27b", "high", {"reasoning_effort": "default"}),
        ("huggingface", "openai/gpt-oss-120b", "off", {"reasoning_effort": "low"}),
    ],
)
def test_a_level_is_asked_for_in_the_vendors_words(
    provider: str, model: str, level: str, asked: dict[str, object]
) -> None:
    payload = build(request(provider, model, level)).payload
    assert {key: payload[key] for key in ("thinking", "reasoning", "reasoning_effort") if key in payload} == asked


def test_mistral_gets_ids_of_nine_letters_and_digits() -> None:
    rows = build(request("mistral", "mistral-large-4")).payload["messages"]
    call_id = rows[1]["tool_calls"][0]["id"]
    assert len(call_id) == 9 and call_id.isalnum() and rows[2]["tool_call_id"] == call_id


def test_the_prices_are_what_the_script_writes() -> None:
    pytest.importorskip("genai_prices", reason="a development extra")
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        from generators import prices
    finally:
        sys.path.pop(0)
    said = prices.said()
    assert said is not None
    try:
        if version("genai-prices") != said[0]:
            pytest.skip(f"the table is of genai-prices {said[0]}")
    except PackageNotFoundError:
        pytest.skip("genai-prices is not installed as a package")
    assert prices.FILE.read_text(encoding="utf-8") == prices.module(said[1])


def test_an_own_price_agrees_with_the_generated_table_s_source() -> None:
    """Hand-written catalogs name their sources; where both speak of a model now, they say the same."""
    data = pytest.importorskip("genai_prices.data", reason="a development extra")
    theirs = {one.id: one for one in data.providers}
    found = registry()
    different = []
    for name in ("anthropic", "openai"):
        for model in found.models(name):
            row = theirs[name].find_model(model.id)
            if row is None or isinstance(row.prices, list) or model.prices is None:
                continue
            price = getattr(row.prices.input_mtok, "base", row.prices.input_mtok)
            if float(price) != model.prices.input:
                different.append((model.id, float(price), model.prices.input))
    assert different == []

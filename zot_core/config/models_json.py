"""The person's own models: `models.json`, read into plain JSON with what cannot be meant left out and named.

Knows the outer shape only; what an API or a compat flag is, the models' room and the plugins know. Never writes it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from zot_core.config.objects import ObjectFile, read_object
from zot_core.config.problems import Problem

API_ALIASES = {
    "openai": "openai-completions",
    "openai-chat": "openai-completions",
    "chat": "openai-completions",
    "responses": "openai-responses",
    "anthropic": "anthropic-messages",
    "messages": "anthropic-messages",
    "google": "google-generative-ai",
}
"""Names that the Go zot takes for a wire format, and their names here."""
_SHARED = ("name", "api", "baseUrl", "base_url", "headers", "compat", "authHeader", "samplingParams")
_PROVIDER = (*_SHARED, "apiKey", "api_key", "models", "modelOverrides", "defaultModel", "default_model")
_MODEL = (*_SHARED, "id", "contextWindow", "context_window", "maxTokens", "maxOutput", "max_output", "input",
          "reasoning", "thinkingLevelMap", "cost", "priceInput", "priceOutput", "priceCacheRead",
          "priceCacheWrite")  # fmt: skip


def read_models_json(path: str | Path) -> tuple[dict[str, dict[str, Any]], list[Problem]]:
    """The providers of a `models.json` by id, each an object whose `models` is a list of objects with an `id`.

    A bad file is named and counts as empty; a bad provider or model costs only itself. Never raises.
    """
    document, problems = read_object(path)
    if document is None:
        return {}, problems
    problems += _misspelt("", document.value, ("providers",), document, str(path), ())
    providers = document.value.get("providers", {})
    if not isinstance(providers, dict):
        line = document.line_of(("providers",))
        return {}, [*problems, Problem("error", str(path), line, "'providers' must be an object; the file is ignored")]
    found: dict[str, dict[str, Any]] = {}
    for name, given in providers.items():
        provider, wrong = _provider(name, given, document, str(path))
        problems += wrong
        if provider is not None:
            found[name] = provider
    return found, problems


def _provider(name: str, given: Any, document: ObjectFile, file: str) -> tuple[dict[str, Any] | None, list[Problem]]:
    line = document.line_of(("providers", name))
    if not isinstance(given, dict) or not name.strip():
        return None, [
            Problem("warning", file, line, f"provider {name!r} must be an object with a name; it is left out")
        ]
    problems = _misspelt(f"{name}: ", given, _PROVIDER, document, file, ("providers", name))
    provider = {key: value for key, value in given.items() if value is not None}
    for key, kind, word in (
        ("api", str, "a text"),
        ("baseUrl", str, "a text"),
        ("apiKey", str, "a text"),
        ("headers", dict, "an object"),
        ("compat", dict, "an object"),
        ("models", list, "a list"),
        ("modelOverrides", dict, "an object"),
    ):
        if key in provider and not isinstance(provider[key], kind):
            del provider[key]
            where = document.line_of(("providers", name, key))
            problems.append(Problem("warning", file, where, f"{name}: {key!r} must be {word}; it is ignored"))
    models = []
    for model in provider.get("models", []):
        if isinstance(model, dict) and isinstance(model.get("id"), str) and model["id"].strip():
            models.append(_with_api(model))
            place = ("providers", name, "models")
            problems += _misspelt(f"{name}/{model['id']}: ", model, _MODEL, document, file, place)
        else:
            where = document.line_of(("providers", name, "models"))
            problems.append(Problem("warning", file, where, f"{name}: a model without an 'id' is left out"))
    for model_id, change in provider.get("modelOverrides", {}).items():
        if isinstance(change, dict):
            at = ("providers", name, "modelOverrides", model_id)
            problems += _misspelt(f"{name}/{model_id}: ", change, _MODEL, document, file, at)
    return {**_with_api(provider), "models": models}, problems


def _misspelt(
    whose: str,
    data: dict[str, Any],
    known: tuple[str, ...],
    document: ObjectFile,
    file: str,
    at: tuple[str, ...],
) -> list[Problem]:
    """Keys that are nearly one of `known`. Others are let be: the programs that share this file have more."""
    unknown = [key for key in data if key not in known]
    if not unknown:
        return []
    from difflib import get_close_matches  # only for keys that zot does not read

    spelling = {name.lower(): name for name in known}
    problems = []
    for key in unknown:
        if near := get_close_matches(key.lower(), spelling, n=1, cutoff=0.75):
            message = f"{whose}unknown key {key!r}; did you mean {spelling[near[0]]!r}? It is ignored"
            problems.append(Problem("warning", file, document.line_of((*at, key)), message))
    return problems


def _with_api(data: dict[str, Any]) -> dict[str, Any]:
    api = data.get("api")
    if isinstance(api, str):
        return {**data, "api": API_ALIASES.get(api.strip().lower(), api.strip())}
    return data

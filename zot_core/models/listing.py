"""One row of a server's list of models as a ModelSpec, by the names that servers use for the same things.

Pure. Knows no provider: what a server does not say stays at the default, what is no model to talk with is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from zot_core.types.specs import ModelSpec, Prices

WINDOW = (
    "context_length", "context_window", "contextWindow", "max_context_length", "max_model_len", "max_input_tokens",
    "inputTokenLimit", "meta.n_ctx", "meta.n_ctx_train", "limits.max_input_tokens", "top_provider.context_length",
)  # fmt: skip
OUTPUT = (
    "max_output_tokens", "max_completion_tokens", "max_output_length", "outputTokenLimit", "max_tokens",
    "limits.max_output_tokens", "top_provider.max_completion_tokens",
)  # fmt: skip
MODALITIES = (
    "input_modalities", "supported_input_modalities", "architecture.input_modalities", "modalities.input",
)  # fmt: skip
SIGHT = ("capabilities.vision", "supports_image_in", "supports_vision", "capabilities.image_input.supported")
THOUGHT = (
    "capabilities.reasoning", "capabilities.thinking.supported", "supports_reasoning", "reasoning", "thinking",
)  # fmt: skip
_OTHER = re.compile(
    r"(^|[-_/.:])(embed\w*|tts|whisper|dall-e|moderation|realtime|transcribe|rerank\w*|sora|imagen|veo|audio|orpheus|"
    r"image|bge|ocr|guard)([-_/.:]|$)",
    re.I,
)
"""Ids of what cannot hold a conversation, where a server lists it without saying so."""
_KINDS = frozenset({"", "chat", "language", "llm", "vlm", "model", "text", "chat-completion", "base"})


def models_of(rows: Any, provider: str) -> tuple[ModelSpec, ...]:
    """The models in a list of rows, each id once; rows of another shape are passed by."""
    found: dict[str, ModelSpec] = {}
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, Mapping) and (model := model_of(row, provider)) is not None:
            found.setdefault(model.id, model)
    return tuple(found.values())


def model_of(row: Mapping[str, Any], provider: str) -> ModelSpec | None:
    """The model that `row` describes; None for one that answers no chat."""
    name = row.get("id") or row.get("model") or row.get("name")
    if not isinstance(name, str) or not name.strip() or not _talks(row, name):
        return None
    plain = ModelSpec(id=name, provider=provider)
    label = next((row[key] for key in ("display_name", "displayName", "name") if isinstance(row.get(key), str)), "")
    return ModelSpec(
        id=name,
        provider=provider,
        name=label,
        context_window=_number(row, WINDOW) or plain.context_window,
        max_output=_number(row, OUTPUT) or plain.max_output,
        inputs=_inputs(row),
        reasoning=_flag(row, THOUGHT) or "reasoning" in _words(row.get("supported_parameters")),
        prices=_prices(row.get("pricing")),
        source="live",
    )


def _talks(row: Mapping[str, Any], name: str) -> bool:
    kind = row.get("type")
    if isinstance(kind, str) and kind.lower() not in _KINDS:
        return False
    for path in ("capabilities.completion_chat", "active"):
        if _at(row, path) is False:
            return False
    gives = _words(_at(row, "architecture.output_modalities") or row.get("output_modalities"))
    if gives and "text" not in gives:
        return False
    return not _OTHER.search(name)


def _inputs(row: Mapping[str, Any]) -> tuple[Literal["text", "image"], ...]:
    takes = next((words for path in MODALITIES if (words := _words(_at(row, path)))), ())
    if "image" in takes or _flag(row, SIGHT) or row.get("type") == "vlm":
        return ("text", "image")
    return ("text",)


def _prices(row: Any) -> Prices | None:
    """`prompt` and `completion` are dollars a token, `input` and `output` dollars a million of them."""
    if not isinstance(row, Mapping):
        return None
    names = ("prompt", "completion", "input_cache_read", "input_cache_write")
    factor = 1_000_000.0
    if "prompt" not in row:
        names, factor = ("input", "output", "cached_input", "cache_write"), 1.0
    figures = [max(0.0, _figure(row.get(name)) * factor) for name in names]
    if not figures[0] and not figures[1]:
        return None
    read, written = round(figures[2], 6), round(figures[3], 6)
    return Prices(input=round(figures[0], 6), output=round(figures[1], 6), cache_read=read, cache_write=written)


def _figure(value: Any) -> float:
    try:
        return float(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else 0.0
    except ValueError:
        return 0.0


def _at(row: Mapping[str, Any], path: str) -> Any:
    value: Any = row
    for step in path.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _number(row: Mapping[str, Any], paths: Iterable[str]) -> int:
    for path in paths:
        value = _at(row, path)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return 0


def _flag(row: Mapping[str, Any], paths: Iterable[str]) -> bool:
    return any(_at(row, path) is True for path in paths)


def _words(value: Any) -> tuple[str, ...]:
    return tuple(word for word in value if isinstance(word, str)) if isinstance(value, (list, tuple)) else ()

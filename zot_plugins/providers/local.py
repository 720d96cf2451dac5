"""The models of local servers that tell more in a list of their own than in that of the format."""

from __future__ import annotations

from collections.abc import Sequence

from zot_core.models.discovery import Asking, ListFailed
from zot_core.models.listing import models_of
from zot_core.types.specs import ModelSpec

AUTH = {"authorization": "Bearer {key}"}


async def ollama(asking: Asking) -> Sequence[ModelSpec]:
    """Ollama's `/api/tags`: what is on its disk. Raises ListFailed."""
    answer = await asking.get("api/tags", AUTH, root=True)
    rows = answer.get("models") if isinstance(answer, dict) else None
    named = [_tagged(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return models_of(named, asking.provider.id)


def _tagged(row: dict[str, object]) -> dict[str, object]:
    told = row.get("capabilities")
    can = told if isinstance(told, list) else []
    size = row.get("context_length")
    return {
        "id": row.get("model") or row.get("name"),
        "context_length": size,
        "supports_vision": "vision" in can,
        "reasoning": "thinking" in can,
    }


async def lmstudio(asking: Asking) -> Sequence[ModelSpec]:
    """LM Studio's `/api/v0/models`, which has windows and kinds; before that there was the format's own list. Raises
    ListFailed."""
    try:
        answer = await asking.get("api/v0/models", AUTH, root=True)
    except ListFailed:
        answer = await asking.get("v1/models", AUTH)
    return models_of(answer.get("data") if isinstance(answer, dict) else answer, asking.provider.id)

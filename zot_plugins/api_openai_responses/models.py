"""The models of a server of this format: `GET v1/models`, an object with `data`, or the bare list."""

from __future__ import annotations

from collections.abc import Sequence

from zot_core.models.discovery import Asking
from zot_core.models.listing import models_of
from zot_core.types.specs import ModelSpec


async def discover(asking: Asking) -> Sequence[ModelSpec]:
    """All that the server lists and that answers a chat. Raises ListFailed."""
    spec = asking.provider
    header = spec.compat.get("keyHeader")
    auth = {header: "{key}"} if isinstance(header, str) and header else {"authorization": "Bearer {key}"}
    answer = await asking.get("models" if spec.compat.get("versionlessPath") else "v1/models", auth)
    return models_of(answer.get("data") if isinstance(answer, dict) else answer, spec.id)

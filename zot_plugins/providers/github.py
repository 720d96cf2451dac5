"""The models of GitHub: its catalog stands beside the inference API, not below it."""

from __future__ import annotations

from collections.abc import Sequence

from zot_core.models.discovery import Asking
from zot_core.models.listing import models_of
from zot_core.types.specs import ModelSpec

AUTH = {"authorization": "Bearer {key}", "accept": "application/vnd.github+json"}


async def discover(asking: Asking) -> Sequence[ModelSpec]:
    """`GET /catalog/models`, a bare list. Raises ListFailed."""
    rows = await asking.get("catalog/models", AUTH, root=True)
    if isinstance(rows, list):
        rows = [
            row
            for row in rows
            if not (isinstance(row, dict) and "text" not in row.get("supported_output_modalities", ["text"]))
        ]
    return models_of(rows, asking.provider.id)

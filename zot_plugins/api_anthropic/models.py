"""The models of a server of this format: `GET v1/models`, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from zot_core.models.discovery import Asking
from zot_core.models.listing import models_of
from zot_core.types.specs import ModelSpec
from zot_plugins.api_anthropic.request import VERSION

PAGES = 5


async def discover(asking: Asking) -> Sequence[ModelSpec]:
    """All that the server lists. Raises ListFailed."""
    compat = asking.provider.compat
    auth = {"authorization": "Bearer {key}"} if compat.get("bearerAuth") else {"x-api-key": "{key}"}
    path = "models" if compat.get("versionlessPath") else "v1/models"
    rows: list[object] = []
    after = ""
    for _ in range(PAGES):
        answer = await asking.get(f"{path}?limit=1000{after}", {"anthropic-version": VERSION, **auth})
        if not isinstance(answer, dict) or not isinstance(answer.get("data"), list):
            break
        rows.extend(answer["data"])
        if not answer.get("has_more") or not isinstance(answer.get("last_id"), str):
            break
        after = f"&after_id={quote(answer['last_id'], safe='')}"
    return models_of(rows, asking.provider.id)

"""The models of a server of this format: `GET v1/models`, page by page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
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
    adaptive = {row["id"] for row in rows if isinstance(row, dict) and "id" in row and _is_adaptive(row)}
    found = models_of(rows, asking.provider.id)
    return [replace(one, compat={"thinking": "adaptive"}) if one.id in adaptive else one for one in found]


def _is_adaptive(row: Mapping[str, Any]) -> bool:
    """Whether the server says that the model thinks adaptively, and so takes an effort and no budget."""
    place: Any = row
    for step in ("capabilities", "thinking", "types", "adaptive", "supported"):
        place = place.get(step) if isinstance(place, Mapping) else None
    return place is True

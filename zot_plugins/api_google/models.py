"""The models of a server of this format: `GET v1beta/models`, page by page, those that generate content."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from zot_core.models.discovery import Asking
from zot_core.models.listing import models_of
from zot_core.types.specs import ModelSpec

PAGES = 5
METHOD = "generateContent"


async def discover(asking: Asking) -> Sequence[ModelSpec]:
    """All that the server lists, their ids without `models/`. Raises ListFailed."""
    rows: list[object] = []
    token = ""
    for _ in range(PAGES):
        answer = await asking.get(f"v1beta/models?pageSize=1000{token}", {"x-goog-api-key": "{key}"})
        if not isinstance(answer, dict):
            break
        for row in answer.get("models", ()):
            if isinstance(row, dict) and METHOD in row.get("supportedGenerationMethods", (METHOD,)):
                # Gemini models see; the list does not say it
                sees = "gemini" in str(row.get("name"))
                name = str(row.get("name", "")).removeprefix("models/")
                rows.append({**row, "id": name, "supports_vision": sees})
        if not isinstance(answer.get("nextPageToken"), str) or not answer["nextPageToken"]:
            break
        token = f"&pageToken={quote(answer['nextPageToken'], safe='')}"
    return models_of(rows, asking.provider.id)

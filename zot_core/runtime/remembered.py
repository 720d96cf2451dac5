"""Which thinking level each model had when it was last used on a branch of a session. Pure; knows no model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from zot_core.types.messages import AssistantMessage
from zot_core.types.specs import THINKING_LEVELS, ThinkingLevel

Key = tuple[str, str]


def levels_on(branch: Iterable[Any]) -> dict[Key, ThinkingLevel]:
    """The levels by (provider, model), read from the entries of a branch in their order."""
    levels: dict[Key, ThinkingLevel] = {}
    model: Key | None = None
    level: ThinkingLevel | None = None
    for entry in branch:
        if entry.kind == "model_change":
            model = (str(entry.data["provider"]), str(entry.data["model"]))
            continue  # what is in force for it, its next answer or the next change of level tells
        if entry.kind == "thinking_change" and entry.data["level"] in THINKING_LEVELS:
            level = entry.data["level"]
        elif entry.kind == "message" and isinstance(entry.message, AssistantMessage) and entry.message.model:
            model = (entry.message.provider, entry.message.model)
        else:
            continue
        if model is not None and level is not None:
            levels[model] = level
    return levels

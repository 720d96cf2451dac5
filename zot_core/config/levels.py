"""Which thinking level a person chose for each model, kept across sessions in `thinking.json` of the home.

The last word counts: a choice is kept with what settings said then, and gives way when they say something else now.
Knows no model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from zot_core.config.objects import read_object
from zot_core.config.paths import Paths
from zot_core.config.problems import Problem
from zot_core.types.specs import THINKING_LEVELS, ThinkingLevel

MOST = 200
"""Models that are remembered; the ones chosen for longest ago are forgotten."""


def kept_level(
    paths: Paths, model: str, settings: ThinkingLevel | None
) -> tuple[ThinkingLevel | None, Sequence[Problem]]:
    """The level that was chosen for `model` (`provider/id`), None without one or when `settings` changed since; and
    what is wrong with the file."""
    file, problems = read_object(paths.thinking)
    row = file.value.get(model) if file is not None else None
    if not isinstance(row, Mapping) or row.get("settings") != settings:
        return None, problems
    level = row.get("level")
    return (level if level in THINKING_LEVELS else None), problems


def keep_level(paths: Paths, model: str, level: ThinkingLevel, settings: ThinkingLevel | None) -> None:
    """Remembers a person's choice. Blocks for the file's lock. Raises SaveRefused, and leaves the file alone, when it
    does not parse or cannot be written."""
    from zot_core.config.store import edit_object  # only when something is chosen

    def change(text: str, known: dict[str, Any]) -> str:
        known.pop(model, None)
        rows = [*known.items(), (model, {"level": level, "settings": settings})][-MOST:]
        return json.dumps(dict(rows), indent=2, ensure_ascii=False) + "\n"

    edit_object(paths.thinking, paths.cache / "locks", change)

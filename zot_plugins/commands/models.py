"""`/model` and `/reasoning`: which model answers, and how much it thinks. Both hold from the next model call."""

from __future__ import annotations

from typing import Any

from zot_core.models.levels import levels_of
from zot_core.types.failure import UsageError
from zot_core.types.specs import THINKING_LEVELS, ModelSpec


async def model(args: str, ctx: Any) -> str | None:
    """Chooses the model that is named, or one from a list; where nobody can choose it lists them."""
    wanted = args.strip()
    if not wanted:
        found = {_label(one): one for one in ctx.models.usable()}
        if not found:
            return "No model can be used yet: there is no key. `/login` stores one."
        chosen = await ctx.ui.select("Which model?", sorted(found)) if ctx.has_ui else None
        if chosen is None:
            return None if ctx.has_ui else "\n".join(f"- {label}" for label in sorted(found))
        wanted = f"{found[chosen].provider}/{found[chosen].id}"
    if not await ctx.models.set(wanted):
        return None  # the person was told why
    return f"{_name(ctx.models.current)} answers from now on."


async def reasoning(args: str, ctx: Any) -> str | None:
    """Chooses the level that is named, or one from a list."""
    current = ctx.models.current
    if current is None:
        raise UsageError("no model is chosen yet; /model chooses one")
    have = levels_of(current)
    level = args.strip().lower()
    if not level:
        chosen = await ctx.ui.select(f"How much shall {current.id} think?", have) if ctx.has_ui else None
        if chosen is None:
            return None if ctx.has_ui else f"{ctx.models.thinking}; {current.id} has {', '.join(have)}"
        level = chosen
    if level not in THINKING_LEVELS:
        raise UsageError(f"there is no level {level!r}; there are {', '.join(THINKING_LEVELS)}")
    taken = await ctx.models.set_thinking(level)
    return f"Thinking: {taken}" + (f" ({current.id} has no {level})" if taken != level else "")


def levels(text: str) -> list[str]:
    """Completions of a level."""
    return [level for level in THINKING_LEVELS if level.startswith(text.strip().lower())]


def _name(found: ModelSpec | None) -> str:
    return f"{found.provider}/{found.id}" if found is not None else "no model"


def _label(found: ModelSpec) -> str:
    window = f"{found.context_window // 1000}k" if found.context_window else ""
    name = found.name if found.name and found.name != found.id else ""
    return "  ".join(part for part in (_name(found), name, window) if part)

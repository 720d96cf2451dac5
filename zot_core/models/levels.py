"""Thinking levels of a model: which it has, and the nearest to one that it has not. Pure."""

from __future__ import annotations

from zot_core.types.specs import THINKING_LEVELS, ModelSpec, ThinkingLevel

_STANDARD = frozenset({"off", "minimal", "low", "medium", "high"})


def levels_of(model: ModelSpec) -> tuple[ThinkingLevel, ...]:
    """The levels that `model` has, from least to most. Without a map of its own these are `off` to `high`; in a map,
    None takes a level away, and `xhigh` and `max` are there only if they are named."""
    if not model.reasoning:
        return ("off",)
    named = model.thinking_levels or {}
    return tuple(
        level for level in THINKING_LEVELS if (named[level] is not None if level in named else level in _STANDARD)
    ) or ("off",)


def clamp_level(model: ModelSpec, level: ThinkingLevel) -> ThinkingLevel:
    """`level` if the model has it, else the nearest that it has, the lower one first."""
    have = levels_of(model)
    wanted = THINKING_LEVELS.index(level)
    return min(have, key=lambda other: (abs(THINKING_LEVELS.index(other) - wanted), THINKING_LEVELS.index(other)))


def level_word(model: ModelSpec, level: ThinkingLevel) -> str:
    """What the provider calls `level`: the map's word, else the level's own name."""
    word = (model.thinking_levels or {}).get(level)
    return word if isinstance(word, str) else level

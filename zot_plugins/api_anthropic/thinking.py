"""How a thinking level is said to a model: as an effort, as a budget of tokens, or not at all.

Pure; what a model takes is in its compat flags and its map of levels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from zot_core.models.levels import clamp_level, level_word
from zot_core.models.protocol import Request
from zot_core.types.record import record
from zot_core.types.specs import ThinkingLevel
from zot_plugins.api_anthropic.messages import THOUGHT, Body

LEAST: Final = 1024
"""Tokens: servers refuse a smaller budget, and as much at least is left for the answer."""
BUDGETS: Final[Mapping[str, int]] = {
    "minimal": 1024,
    "low": 4096,
    "medium": 10_240,
    "high": 20_480,
    "xhigh": 32_768,
    "max": 49_152,
}
INTERLEAVED: Final = "interleaved-thinking-2025-05-14"
BINDING: Final = "thinking-binding-controls-2026-08-01"
MISMATCH: Final = "prefix_mismatch_behavior"
_OFF = ("disabled", "between_tools")


@record(kw_only=True)
class Plan:
    """`payload` are the fields of the request that speak of thinking, `betas` what they need in the header."""

    payload: Body = field(default_factory=dict)
    betas: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The `type` of thinking that is asked for, "" for none."""
        return str(self.payload.get("thinking", {}).get("type", ""))


def plan(request: Request, max_tokens: int) -> Plan:
    """What to say for the request's level, clamped to what the model has and to what `max_tokens` leaves room for."""
    model = request.model
    if not model.reasoning:
        return Plan()
    level = clamp_level(model, request.thinking)
    if level == "off":
        word = level_word(model, level)
        return Plan(payload={"thinking": {"type": word}}) if word in _OFF else Plan()
    if model.compat.get("thinking") == "adaptive":
        thinking: Body = {"type": "adaptive", "display": model.compat.get("thinkingDisplay", "summarized")}
        betas: tuple[str, ...] = ()
        if model.compat.get("bindsThinking"):
            # A conversation's beginning changes: compaction, another system prompt, other tools. Without this the
            # server refuses every later request of it; with it the thinking is forgotten
            thinking["block_binding"] = {model.compat.get("bindingField", MISMATCH): "drop_block"}
            betas = (BINDING,)
        return Plan(payload={"thinking": thinking, "output_config": {"effort": level_word(model, level)}}, betas=betas)
    budget = min(_budget(model.compat.get("thinkingBudgets"), level), max_tokens - LEAST)
    if budget < LEAST:
        return Plan()
    betas = (INTERLEAVED,) if request.tools and model.compat.get("interleavedThinking") else ()
    return Plan(payload={"thinking": {"type": "enabled", "budget_tokens": budget}}, betas=betas)


def fitting(plan: Plan, rows: list[Body]) -> Plan:
    """`plan`, or none where the conversation does not allow it: with a budget, a turn whose calls were made without
    thinking (by another model, or at level `off`) has to end without."""
    if plan.kind != "enabled":
        return plan
    last: list[Body] = next((row["content"] for row in reversed(rows) if row["role"] == "assistant"), [])
    calls = any(block["type"] == "tool_use" for block in last)
    return Plan() if calls and last[0]["type"] not in THOUGHT else plan


def _budget(given: Any, level: ThinkingLevel) -> int:
    own = given.get(level) if isinstance(given, Mapping) else None
    return own if isinstance(own, int) and not isinstance(own, bool) else BUDGETS[level]

"""`/model`, `/scoped-models` and `/reasoning`: which model answers, and how much it thinks.

What is chosen holds from the next model call. Knows no provider.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zot_core.models.levels import levels_of
from zot_core.models.scope import ScopedModel
from zot_core.types.failure import UsageError
from zot_core.types.specs import THINKING_LEVELS, ModelSpec
from zot_core.ui.completion import Suggestion

ALL = "All models …"
SHOWN = 50
"""Completions at most."""


async def model(args: str, ctx: Any) -> str | None:
    """Chooses the model that is named, or one from a list; where nobody can choose it lists them."""
    wanted = args.strip()
    if not wanted:
        rows = _rows(ctx)
        if not rows and not ctx.models.usable():
            return "No model can be used yet: there is no key. `/login` stores one."
        if not ctx.has_ui:
            return "\n".join(f"- {label}" for label in _all_rows(ctx, unusable=False))
        chosen = await ctx.ui.select("Which model?", list(rows))
        if chosen == ALL:
            rows = _all_rows(ctx, unusable=ctx.mode == "repl")
            chosen = await ctx.ui.select("Which model?", list(rows))
        if chosen is None or chosen not in rows:
            return None
        wanted = rows[chosen]
    if not await ctx.models.set(wanted):
        return None  # the person was told why
    return f"{_name(ctx.models.current)} answers from now on."


async def scoped_models(args: str, ctx: Any) -> str:
    """The models that the person goes through, and who says so."""
    if args.strip():
        raise UsageError("/scoped-models takes no words; `--models` and the setting enabled_models name them")
    scoped = ctx.scoped_models
    if not scoped:
        return (
            f"All {len(ctx.models.usable())} models that can be used: no model is named by `--models` or the setting "
            "enabled_models."
        )
    return "\n".join(f"- {label}" for label in _scoped_rows(scoped, ctx))


def names(text: str, ctx: Any) -> list[Suggestion]:
    """Completions of a model, those of the scope first."""
    words = text.casefold().split()
    scoped = [one.model for one in ctx.scoped_models]
    found = [*scoped, *sorted((one for one in ctx.models.usable() if one not in scoped), key=_name)]
    fitting = [one for one in found if all(word in f"{_name(one)} {one.name}".casefold() for word in words)]
    return [Suggestion(value=_name(one), description=_facts(one)) for one in fitting[:SHOWN]]


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


def _rows(ctx: Any) -> dict[str, str]:
    """What is offered first: the scope and a way to all, or all."""
    scoped = ctx.scoped_models
    if not scoped:
        return _all_rows(ctx, unusable=ctx.mode == "repl")
    return {**_scoped_rows(scoped, ctx), ALL: ""}


def _scoped_rows(scoped: Sequence[ScopedModel], ctx: Any) -> dict[str, str]:
    return {
        f"{_label(one.model, ctx)}{f'  thinking: {one.level}' if one.level else ''}": (
            f"{one.name}:{one.level}" if one.level else one.name
        )
        for one in scoped
    }


def _all_rows(ctx: Any, *, unusable: bool) -> dict[str, str]:
    """The model in use, what else can be used, and then what there is no key for."""
    usable = list(ctx.models.usable())
    usable.sort(key=lambda one: (not _is_current(one, ctx), _name(one)))
    rows = {_label(one, ctx): _name(one) for one in usable}
    if unusable and usable:
        ready = {one.provider for one in usable}
        others = sorted((one for one in ctx.models.all() if one.provider not in ready), key=_name)
        rows |= {f"{_label(one, ctx)}  no key found": _name(one) for one in others}
    return rows


def _name(found: ModelSpec | None) -> str:
    return f"{found.provider}/{found.id}" if found is not None else "no model"


def _is_current(found: ModelSpec, ctx: Any) -> bool:
    return ctx.models.current is not None and _name(found) == _name(ctx.models.current)


def _label(found: ModelSpec, ctx: Any) -> str:
    name = f"{_name(found)} (in use)" if _is_current(found, ctx) else _name(found)
    return "  ".join(part for part in (name, _facts(found)) if part)


def _facts(found: ModelSpec) -> str:
    """Name, window, and dollars per million tokens in and out."""
    name = found.name if found.name and found.name != found.id else ""
    window = _amount(found.context_window) if found.context_window else ""
    prices = found.prices
    cost = f"${prices.input:g}/${prices.output:g}" if prices is not None and (prices.input or prices.output) else ""
    return "  ".join(part for part in (name, window, cost) if part)


def _amount(tokens: int) -> str:
    return f"{tokens / 1_000_000:.3g}M" if tokens >= 1_000_000 else f"{tokens // 1000}k"

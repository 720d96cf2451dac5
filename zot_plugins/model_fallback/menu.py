"""`/fallback` alone on a screen: a menu over the same command, so that what it saves is what a typed one saves.

Elsewhere, and with words after it, the command is `command.py`'s alone.
"""

from __future__ import annotations

from typing import Any

from zot_core.models.levels import levels_of
from zot_core.types.failure import UsageError
from zot_plugins.model_fallback import command
from zot_plugins.model_fallback.chains import Chains, chains_of

ADD, DONE, INHERITED = "Add a chain", "Done", "as the conversation has it"
ENOUGH = "That is all"


async def fallback(args: str, ctx: Any) -> str | None:
    """The command, or its menu. Raises UsageError for what it cannot understand, and saves nothing then."""
    if args.strip() or ctx.ui.theme is None:
        return command.fallback(args, ctx)
    chains = chains_of(ctx)
    while True:
        edits = {f"Edit: {command.line(chains, target)}": target for target in sorted(chains.chains)}
        removals = {f"Remove: {target}": target for target in sorted(chains.chains)}
        switch = "off" if chains.enabled else "on"
        other = "cooldown-expiry" if chains.revert == "never" else "never"
        options = {
            ADD: "",
            **edits,
            **removals,
            f"Switch fallbacks {switch}": f"--{switch}",
            f"{_policy(chains)}: change that": f"--revert {other}",
            DONE: "",
        }
        chosen = await ctx.ui.select(f"Fallback chains: {_state(chains)}", list(options))
        if chosen is None or chosen == DONE:
            return None
        if chosen == ADD or chosen in edits:
            line = await _line(edits.get(chosen, ""), ctx)
        else:
            line = f"--remove {removals[chosen]}" if chosen in removals else options[chosen]
        try:
            if line:
                command.fallback(line, ctx)
        except UsageError as error:
            ctx.ui.notify(str(error), "error")


def _state(chains: Chains) -> str:
    return f"off, {reason}" if (reason := chains.off_because) else f"{len(chains.chains) or 'none'}"


def _policy(chains: Chains) -> str:
    return f"A failed model is tried again {'later' if chains.revert == 'cooldown-expiry' else 'never'}"


async def _line(target: str, ctx: Any) -> str:
    """The words of a chain, asked for one after another; "" when that was given up."""
    models = {f"{model.provider}/{model.id}": model for model in ctx.models.usable()}
    names = target or await ctx.ui.select("When which model fails?", list(models))
    if not names:
        return ""
    words, left = [names], {name: model for name, model in models.items() if name != names}
    while left:
        options = [*([ENOUGH] if words[1:] else []), *left]
        chosen = await ctx.ui.select(f"{' -> '.join(words)} -> which?", options)
        if chosen is None:
            return ""
        if chosen == ENOUGH:
            break
        levels = levels_of(left[chosen])
        level: str | None = INHERITED
        if len(levels) > 1:
            level = await ctx.ui.select(f"How much shall {chosen} think?", [INHERITED, *levels])
        if level is None:
            return ""
        words.append(chosen if level == INHERITED else f"{chosen}:{level}")
        del left[chosen]
    if not words[1:]:
        ctx.ui.notify("no other model can be used yet; /login stores a key", "warning")
        return ""
    return " ".join(words)

"""`/fallback`: shows the chains and how they stand, sets and removes them, in every mode."""

from __future__ import annotations

from typing import Any

from zot_core.config.paths import Paths
from zot_core.config.store import SettingsStore
from zot_core.types.failure import UsageError
from zot_core.types.specs import THINKING_LEVELS
from zot_plugins.model_fallback.chains import Chains, bare, chains_of

SECTION = ("plugins", "model_fallback")
USAGE = (
    "/fallback TARGET FALLBACK... sets a chain, each a provider/id, fallbacks also with :LEVEL; "
    "/fallback --remove TARGET, --on, --off, --revert cooldown-expiry or --revert never"
)


def fallback(args: str, ctx: Any) -> str:
    """The command. Raises UsageError for what it cannot understand, and saves nothing then."""
    words = args.split()
    chains = chains_of(ctx)
    if not words:
        return _shown(chains)
    store = SettingsStore(Paths.find())
    if words[0].startswith("-"):
        return _option(words, chains, store)
    target, *fallbacks = words
    if not fallbacks:
        raise UsageError(f"a chain needs at least one fallback. {USAGE}")
    name, level = _selector(target, ctx)
    if level:
        raise UsageError(f"the target {target} cannot name a thinking level; its fallbacks can")
    found = [_selector(word, ctx) for word in fallbacks]
    models = [model for model, _ in found]
    if name in models:
        raise UsageError(f"{name} cannot fall back to itself")
    if twice := next((model for model in models if models.count(model) > 1), ""):
        raise UsageError(f"{twice} is named twice")
    chain = tuple(f"{model}:{level}" if level else model for model, level in found)
    store.set((*SECTION, "chains", name), list(chain))
    chains.set(name, chain)
    return line(chains, name)


def _option(words: list[str], chains: Chains, store: SettingsStore) -> str:
    match words:
        case ["--remove", target]:
            if target not in chains.chains:
                raise UsageError(f"{target} has no chain; there are: {', '.join(sorted(chains.chains)) or 'none'}")
            store.unset((*SECTION, "chains", target))
            del chains.chains[target]
        case ["--on" | "--off"]:
            chains.enabled = words[0] == "--on"
            store.set((*SECTION, "enabled"), chains.enabled)
        case ["--revert", "cooldown-expiry" | "never" as policy]:
            chains.revert = policy
            store.set((*SECTION, "revert"), policy)
        case _:
            raise UsageError(USAGE)
    return _shown(chains)


def _selector(word: str, ctx: Any) -> tuple[str, str]:
    """The model that `word` names exactly, as provider/id, and its level if it names one."""
    current = ctx.models.current
    for name in dict.fromkeys((word, bare(word))):
        level = word[len(name) + 1 :]
        if current is not None and name == f"{current.provider}/{current.id}":
            return name, level
        if (model := ctx.models.find(name)) is not None:
            return f"{model.provider}/{model.id}", level
    levels = f" or its level, one of {', '.join(THINKING_LEVELS)}" if ":" in word else ""
    raise UsageError(f"{word!r} is no known model{levels}; name it as provider/id, `zot --list-models` lists them")


def _shown(chains: Chains) -> str:
    lines = [line(chains, target) for target in sorted(chains.chains)] or [f"No fallback chains. {USAGE}"]
    if reason := chains.off_because:
        lines.append(f"Off: {reason}")
    when = "once its cooldown is over" if chains.revert == "cooldown-expiry" else "not in this session"
    lines.append(f"A model that failed is tried first again {when} ({chains.revert}).")
    return "\n".join(lines)


def line(chains: Chains, target: str) -> str:
    """A chain with the state of each of its models."""
    return " -> ".join(_with_state(chains, name) for name in (target, *chains.chains[target]))


def _with_state(chains: Chains, name: str) -> str:
    state = chains.state(name)
    return f"{name} [{state}]" if state else name

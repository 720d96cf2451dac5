"""Contributes `/fallback`, the flag `--no-model-fallback` and the settings `plugins.model_fallback`.

Chains are virtual models that stand before the real ones; without a chain nothing of this plugin is imported.
"""

from __future__ import annotations

from collections.abc import Mapping

from zot_core import hookimpl
from zot_core.types.routing import VirtualModel
from zot_core.types.specs import CommandSpec, FlagSpec, SessionFacts, SettingsSpec


@hookimpl
def flags() -> FlagSpec:
    """`--no-model-fallback`."""
    return FlagSpec(name="no-model-fallback", description="no fallback to other models in this run")


@hookimpl
def settings() -> SettingsSpec:
    """`plugins.model_fallback`."""
    return SettingsSpec(model="zot_plugins.model_fallback.settings:FallbackSettings")


@hookimpl
def commands() -> CommandSpec:
    """`/fallback`."""
    return CommandSpec(
        name="fallback",
        group="Model",
        description="show or set the models that answer when a model fails",
        argument_hint="[TARGET FALLBACK...]",
        handler="zot_plugins.model_fallback.menu:fallback",
    )


@hookimpl
def virtual_models(session: SessionFacts) -> list[VirtualModel]:
    """One before each model that has a chain in the settings; `/fallback` adds those of new chains."""
    chains = session.settings.get("chains")
    if not isinstance(chains, Mapping):
        return []
    return [VirtualModel(model=str(name), route="zot_plugins.model_fallback.chains:route") for name in chains]

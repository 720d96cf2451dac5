"""Contributes the flag `--jail`, the settings `plugins.jail`, and the policy when either asks for it."""

from __future__ import annotations

from zot_core import hookimpl
from zot_core.types.specs import FilesystemPolicy, FlagSpec, SessionFacts, SettingsSpec, resolve


@hookimpl
def flags() -> FlagSpec:
    """`--jail`."""
    return FlagSpec(name="jail", description="keep tools and commands inside the project")


@hookimpl
def settings() -> SettingsSpec:
    """`plugins.jail`."""
    return SettingsSpec(model="zot_plugins.jail.settings:JailSettings")


@hookimpl
def filesystem_policies(session: SessionFacts) -> list[FilesystemPolicy]:
    """The jail, where the flag or the settings ask for it. Settings that cannot be read close it to the project."""
    if not session.flags.get("jail") and not session.settings.get("enabled"):
        return []
    policy: FilesystemPolicy = resolve("zot_plugins.jail.policy:policy")(session)
    return [policy]

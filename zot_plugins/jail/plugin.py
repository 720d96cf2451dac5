"""Contributes the flag `--jail`, `/jail`, `/unjail`, the settings `plugins.jail`, and the policy that they switch.

Nothing of the policy is made or imported before a tool is called with the jail on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zot_core import hookimpl
from zot_core.types.specs import (
    CommandSpec,
    FilesystemPolicy,
    FilesystemRequest,
    FlagSpec,
    SessionFacts,
    SettingsSpec,
    resolve,
)

NAME = "jail"
_switched: dict[str, bool] = {}
"""What `/jail` and `/unjail` said last in this process, by zot's home; they win over line and settings."""


@hookimpl
def flags() -> FlagSpec:
    """`--jail`."""
    return FlagSpec(name="jail", description="keep tools and commands inside the project")


@hookimpl
def settings() -> SettingsSpec:
    """`plugins.jail`."""
    return SettingsSpec(model="zot_plugins.jail.settings:JailSettings")


@hookimpl
def commands() -> list[CommandSpec]:
    """`/jail` and `/unjail`."""
    return [
        CommandSpec(
            name="jail",
            description="keep tools and commands inside the project, or say what is open to them",
            handler="zot_plugins.jail.commands:jail",
            group="Permissions",
        ),
        CommandSpec(
            name="unjail",
            description="let tools and commands out of the project",
            handler="zot_plugins.jail.commands:unjail",
            group="Permissions",
        ),
    ]


@hookimpl
def filesystem_policies(session: SessionFacts) -> FilesystemPolicy:
    """The jail, in force while flag, settings or `/jail` ask for it. Settings that cannot be read close it to the
    project."""
    current = _current(session)

    def check(request: FilesystemRequest) -> str | None:
        found = current()
        return None if found is None else found.check(request)

    return FilesystemPolicy(name=NAME, check=check, current=current)


@hookimpl
def statuses(session: SessionFacts) -> str:
    """What is in force."""
    return NAME if _switched.get(session.home, _asked(session)) else ""


def is_on(ctx: Any) -> bool:
    """Whether the jail is in force in a session."""
    return _switched.get(str(ctx.home), asked_for(ctx) != "")


def asked_for(ctx: Any) -> str:
    """Who asks for a jail at the start, in words; "" for nobody."""
    if ctx.flag("jail"):
        return "--jail"
    return "the setting plugins.jail.enabled" if ctx.settings.get("enabled") else ""


def switch(ctx: Any, on: bool) -> None:
    """Switches it for all sessions of this process, from the next tool call on."""
    _switched[str(ctx.home)] = on
    ctx.ui.set_status(NAME, NAME if on else None)


def _asked(session: SessionFacts) -> bool:
    return bool(session.flags.get("jail") or session.settings.get("enabled"))


def _current(session: SessionFacts) -> Callable[[], FilesystemPolicy | None]:
    made: list[FilesystemPolicy] = []

    def current() -> FilesystemPolicy | None:
        if not _switched.get(session.home, _asked(session)):
            return None
        if not made:
            made.append(resolve("zot_plugins.jail.policy:policy")(session))
        return made[0]

    return current

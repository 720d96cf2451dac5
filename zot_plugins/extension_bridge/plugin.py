"""Finds extensions and brings each as a plugin of its own; without one, two looks at folders are all that it costs."""

from __future__ import annotations

import os
from typing import Any

from zot_core import hookimpl
from zot_core.types.specs import Candidate, CliSpec, CommandSpec, SessionFacts, SettingsSpec, resolve


@hookimpl
def settings() -> SettingsSpec:
    """`plugins.extension_bridge`."""
    return SettingsSpec(model="zot_plugins.extension_bridge.settings:BridgeSettings")


@hookimpl
def sources(session: SessionFacts) -> list[Candidate]:
    """The extensions of the command line, of the project where it is trusted, of the home and of the settings."""
    folders = (f"{session.cwd}/.zot/extensions", f"{session.home}/extensions")
    more = session.extension_places.paths
    if not session.extensions and (session.no_extensions or not (more or any(map(os.path.isdir, folders)))):
        return []
    found: list[Candidate] = resolve("zot_plugins.extension_bridge.candidates:candidates")(session)
    return found


@hookimpl
def commands(session: SessionFacts) -> CommandSpec:
    """`/ext`."""

    async def ext(args: str, ctx: Any) -> str | None:
        answer = await resolve("zot_plugins.extension_bridge.command:run")(args, ctx, session)
        return answer  # type: ignore[no-any-return]

    def complete(text: str) -> list[str]:
        return resolve("zot_plugins.extension_bridge.command:complete")(text, session)  # type: ignore[no-any-return]

    return CommandSpec(
        name="ext",
        description="the extensions: state, switches, logs",
        argument_hint="[enable|disable|logs NAME]",
        requires_arguments=False,
        handler=ext,
        complete=complete,
        group="Plugins",
    )


@hookimpl
def cli() -> CliSpec:
    """`zot ext`."""
    return CliSpec(
        name="ext",
        help="List, check, install, switch, make and remove extensions.",
        command="zot_plugins.extension_bridge.cli.group:ext",
    )

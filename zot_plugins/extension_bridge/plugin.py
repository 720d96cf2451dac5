"""Finds extensions and brings each as a plugin of its own; without one, two looks at folders are all that it costs."""

from __future__ import annotations

import os

from zot_core import hookimpl
from zot_core.types.specs import Candidate, CliSpec, SessionFacts, SettingsSpec, resolve


@hookimpl
def settings() -> SettingsSpec:
    """`plugins.extension_bridge`."""
    return SettingsSpec(model="zot_plugins.extension_bridge.settings:BridgeSettings")


@hookimpl
def sources(session: SessionFacts) -> list[Candidate]:
    """The extensions of the command line, of the project where it is trusted, and of the home."""
    folders = (f"{session.cwd}/.zot/extensions", f"{session.home}/extensions")
    if not session.extensions and (session.no_extensions or not any(map(os.path.isdir, folders))):
        return []
    found: list[Candidate] = resolve("zot_plugins.extension_bridge.candidates:candidates")(session)
    return found


@hookimpl
def cli() -> CliSpec:
    """`zot ext`."""
    return CliSpec(
        name="ext",
        help="List, check, install, switch, make and remove extensions.",
        command="zot_plugins.extension_bridge.cli.group:ext",
    )

"""Where `zot ext` looks and what a name means: the home's extensions, or with `--project` the project's.

Reads manifests only.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zot_core.config.paths import Paths, project_settings
from zot_core.plugins.rank import EXPLICIT, PROJECT, USER
from zot_core.types.failure import UsageError
from zot_core.types.record import record
from zot_plugins.extension_bridge.finding import Found, extension_folders, find_extensions

if TYPE_CHECKING:
    from zot_core.frontend import Console
    from zot_core.types.places import ExtensionPlaces

SCOPES = {EXPLICIT: "command line", PROJECT: "project", USER: "home"}
"""Tier -> how people call it."""
json_option = click.option("--json", "as_json", is_flag=True, help="As JSON.")
project_option = click.option("--project", is_flag=True, help="The project's (./.zot/extensions), not the home's.")


@record
class Scope:
    """One of the two places of installed extensions."""

    name: str
    folder: Path


def scope_of(console: Console, project: bool) -> Scope:
    """The project's or the home's."""
    own, home = extension_folders(Paths.find().home, console.cwd)
    return Scope("project", own) if project else Scope("home", home)


def installed(console: Console) -> list[Found]:
    """All in both scopes, as if the project were trusted: what a name means is no matter of trust."""
    return find_extensions((), console.cwd, True, Paths.find().home, more=listed_places(console))


def listed_places(console: Console) -> ExtensionPlaces:
    """What the settings say, the project's only where it is trusted."""
    from zot_core.config.boot import BootCache
    from zot_core.config.settings import load_settings

    paths = Paths.find()
    project = console.cwd if project_settings(console.cwd).is_file() and is_trusted(console) else None
    return load_settings(paths, project, cache=BootCache(paths.boot)).extension_places(paths.home)


def in_scope(console: Console, scope: Scope) -> list[Found]:
    """Those that lie in the scope's folder."""
    return [one for one in installed(console) if one.folder.parent == scope.folder]


def named(console: Console, name: str, project: bool, *, listed: bool = True) -> Found:
    """The extension of this name in the scope. Raises UsageError, which says where it is instead or what is near;
    without `listed` also for one that only the settings lead to."""
    scope = scope_of(console, project)
    for one in in_scope(console, scope):
        if one.name == name:
            return one
    everywhere = installed(console)
    mine = [one for one in everywhere if one.listed_in and one.name == name and (one.tier == PROJECT) == project]
    if mine and listed:
        return mine[0]
    if mine:
        raise UsageError(f"{name} is not installed: extensions.paths in {mine[0].listed_in} leads to {mine[0].folder}")
    other = next((one for one in everywhere if one.name == name), None)
    if other is not None:
        how = "with --project" if other.tier == PROJECT else "without --project"
        raise UsageError(f"{name} is no extension of the {scope.name}; it is in {other.folder.parent}: name it {how}")
    here = [one.name for one in everywhere if (one.tier == PROJECT) == project]
    raise UsageError(unknown(name, here, scope))


def unknown(name: str, known: list[str], scope: Scope | None = None) -> str:
    """What to say of a name that nothing has."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=2, cutoff=0.5)
    where = f" in {scope.folder}" if scope is not None else ""
    hint = f"; did you mean {' or '.join(near)}?" if near else "; zot ext list shows which there are"
    return f"there is no extension {name!r}{where}{hint}"


def one_line(text: str, most: int = 300) -> str:
    """Foreign text that must not look like a line of zot's own."""
    folded = " ".join(text[: most * 4].split())
    return folded if len(folded) <= most else f"{folded[: most - 1]}…"


def kind_of(found: Found) -> str:
    """What it brings: `protocol` with a program, else `theme`, `skills` or both."""
    manifest = found.manifest
    if manifest is None:
        return ""
    if manifest.runs:
        return "protocol"
    return " and ".join([*(["theme"] if manifest.theme else []), *(["skills"] if manifest.skills else [])])


def state_of(found: Found) -> str:
    """enabled, disabled, shadowed, broken or not trusted."""
    if found.skipped == "untrusted":
        return "not trusted"
    if found.skipped == "shadowed":
        return "shadowed"
    if found.error is not None:
        return "broken"
    return found.skipped or "enabled"


def is_trusted(console: Console) -> bool:
    """Whether a run here would take the project's, as far as can be told without asking anybody."""
    if console.trust is not None:
        return console.trust
    from zot_core.config.boot import BootCache
    from zot_core.config.settings import load_settings
    from zot_core.config.trust import TrustStore

    paths = Paths.find()
    decided = TrustStore(paths).get(console.cwd)
    if decided is not None:
        return decided
    return load_settings(paths, cache=BootCache(paths.boot)).values.default_project_trust == "always"


def row_of(found: Found) -> dict[str, Any]:
    """An extension as a row of `list` and `doctor`."""
    manifest = found.manifest
    link = os.path.realpath(found.folder) if found.folder.is_symlink() else ""
    return {
        "name": found.name,
        "version": manifest.version if manifest else "",
        "scope": SCOPES.get(found.tier, ""),
        "state": state_of(found),
        "kind": kind_of(found),
        "language": manifest.language if manifest else "",
        "description": manifest.description if manifest else "",
        "folder": str(found.folder),
        "link_to": link,
        "shadowed_by": str(found.shadowed_by or ""),
        "listed_in": found.listed_in,
        "disabled_in": found.off_in,
        "error": str(found.error or ""),
    }

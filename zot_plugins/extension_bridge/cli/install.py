"""`zot ext install`: an extension into its scope, whole or not at all. Reads its manifest, never runs its code."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zot_core.config.files import locked
from zot_core.config.paths import Paths, reason
from zot_core.config.problems import SaveRefused
from zot_core.types.failure import ZotError
from zot_plugins.extension_bridge.cli import replacing
from zot_plugins.extension_bridge.cli.places import in_scope, is_trusted, json_option, project_option, scope_of
from zot_plugins.extension_bridge.cli.sources import Folder, Repository, source_of
from zot_plugins.extension_bridge.cli.staging import RECORD, check, copy, digests, staging
from zot_plugins.extension_bridge.manifest import Manifest, ManifestError, read_manifest

if TYPE_CHECKING:
    from zot_core.frontend import Console
    from zot_plugins.extension_bridge.cli.places import Scope

_HELP = """Copy a folder, or clone a git repository, into the extensions.

SOURCE is a folder, or the URL of a git repository, https://host/owner/name or user@host:path; @REF behind it is a
branch, a tag or a commit. Nothing of it is run."""


@click.command(help=_HELP)
@click.argument("source", metavar="SOURCE[@REF]")
@click.option("--force", is_flag=True, help="Replace one of that name; what it keeps in its folder stays.")
@project_option
@json_option
@click.pass_obj
def install(console: Console, source: str, force: bool, project: bool, as_json: bool) -> None:
    """Says what was installed and what it will be able to do."""
    taken, scope = source_of(source, console.cwd), scope_of(console, project)
    shown = taken.shown if isinstance(taken, Repository) else str(taken.path)
    with staging(scope.folder) as folder:
        commit = _fetched(taken, folder, shown)
        manifest = _manifest(folder, shown)
        lock = scope.folder / manifest.name
        try:
            with locked(lock, Paths.find().cache / "locks"):
                target, kept = _put(console, scope, manifest, force, {"source": shown, "commit": commit})
        except SaveRefused as error:
            raise ZotError(f"nothing was installed: {error}") from error
        except OSError as error:
            raise ZotError(f"nothing was installed: {error.filename or lock}: {reason(error)}") from error
    manifest = read_manifest(target)
    can = abilities(manifest)
    found = {"name": manifest.name, "version": manifest.version, "scope": scope.name, "folder": str(target)}
    found |= {"source": shown, "commit": commit}
    if as_json:
        console.json(found | {"enabled": manifest.enabled, "kept": kept, "can": can})
        return
    version, at = f" {manifest.version}" if manifest.version else "", f" at {commit[:12]}" if commit else ""
    console.say(f"installed {manifest.name}{version} from {shown}{at}\n  in {target}")
    for line in [*can, *(f"kept: {line}" for line in kept)]:
        console.say(f"  {line}")
    if not manifest.enabled:
        console.say(f"  it is disabled; zot ext enable {manifest.name} lets it load")
    if project and not is_trusted(console):
        console.say("  this project is not trusted yet; its extensions are loaded once it is (--trust)")


def _fetched(taken: Folder | Repository, folder: Path, shown: str) -> str:
    """Fills the folder; the commit of a repository."""
    commit = ""
    try:
        if isinstance(taken, Repository):
            from zot_plugins.extension_bridge.cli.cloning import clone

            commit = clone(taken, folder)
        else:
            copy(taken.path, folder)
        check(folder)
        (folder / RECORD).unlink(missing_ok=True)  # of a repository that somebody has put one into
    except OSError as error:
        raise ZotError(f"nothing was installed: {error.filename or shown}: {reason(error)}") from error
    except ZotError as error:
        raise ZotError(f"nothing was installed: {error}") from error
    return commit


def _manifest(folder: Path, shown: str) -> Manifest:
    try:
        return read_manifest(folder)
    except ManifestError as error:
        field = f"{error.field}: " if error.field else ""
        raise ZotError(f"nothing was installed: {shown}: {error.path.name}: {field}{error.problem}") from error


def _put(
    console: Console, scope: Scope, manifest: Manifest, force: bool, record: dict[str, Any]
) -> tuple[Path, list[str]]:
    """Moves what was staged to its place; the folder, and what was kept of the one that was there. Under the lock."""
    staged = manifest.folder
    old = next((one for one in in_scope(console, scope) if one.name == manifest.name), None)
    target = old.folder if old is not None else scope.folder / manifest.name
    there = os.path.lexists(target)
    if there and not force:
        version = f" {old.manifest.version}" if old is not None and old.manifest and old.manifest.version else ""
        raise ZotError(
            f"nothing was installed: {manifest.name}{version} is there already ({target}); "
            f"--force replaces it, zot ext remove {manifest.name} deletes it"
        )
    (staged / RECORD).write_text(json.dumps(record | {"files": digests(staged)}, indent=1) + "\n", encoding="utf-8")
    staged.chmod(0o755)
    if not there:
        staged.rename(target)
        return target, []
    disabled = old is not None and not old.enabled
    return target, replacing.replace(target, staged, disabled=disabled)


def abilities(manifest: Manifest) -> list[str]:
    """What it will be able to do, and what stands in its way, for people."""
    lines = []
    if manifest.runs:
        call = " ".join([manifest.exec, *manifest.args])
        lines.append(f"runs: {call}, whenever zot starts, as you: it can do whatever you can, outside of every jail")
        lines.append("may: bring commands and tools, see and change prompts, tool calls and answers")
        lines += _program(manifest)
    if manifest.theme:
        lines.append(f"theme: {manifest.theme.relative_to(manifest.folder)}")
    if manifest.skills:
        lines.append(f"skills, which instruct the model: {', '.join(manifest.skills)}")
    lines += [f"missing: {path} (skills)" for path in manifest.skills if not (manifest.folder / path).exists()]
    if manifest.unknown:
        lines.append(f"not known to zot: {', '.join(manifest.unknown)} in {manifest.path.name}")
    return lines


def _program(manifest: Manifest) -> list[str]:
    """Whether its program can be started."""
    path = manifest.folder / manifest.exec
    if "/" not in manifest.exec and not path.exists():
        return []
    try:
        mode = path.stat().st_mode
    except OSError:
        return [f"missing: {manifest.exec} is not there; it may have to be built first, see its README"]
    if not stat.S_ISREG(mode):
        return [f"missing: {manifest.exec} is no file"]
    if os.name != "nt" and not mode & 0o111:
        return [f"missing: {manifest.exec} is not executable; chmod +x {path}"]
    return []

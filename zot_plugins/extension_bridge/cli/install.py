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
from zot_plugins.extension_bridge.cli.places import (
    in_scope,
    is_trusted,
    json_option,
    one_line,
    project_option,
    scope_of,
)
from zot_plugins.extension_bridge.cli.sources import Folder, Repository, source_of
from zot_plugins.extension_bridge.cli.staging import RECORD, check, copy, digests, size_of, staging
from zot_plugins.extension_bridge.finding import FILE
from zot_plugins.extension_bridge.manifest import Manifest, ManifestError, read_manifest

if TYPE_CHECKING:
    from zot_core.frontend import Console
    from zot_plugins.extension_bridge.cli.places import Scope

_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))}
"""Names that are no files on Windows."""
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
        files, size = size_of(folder)
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
    amount = f"{files:,} file{'' if files == 1 else 's'}, {_shown_size(size)}"
    if as_json:
        console.json(found | {"files": files, "bytes": size, "enabled": manifest.enabled, "kept": kept, "can": can})
        return
    version = f" {one_line(manifest.version, 40)}" if manifest.version else ""
    at = f" at {commit[:12]}" if commit else ""
    console.say(f"installed {manifest.name}{version} from {shown}{at}")
    console.say(f"  in {target} ({amount})")
    for line in [*can, *(f"kept: {line}" for line in kept)]:
        console.say(f"  {one_line(line)}")
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
        manifest = read_manifest(folder)
    except ManifestError as error:
        if not (folder / FILE).exists():
            below = sorted(one.parent.relative_to(folder).as_posix() for one in folder.glob(f"*/{FILE}"))
            hint = f"; there is one in each of: {', '.join(below[:8])}" if below else ""
            raise ZotError(f"nothing was installed: {shown} has no {FILE} at its top{hint}") from error
        field = f"{error.field}: " if error.field else ""
        raise ZotError(f"nothing was installed: {shown}: {FILE}: {field}{error.problem}") from error
    name = manifest.name
    if name.startswith("_") or name.endswith(".") or name.partition(".")[0].casefold() in _DEVICES:
        raise ZotError(f"nothing was installed: {shown}: {FILE}: name: {name!r} cannot be the name of a folder here")
    return manifest


def _put(
    console: Console, scope: Scope, manifest: Manifest, force: bool, record: dict[str, Any]
) -> tuple[Path, list[str]]:
    """Moves what was staged to its place; the folder, and what was kept of the one that was there. Under the lock."""
    staged = manifest.folder
    old = next((one for one in in_scope(console, scope) if one.name == manifest.name), None)
    target = old.folder if old is not None else scope.folder / manifest.name
    there = os.path.lexists(target)
    other = next((one for one in in_scope(console, scope) if one.folder == target and one.name != manifest.name), None)
    if other is not None and other.manifest is not None:
        raise ZotError(
            f"nothing was installed: the folder {target} holds another extension, {other.name}; "
            f"zot ext remove {other.name} deletes it"
        )
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
        call = one_line(" ".join([manifest.exec, *manifest.args]))
        lines.append(f"runs: {call}, whenever zot starts, as you: it can do whatever you can, outside of every jail")
        if _leads_out(manifest, manifest.exec):
            lines.append(f"outside: {one_line(manifest.exec)} is not in its own folder; it did not come with it")
        lines.append("may: bring commands and tools, see and change prompts, tool calls and answers")
        lines += _program(manifest)
    if manifest.theme:
        lines.append(f"theme: {manifest.theme.relative_to(manifest.folder)}")
    if manifest.skills:
        lines.append(f"skills, which instruct the model: {', '.join(manifest.skills)}")
    lines += [f"missing: {path} (skills)" for path in manifest.skills if not (manifest.folder / path).exists()]
    lines += [
        f"outside: {path} (skills) is not in its own folder" for path in manifest.skills if _leads_out(manifest, path)
    ]
    if manifest.unknown:
        lines.append(f"not known to zot: {', '.join(manifest.unknown)} in {manifest.path.name}")
    return lines


def _leads_out(manifest: Manifest, path: str) -> bool:
    """Whether a path of the manifest leads out of its folder. A bare name is none: that is looked for on PATH."""
    return not Path(os.path.realpath(manifest.folder / path)).is_relative_to(os.path.realpath(manifest.folder))


def _shown_size(size: int) -> str:
    """Bytes as people say them."""
    for unit, step in (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)):
        if size >= step:
            return f"{size / step:.1f} {unit}"
    return f"{size} bytes"


def _program(manifest: Manifest) -> list[str]:
    """Whether its program can be started."""
    path = manifest.folder / manifest.exec
    if "/" not in manifest.exec and not path.exists():
        return []
    try:
        mode = path.stat().st_mode
    except OSError:
        return [f"missing: {one_line(manifest.exec)} is not there; it may have to be built first, see its README"]
    if not stat.S_ISREG(mode):
        return [f"missing: {manifest.exec} is no file"]
    if os.name != "nt" and not mode & 0o111:
        return [f"missing: {manifest.exec} is not executable; chmod +x {path}"]
    return []

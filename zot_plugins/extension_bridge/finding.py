"""Where extensions are: those of the command line, the project's, the home's; by name, the first wins.

Reads manifests and starts nothing. Costs two looks at folders where there is none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from zot_core.plugins.rank import EXPLICIT, PROJECT, USER
from zot_core.types.record import record

if TYPE_CHECKING:
    from zot_plugins.extension_bridge.manifest import Manifest, ManifestError

FILE = "extension.json"
FOLDER = "extensions"
PROJECT_FOLDER = ".zot"


@record(kw_only=True)
class Found:
    """An extension that was found, loaded or not.

    `name` is the manifest's, or the folder's when the manifest cannot be read: then `error` says why. `tier` and
    `position` are its place in the order (`zot_core.plugins.rank`). `skipped` says why it is not loaded, with
    `shadowed_by` as the folder that has its name.
    """

    folder: Path
    name: str
    tier: int
    position: int = 0
    manifest: Manifest | None = None
    error: ManifestError | None = None
    skipped: Literal["", "disabled", "shadowed", "untrusted"] = ""
    shadowed_by: Path | None = None

    @property
    def enabled(self) -> bool:
        """What its manifest says; one that cannot be read is not disabled."""
        return self.manifest is None or self.manifest.enabled

    @property
    def loads(self) -> bool:
        """Whether it is one to load; with an `error` the attempt fails and says so."""
        return not self.skipped


def extension_folders(home: str | Path, cwd: str | Path | None = None) -> tuple[Path, ...]:
    """The folders that hold installed extensions: the project's first, if there is one, then the home's."""
    project = () if cwd is None else (Path(cwd) / PROJECT_FOLDER / FOLDER,)
    return (*project, Path(home) / FOLDER)


def find_extensions(
    explicit: Iterable[tuple[int, str]],
    cwd: str | Path,
    trusted: bool,
    home: str | Path,
    no_extensions: bool = False,
) -> list[Found]:
    """Every extension, in the order of rank, those that are not loaded included.

    `explicit` are (position, path) of the command line; a relative path begins at `cwd`. They are loaded even where
    their manifest says `enabled: false`, since somebody asked for them. The project's are `untrusted` and count for
    nothing while it is not trusted. A disabled one keeps its name: it switches off those behind it. With
    `no_extensions` only explicit ones are looked for.
    """
    found = [_explicit(Path(cwd), position, path) for position, path in explicit]
    if not no_extensions:
        project, own = extension_folders(home, cwd)
        if os.path.realpath(project) != os.path.realpath(own):
            found += [_read(folder, PROJECT) for folder in _folders(project)]
        found += [_read(folder, USER) for folder in _folders(own)]
    return _judged(found, trusted)


def _judged(found: list[Found], trusted: bool) -> list[Found]:
    winners: dict[str, Found] = {}
    judged = []
    for one in sorted(found, key=lambda one: (one.tier, one.position, one.name, one.folder.name)):
        if one.tier == PROJECT and not trusted:
            judged.append(_with(one, "untrusted"))
            continue
        winner = winners.setdefault(one.name, one)
        if winner is not one:
            judged.append(_with(one, "shadowed", winner.folder))
        elif not one.enabled and one.tier != EXPLICIT:
            judged.append(_with(one, "disabled"))
        else:
            judged.append(one)
    return judged


def _with(one: Found, skipped: Literal["disabled", "shadowed", "untrusted"], shadowed_by: Path | None = None) -> Found:
    return Found(
        folder=one.folder,
        name=one.name,
        tier=one.tier,
        position=one.position,
        manifest=one.manifest,
        error=one.error,
        skipped=skipped,
        shadowed_by=shadowed_by,
    )


def _explicit(cwd: Path, position: int, path: str) -> Found:
    folder = cwd / os.path.expanduser(path)  # noqa: PTH111 - a `~` that names nobody stays as it is
    if folder.name == FILE and folder.is_file():
        folder = folder.parent
    return _read(Path(os.path.normpath(folder)), EXPLICIT, position)


def _read(folder: Path, tier: int, position: int = 0) -> Found:
    # Imported only where there is a folder: most starts find none
    from zot_plugins.extension_bridge.manifest import ManifestError, read_manifest

    try:
        manifest = read_manifest(folder)
    except ManifestError as error:
        return Found(folder=folder, name=folder.name, tier=tier, position=position, error=error)
    return Found(folder=folder, name=manifest.name, tier=tier, position=position, manifest=manifest)


def _folders(parent: Path) -> Iterator[Path]:
    """The folders in `parent` that have a manifest; one that cannot be looked at gives an error when it is read."""
    try:
        names = sorted(os.listdir(parent))  # noqa: PTH208 - names alone, and this runs at every start
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        yield parent
        return
    for name in names:
        folder = parent / name
        if not name.startswith((".", "_")) and os.path.lexists(folder / FILE):
            yield folder

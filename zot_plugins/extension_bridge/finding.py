"""Where extensions are: those of the command line, the project's, the home's; by name, the first wins.

Reads manifests and starts nothing. Costs two looks at folders where there is none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zot_core.plugins.rank import EXPLICIT, PROJECT, USER
from zot_core.types.places import ExtensionPlaces
from zot_core.types.record import record

if TYPE_CHECKING:
    from zot_plugins.extension_bridge.manifest import Manifest, ManifestError

FILE = "extension.json"
FOLDER = "extensions"
PROJECT_FOLDER = ".zot"
NOWHERE = ExtensionPlaces()


@record(kw_only=True)
class Found:
    """An extension that was found, loaded or not.

    `name` is the manifest's, or the folder's when the manifest cannot be read: then `error` says why. `tier` and
    `position` are its place in the order (`zot_core.plugins.rank`). `skipped` says why it is not loaded, with
    `shadowed_by` as the folder that has its name, and `off_in` as the settings file whose `extensions.disabled` names
    it. `listed_in` is the settings file whose `extensions.paths` leads to it.
    """

    folder: Path
    name: str
    tier: int
    position: int = 0
    manifest: Manifest | None = None
    error: ManifestError | None = None
    skipped: Literal["", "disabled", "shadowed", "untrusted"] = ""
    shadowed_by: Path | None = None
    listed_in: str = ""
    off_in: str = ""

    @property
    def enabled(self) -> bool:
        """What its manifest and the settings say; one that cannot be read is not disabled by its manifest."""
        return not self.off_in and (self.manifest is None or self.manifest.enabled)

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
    more: ExtensionPlaces = NOWHERE,
) -> list[Found]:
    """Every extension, in the order of rank, those that are not loaded included.

    `explicit` are (position, path) of the command line; a relative path begins at `cwd`. They are loaded even where
    their manifest says `enabled: false`, since somebody asked for them. The project's are `untrusted` and count for
    nothing while it is not trusted. A disabled one keeps its name: it switches off those behind it. With
    `no_extensions` only explicit ones are looked for. `more` is what the settings say: those that they lead to come
    after the installed ones of the same tier, in the order of the list.
    """
    found = [_explicit(Path(cwd), position, path) for position, path in explicit]
    if not no_extensions:
        project, own = extension_folders(home, cwd)
        if os.path.realpath(project) != os.path.realpath(own):
            found += [_read(folder, PROJECT) for folder in _folders(project)]
        found += [_read(folder, USER) for folder in _folders(own)]
        if more.paths:
            found += _listed(more, {os.path.realpath(one.folder) for one in found})
    if more.disabled:
        found = [_with(one, off_in=more.disabled_in) if one.name in more.disabled else one for one in found]
    return _judged(found, trusted)


def off_in(found: Found) -> str:
    """Why it does not load though its manifest may say so."""
    return f"extensions.disabled in {found.off_in} names it; take it out of that list"


def _listed(more: ExtensionPlaces, known: set[str]) -> Iterator[Found]:
    """What `extensions.paths` leads to; a path that leads to nothing is an extension that cannot be read."""
    tier = PROJECT if more.of_project else USER
    for position, path in enumerate(map(Path, more.paths), 1):
        folders = [path] if os.path.lexists(path / FILE) else list(_folders(path))
        for folder in folders or [path]:
            if os.path.realpath(folder) not in known:
                known.add(os.path.realpath(folder))
                yield _with(_read(folder, tier, position), listed_in=more.paths_in)


def _judged(found: list[Found], trusted: bool) -> list[Found]:
    winners: dict[str, Found] = {}
    judged = []
    for one in sorted(found, key=lambda one: (one.tier, one.position, one.name, one.folder.name)):
        if one.tier == PROJECT and not trusted:
            judged.append(_with(one, skipped="untrusted"))
            continue
        winner = winners.setdefault(one.name, one)
        if winner is not one:
            judged.append(_with(one, skipped="shadowed", shadowed_by=winner.folder))
        elif not one.enabled and one.tier != EXPLICIT:
            judged.append(_with(one, skipped="disabled"))
        else:
            judged.append(one)
    return judged


def _with(one: Found, **changes: Any) -> Found:
    return Found(**{name: getattr(one, name) for name in Found.__dataclass_fields__} | changes)


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

"""Finding plugins: candidates from zot's own table, installed packages, the command line and folders. Imports none.

Which sources are asked, and whether a project is trusted, is decided elsewhere. The table of built-ins is read by a
dotted string: the one place where the core reaches for the package that it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from zot_core.plugins.errors import PluginLoadError
from zot_core.plugins.loader import Loader
from zot_core.plugins.rank import BUILTIN, EXPLICIT, INSTALLED
from zot_core.types.record import record
from zot_core.types.specs import Candidate, resolve

GROUP = "zot"
"""The group of entry points in which packages name their plugins."""
_BUILTINS = "zot_plugins:BUILTINS"


class EntryPoint(NamedTuple):
    """A package's plugin: its name, its `module` or `module:object`, and the distribution that brings it."""

    name: str
    value: str
    distribution: str = ""


def builtins() -> Mapping[str, str]:
    """Zot's own plugins, name -> module, in the order of the table; empty where that package is not installed."""
    try:
        table: Mapping[str, str] = resolve(_BUILTINS)
    except ModuleNotFoundError:
        return {}
    return table


def builtin_candidates(loader: Loader) -> list[Candidate]:
    """The built-ins, in the order of their table."""
    return [
        Candidate(name=name, tier=BUILTIN, position=place, load=_module(loader, module, name), origin=module)
        for place, (name, module) in enumerate(builtins().items())
    ]


def installed_entry_points() -> list[EntryPoint]:
    """The entry points of the group in every installed distribution. Costs tens of milliseconds: keep the answer."""
    from importlib import metadata  # 35 ms, and only needed where no kept answer is fresh

    found = metadata.entry_points(group=GROUP)
    return [EntryPoint(point.name, point.value, point.dist.name if point.dist else "") for point in found]


def entry_point_candidates(
    loader: Loader, read: Callable[[], Iterable[EntryPoint]] = installed_entry_points
) -> list[Candidate]:
    """Plugins of installed packages. Zot's own are entry points too, and are left out: their table brings them."""
    own = set(builtins().values())
    points = sorted({point for point in read() if point.value not in own}, key=lambda point: (point.name, point.value))
    return [
        Candidate(
            name=point.name,
            tier=INSTALLED,
            load=_module(loader, point.value, point.name),
            origin=f"{point.distribution or 'package'} ({point.value})",
        )
        for point in points
    ]


def folder_candidates(loader: Loader, folder: Path, tier: int) -> list[Candidate]:
    """Plugins in a folder: `.py` files and folders with `__init__.py`, but for names that begin with `_` or `.`.

    A folder that is there and cannot be read is one candidate that says so when it is loaded.
    """
    try:
        entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        reason = f"the folder cannot be read: {error.strerror}"
        return [Candidate(name=folder.name, tier=tier, load=_unreadable(folder, reason), origin=str(folder))]
    found = [entry for entry in entries if not entry.name.startswith(("_", ".")) and _is_plugin(entry)]
    return [
        Candidate(name=_stem(entry), tier=tier, load=_path(loader, entry, _stem(entry)), origin=str(entry))
        for entry in found
    ]


def explicit_candidates(loader: Loader, references: Sequence[tuple[int, str]], cwd: Path) -> list[Candidate]:
    """Plugins of the command line, `--plugin FILE-or-MODULE`, each with its position among all explicit ones.

    Something with a slash or the ending `.py`, or that exists in `cwd`, is a path; anything else is a module.
    """
    candidates = []
    for position, reference in references:
        path = cwd / Path(reference).expanduser()
        if "/" in reference or reference.endswith(".py") or _is_plugin(path):
            name, load = _stem(path), _path(loader, path, _stem(path))
        else:
            name = reference.partition(":")[0].rpartition(".")[2]
            load = _module(loader, reference, name)
        candidates.append(Candidate(name=name, tier=EXPLICIT, position=position, load=load, origin=reference))
    return candidates


@record
class Choice:
    """Who is loaded, in order, and who is not because another has its name: (loser, winner)."""

    kept: tuple[Candidate, ...]
    shadowed: tuple[tuple[Candidate, Candidate], ...] = ()


def choose(candidates: Iterable[Candidate]) -> Choice:
    """One plugin for each name, whatever its kind (`ext:guard` and `guard` are one): the first by tier and position.

    An extension never takes the place of a built-in; of that name both are kept.
    """
    found = sorted(candidates, key=lambda one: (one.tier, one.position, one.name))
    builtins = {one.name for one in found if one.tier == BUILTIN}
    kept: dict[str, Candidate] = {}
    shadowed = []
    for candidate in found:
        bare = candidate.name.removeprefix("ext:")
        winner = kept.setdefault(candidate.name if bare in builtins else bare, candidate)
        if winner is not candidate:
            shadowed.append((candidate, winner))
    return Choice(tuple(kept.values()), tuple(shadowed))


def _module(loader: Loader, reference: str, name: str) -> Any:
    async def load() -> Any:
        return loader.module(reference, name)

    return load


def _path(loader: Loader, path: Path, name: str) -> Any:
    async def load() -> Any:
        return loader.path(path, name)

    return load


def _unreadable(folder: Path, reason: str) -> Any:
    async def load() -> Any:
        raise PluginLoadError(folder.name, reason, origin=str(folder))

    return load


def _is_plugin(path: Path) -> bool:
    try:
        return (path / "__init__.py").is_file() if path.is_dir() else path.suffix == ".py" and path.is_file()
    except OSError:  # no permission to look, or a name that no file can have
        return path.suffix == ".py"


def _stem(path: Path) -> str:
    return path.name if path.is_dir() else path.stem

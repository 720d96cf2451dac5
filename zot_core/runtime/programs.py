"""Commands of the `zot` program that plugins bring (`zot ext`), found without a session, a project or an extension.

Only built-in, installed, the user's and explicit plugins are asked. What they answered is kept in the boot snapshot, so
that neither a prompt nor `zot --help` imports a plugin to know it. A function that asks for the session is told this
process's facts once, and its answer is kept as well.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zot_core.types.failure import ZotError
from zot_core.types.record import record

if TYPE_CHECKING:
    from zot_core.config.boot import BootCache
    from zot_core.config.paths import Paths
    from zot_core.plugins.host import PluginHost
    from zot_core.types.specs import Candidate, CliSpec

MAX_FILES = 200
"""Python files of a plugin's folder that are watched for changes."""


@record(kw_only=True)
class Program:
    """A command `zot NAME`. `command` is a dotted string or the object itself; None for an object that was kept by name
    only, and is had by importing its plugin."""

    name: str
    help: str
    plugin: str
    command: Any = None


@record(kw_only=True)
class Wanted:
    """Which plugins a command line asks for: those that it names, and whether the others count."""

    cwd: str
    explicit: tuple[str, ...] = ()
    no_plugins: bool = False
    no_builtins: bool = False


class Programs:
    """The commands for one command line. Nothing is read or imported before it is asked."""

    def __init__(self, wanted: Wanted, paths: Paths, boot: BootCache) -> None:
        self._wanted, self._paths, self._boot = wanted, paths, boot

    def kept(self) -> list[Program]:
        """What the snapshot knows; empty where it knows nothing. Imports no plugin."""
        return _programs(self._boot.kept(self._section(), self._sources()))

    def find(self) -> list[Program]:
        """All, in the order of rank. Plugins of the command line are imported, the others only when something of
        theirs has changed. A plugin that fails brings nothing; whoever opens an App is told of it."""
        own: list[Program] = []
        if self._wanted.explicit:
            own = [_program(plugin, spec, keep=False) for plugin, spec in self._ask(explicit=True)[0]]
        names = {program.plugin for program in own}
        rows = self._boot.cached_with(self._section(), self._sources(), self._build)
        self._boot.save()
        return [*own, *(program for program in _programs(rows) if program.plugin not in names)]

    def command(self, program: Program) -> Any:
        """The command itself. Raises ZotError when it cannot be had."""
        from zot_core.types.specs import resolve  # not for the help page

        if isinstance(program.command, str):
            try:
                return resolve(program.command)
            except (ImportError, AttributeError) as error:
                raise ZotError(f"the command {program.name} cannot be loaded: {error}") from error
        if program.command is not None:
            return program.command
        for plugin, spec in self._ask(explicit=False)[0]:
            if (plugin, spec.name) == (program.plugin, program.name):
                return resolve(spec.command) if isinstance(spec.command, str) else spec.command
        raise ZotError(f"the command {program.name} of {program.plugin} is gone; zot plugins lists what is loaded")

    def _section(self) -> str:
        said = [*sys.path, str(self._wanted.no_plugins), str(self._wanted.no_builtins)]
        return f"programs:{zlib.crc32(chr(0).join(said).encode(errors='surrogateescape')):08x}"

    def _sources(self) -> list[str]:
        paths = self._paths
        return [*(folder or "." for folder in sys.path), *_entries(paths), str(paths.settings), str(paths.go_config)]

    def _build(self) -> tuple[Any, Iterable[str | Path]]:
        found, host, candidates = self._ask(explicit=False)
        programs = [_program(plugin, spec, keep=True) for plugin, spec in found]
        rows = [[program.name, program.help, program.plugin, program.command] for program in programs]
        return rows, dict.fromkeys([*_files(host), *_origins(candidates)])

    def _ask(self, explicit: bool) -> tuple[list[tuple[str, CliSpec]], PluginHost, list[Candidate]]:
        """What the plugins of the command line contribute, or all the others."""
        import asyncio

        from zot_core.plugins.diagnostics import Diagnostics
        from zot_core.plugins.host import PluginHost
        from zot_core.plugins.loader import Loader
        from zot_core.types.specs import SessionFacts

        diagnostics = Diagnostics()
        loader, host = Loader(diagnostics), PluginHost(diagnostics)
        candidates = list(self._candidates(loader, explicit))
        asyncio.run(_register(host, candidates))
        loader.hand_on()
        facts = SessionFacts(cwd=self._wanted.cwd, mode="print", home=str(self._paths.home))
        found = host.collect("cli", lambda plugin: facts)
        return [(one.owner.name, one.item) for one in found], host, candidates

    def _candidates(self, loader: Any, explicit: bool) -> Iterator[Candidate]:
        from zot_core.config.boot import entry_points
        from zot_core.config.settings import load_settings
        from zot_core.plugins import discovery
        from zot_core.plugins.rank import USER

        wanted = self._wanted
        if explicit:
            yield from discovery.explicit_candidates(loader, list(enumerate(wanted.explicit)), Path(wanted.cwd))
            return
        found: list[Candidate] = []
        if not wanted.no_plugins:
            found += discovery.folder_candidates(loader, self._paths.plugins, USER)
            points = [discovery.EntryPoint(*row) for row in entry_points(self._boot)]
            found += discovery.entry_point_candidates(loader, lambda: points)
        if not wanted.no_builtins:
            found += discovery.builtin_candidates(loader)
        disabled = load_settings(self._paths, cache=self._boot).values.disabled_plugins
        yield from (one for one in found if one.name not in disabled)


async def _register(host: PluginHost, candidates: Sequence[Candidate]) -> None:
    from zot_core.plugins import discovery
    from zot_core.plugins.errors import PluginLoadError

    for one in discovery.choose(candidates).kept:
        try:
            host.register(await one.load(), one.name, tier=one.tier, position=one.position, origin=one.origin)
        except PluginLoadError:
            continue  # told by whoever opens an App; here it only brings no command


def _program(plugin: str, spec: CliSpec, keep: bool) -> Program:
    command = spec.command if isinstance(spec.command, str) or not keep else None
    return Program(name=spec.name, help=spec.help, plugin=plugin, command=command)


def _programs(rows: Any) -> list[Program]:
    """Rows of the snapshot; what is no row of this shape is as if it were not there."""
    programs = []
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, list) and len(row) == 4 and all(isinstance(text, str) for text in row[:3]):
            name, text, plugin, command = row
            programs.append(Program(name=name, help=text, plugin=plugin, command=command))
    return programs


def _entries(paths: Paths) -> list[str]:
    """What lies in the user's folder of plugins; the folder itself changes by an import's bytecode."""
    try:
        with os.scandir(paths.plugins) as found:
            return sorted(entry.path for entry in found if entry.name != "__pycache__")
    except OSError:
        return []


def _files(host: PluginHost) -> Iterator[str]:
    from zot_core.plugins.rank import BUILTIN

    for loaded in host.plugins.values():
        module = (
            loaded.plugin if hasattr(loaded.plugin, "__file__") else sys.modules.get(type(loaded.plugin).__module__)
        )
        if file := getattr(module, "__file__", None):
            yield str(file)
            if loaded.tier == BUILTIN:
                yield str(Path(file).parents[1])  # where another built-in would appear


def _origins(candidates: Sequence[Candidate]) -> Iterator[str]:
    """The files of the user's own plugins, those that could not be imported included."""
    from zot_core.plugins.rank import USER

    for one in candidates:
        if one.tier == USER:
            path = Path(one.origin)
            yield str(path)
            if path.is_dir():
                yield from sorted(str(file) for file in path.rglob("*.py"))[:MAX_FILES]

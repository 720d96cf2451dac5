"""Importing plugins: a file, a folder or a module, so that what they do wrong at import stays their own problem.

Files and folders are imported under a name of their own with a generation number, never over each other: code that
still runs in an older generation keeps its modules. Knows no host and does not decide what is loaded.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import re
import sys
from collections import Counter
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

from zot_core.hooks.markers import forget_marks
from zot_core.plugins.diagnostics import Diagnostic, Diagnostics
from zot_core.plugins.errors import PluginLoadError
from zot_core.plugins.reports import described, plugin_traceback

SLOW_IMPORT = 1.0
"""Seconds that an import may take before its plugin is named."""
_PREFIX = "zot_plugin_g"
_generations: Counter[str] = Counter()
_handed_on: dict[tuple[str, str], Any] = {}


class Loader:
    """Imports plugins and keeps what it imported, for every Runtime of a process, until `renew` is called."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics
        self._loaded: dict[tuple[str, str], Any] = dict(_handed_on)
        _handed_on.clear()
        self._stale: set[str] = set()

    def path(self, path: Path, name: str) -> ModuleType:
        """The plugin in a `.py` file or a folder with `__init__.py`. Raises PluginLoadError."""
        key = (name, str(path))
        if key not in self._loaded:
            self._loaded[key] = self._guarded(name, str(path), lambda: _import_path(path, name))
        module: ModuleType = self._loaded[key]
        return module

    def module(self, reference: str, name: str) -> Any:
        """The plugin `package.module` or `package.module:object`; a class is called to get its object.

        After `renew` the module is imported anew from its file, under a generation's name. Raises PluginLoadError.
        """
        key = (name, reference)
        if key not in self._loaded:
            dotted, _, attribute = reference.partition(":")
            again = dotted in self._stale
            self._stale.discard(dotted)
            self._loaded[key] = self._guarded(
                name, reference, lambda: _object(_import_again(dotted, name) if again else _plain(dotted), attribute)
            )
        return self._loaded[key]

    def hand_on(self) -> None:
        """Leaves what it imported to the next Loader of this process: no plugin is imported twice in a start."""
        _handed_on.update(self._loaded)

    def renew(self) -> None:
        """From now on all but zot's own plugins is imported anew; what was imported lives on where it is used."""
        own = {key: loaded for key, loaded in self._loaded.items() if key[1].startswith("zot_plugins.")}
        self._stale |= {key[1].partition(":")[0] for key in self._loaded.keys() - own.keys()}
        self._loaded = own

    def discard(self, plugin: Any) -> None:
        """Lets go of a module that was replaced. Only generations are taken out of `sys.modules`."""
        name = plugin.__name__ if isinstance(plugin, ModuleType) else type(plugin).__module__
        if name.startswith(_PREFIX):
            _forget(name.partition(".")[0])

    def _guarded(self, name: str, origin: str, load: Any) -> Any:
        began = perf_counter()
        try:
            # What a plugin prints while it is imported must not end up in the answer of a script.
            with contextlib.redirect_stdout(sys.stderr):
                plugin = load()
        except BaseException as error:  # whatever it is, it is this plugin's; but Ctrl-C is a person's
            if isinstance(error, KeyboardInterrupt):
                raise
            raise PluginLoadError(name, _why(error), origin=origin, traceback=plugin_traceback(error)) from error
        took = perf_counter() - began
        if took > SLOW_IMPORT:
            message = f"its import took {took:.1f} s; name heavy code by a dotted string to import it when used"
            self._diagnostics.report(Diagnostic("warning", name, "", message))
        return plugin


def _import_path(path: Path, name: str) -> ModuleType:
    folder = path.is_dir()
    source = path / "__init__.py" if folder else path
    if not source.is_file():
        raise _NoSource(f"there is no {source}")
    key = re.sub(r"\W", "_", name)
    _generations[key] += 1
    number = _generations[key]
    module_name = f"{_PREFIX}{number}_{key}"
    # A later generation is compiled from its source: an edit within a second of the last one would else go unseen,
    # because bytecode is matched by whole seconds and size.
    loader = SourceFileLoader(module_name, str(source)) if number == 1 else _FreshLoader(module_name, str(source))
    if number > 1 and _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    spec = importlib.util.spec_from_file_location(
        module_name, source, loader=loader, submodule_search_locations=[str(path)] if folder else None
    )
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        _forget(module_name)
        raise
    return module


def _plain(dotted: str) -> ModuleType:
    return importlib.import_module(dotted)


def _import_again(dotted: str, name: str) -> ModuleType:
    try:
        spec = importlib.util.find_spec(dotted)
    except ValueError:  # a module that was made at run time has no source to be read from again
        spec = None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return _plain(dotted)
    source = Path(spec.origin)
    return _import_path(source.parent if source.name == "__init__.py" else source, name)


def _object(module: ModuleType, attribute: str) -> Any:
    plugin: Any = module
    for part in attribute.split(".") if attribute else ():
        plugin = getattr(plugin, part)
    return plugin() if isinstance(plugin, type) else plugin


def _forget(module_name: str) -> None:
    for loaded in [loaded for loaded in sys.modules if loaded == module_name or loaded.startswith(module_name + ".")]:
        del sys.modules[loaded]
    forget_marks(module_name)


def _why(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {error.msg}"
    if isinstance(error, SystemExit):
        return f"it ended the program at import (SystemExit: {error.code})"
    return str(error) if isinstance(error, _NoSource) else described(error)


class _NoSource(Exception):
    """Nothing is where the plugin should be."""


class _FreshLoader(SourceFileLoader):
    """Reads the source, never bytecode, and writes none."""

    def get_code(self, fullname: str) -> Any:
        return self.source_to_code(self.get_data(self.path), self.path)


class _Finder:
    """Finds the submodules of later generations, so that they too are read from their source.

    No subclass of `importlib.abc.MetaPathFinder`, whose import costs 7 ms and which has nothing that is needed here.
    """

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if not fullname.startswith(_PREFIX) or fullname.startswith(f"{_PREFIX}1_") or not path:
            return None
        for folder in map(Path, path):
            stem = folder / fullname.rpartition(".")[2]
            for source, search in ((stem / "__init__.py", [str(stem)]), (stem.with_suffix(".py"), None)):
                if source.is_file():
                    return importlib.util.spec_from_file_location(
                        fullname, source, loader=_FreshLoader(fullname, str(source)), submodule_search_locations=search
                    )
        return None


_finder = _Finder()

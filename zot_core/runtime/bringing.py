"""Paths that plugins bring, made absolute. Must not know what lies there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from zot_core.config.paths import expand_path
from zot_core.types.specs import ResourcePath

if TYPE_CHECKING:
    from zot_core.runtime.runtime import Runtime


def absolute(runtime: Runtime, plugin: str, path: str | ResourcePath) -> ResourcePath:
    """The path as it is found from anywhere; a relative one begins at the plugin's own folder, else at the project."""
    given = ResourcePath(path=path) if isinstance(path, str) else path
    loaded = runtime.host.plugins.get(plugin)
    file = getattr(loaded.plugin, "__file__", None) if loaded is not None else None
    base = Path(file).parent if isinstance(file, str) else Path(runtime.cwd)
    return ResourcePath(path=str(expand_path(given.path, base=base)), scope=given.scope)

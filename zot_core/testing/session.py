"""A real App over a recording front end, for one test: what plugins get here is what they get in zot.

Whoever calls has isolated home and cwd; `plugin.py` does that for tests under pytest.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from zot_core.app import App, Options
from zot_core.testing.front import RecordingFrontEnd
from zot_core.testing.script import Script

if TYPE_CHECKING:
    from zot_core.types.content import Image
    from zot_core.types.specs import FlagSpec

_numbers = itertools.count(1)


@asynccontextmanager
async def open_app(
    *,
    script: Script | Path | str | None = None,
    plugins: Iterable[Any] = (),
    flags: Mapping[str, Any] | None = None,
    front: RecordingFrontEnd | None = None,
    cwd: Path | None = None,
    **options: Any,
) -> AsyncIterator[App]:
    """An open App; closed when the block ends. `app.front` is the record.

    The model is the scripted provider with `script` (its demonstration without one). `plugins` are modules, paths, or
    objects with hook implementations; other plugins than these and zot's own are left out. `flags` are values of
    plugins' flags by name. `options` are further fields of `zot_core.app.Options`.
    """
    front = front or RecordingFrontEnd()
    with tempfile.TemporaryDirectory(prefix="zot-script-") as folder:
        given = dict(flags or {})
        if script is not None:
            given["script"] = _script_file(script, folder)

        def reparse(specs: Sequence[FlagSpec]) -> Mapping[str, Any]:
            if unknown := given.keys() - {spec.name for spec in specs}:
                raise AssertionError(f"no plugin has a flag {', '.join(sorted(unknown))}")
            return {spec.name: given.get(spec.name, spec.default) for spec in specs}

        chosen: dict[str, Any] = {"provider": "scripted", "no_session": True, "no_plugins": True, **options}
        explicit = (*chosen.pop("explicit", ()), *(("plugin", _reference(plugin)) for plugin in plugins))
        app = await App.open(
            Options(cwd=str(cwd or _here()), mode=front.mode, explicit=explicit, reparse=reparse, **chosen), front
        )
        try:
            yield app
        finally:
            await app.close()


async def run_prompt(text: str, *, images: Sequence[Image] = (), **how: Any) -> RecordingFrontEnd:
    """Runs one prompt to its end in an App of its own and gives the record; its `end` says how the run ended.

    `how` is what `open_app` takes.
    """
    front = how.setdefault("front", RecordingFrontEnd())
    async with open_app(**how) as app:
        front.end = await app.prompt(text, images)
    return front  # type: ignore[no-any-return]


def _script_file(script: Script | Path | str, folder: str) -> str:
    file = script.write(Path(folder, "script.json")) if isinstance(script, Script) else Path(script)
    return str(file.absolute())


def _here() -> Path:
    return Path.cwd()


def _reference(plugin: Any) -> str:
    """How `--plugin` would name it. An object is put into a module of its own, because a plugin is a module."""
    if isinstance(plugin, (str, Path)):
        return str(plugin)
    if isinstance(plugin, ModuleType) and sys.modules.get(plugin.__name__) is plugin:
        return plugin.__name__
    name = f"{getattr(plugin, '__name__', type(plugin).__name__).lower()}_{next(_numbers)}"
    module = ModuleType(name)
    module.plugin = plugin  # type: ignore[attr-defined]
    sys.modules[name] = module
    return f"{name}:plugin"

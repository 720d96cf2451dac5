"""What the person's files name, held against what is there: plugins, tools, wire formats, plugins' own settings.

Only says what is wrong; nothing is changed by it. Runs after plugins have contributed, when names are known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from zot_core.config.problems import Problem, nearest
from zot_core.config.settings import DEFAULT
from zot_core.plugins import discovery
from zot_core.plugins.diagnostics import Diagnostic

if TYPE_CHECKING:
    from zot_core.models.registry import ModelRegistry
    from zot_core.runtime.runtime import Runtime
    from zot_core.types.specs import ProviderSpec

CLOSE = 0.75
"""How near a name must be to one that is there to be a slip: `bahs` is, another `tool_` is not."""


def check_sections(runtime: Runtime) -> None:
    """Sections that a plugin has a model for are checked by it; what is wrong is said, and the section stays as
    written."""
    for owner, spec in runtime.contributed("settings"):
        section = runtime.plugin_settings(owner)
        if not section:
            continue
        from zot_core.config.schema import check_section  # pydantic, only for sections that someone wrote

        def file(key: str, owner: str = owner) -> str:
            return _file(runtime, f"plugins.{owner}.{key}" if key else f"plugins.{owner}")

        try:
            messages = [str(problem) for problem in check_section(spec.model, section, owner, file)[1]]
        except Exception as error:  # the import's, or a model that does not take its own defaults
            messages = [f"plugins.{owner} in settings.json cannot be checked: {error}"]
        for message in messages:
            runtime.host.diagnostics.report(Diagnostic("warning", owner, "settings", message))


def check_names(runtime: Runtime, candidates: Iterable[str]) -> None:
    """Says which plugins and tools the settings name that are not there.

    `candidates` are plugins that were found, loaded or not. A plugin's name that is near none is let be: it may be
    another project's.
    """
    plugins = {*candidates, *runtime.host.plugins, *discovery.builtins()}
    runtime.app.problems((*_plugins(runtime, plugins), *_tools(runtime, plugins)))


def check_formats(runtime: Runtime, models: ModelRegistry, providers: Iterable[ProviderSpec]) -> None:
    """Says which `api` of models.json no plugin speaks, with the nearest that one does."""
    from zot_core.models.naming import near

    file, problems = str(runtime.app.paths.models), []
    for spec in providers:
        rows = () if isinstance(spec.models, str) else spec.models
        for whose, api in ((spec.id, spec.api), *((f"{spec.id}/{model.id}", model.api) for model in rows)):
            if api and models.format(api) is None:
                message = f"{whose}: no plugin speaks the api {api!r}{near(api, models.formats())}"
                problems.append(Problem("warning", file, None, message))
    runtime.app.problems(problems)


def _plugins(runtime: Runtime, known: Collection[str]) -> Iterator[Problem]:
    values = runtime.settings.values
    for key, names in (
        ("disabled_plugins", values.disabled_plugins),
        ("allow_replacing", values.allow_replacing),
        ("plugins", tuple(values.plugins)),
    ):
        for name in names:
            near = None if name in known else nearest(name, sorted(known), CLOSE)
            if near is not None:
                place = f"plugins.{name}" if key == "plugins" else key
                message = f"{place!r}: no plugin is called {name!r}; did you mean {near!r}?"
                yield Problem("warning", _file(runtime, place), None, message)


def _tools(runtime: Runtime, plugins: Collection[str]) -> Iterator[Problem]:
    tools = sorted(runtime.toolbox.registry.names())
    # A tool of a plugin that is switched off, or not for this system, is known and not missed.
    known = {*tools, *(name.removeprefix("tool_") for name in plugins if name.startswith("tool_"))}
    settings = runtime.settings.values.tools
    for key, names in (("tools.include", settings.include or ()), ("tools.exclude", settings.exclude)):
        for name in names:
            if name not in known:
                near = nearest(name, tools, CLOSE)
                more = "it counts when a plugin brings one later" if near is None else f"did you mean {near!r}?"
                message = f"{key!r}: no tool is called {name!r}; {more}"
                yield Problem("warning", _file(runtime, key), None, message)


def _file(runtime: Runtime, key: str) -> str:
    origin = runtime.settings.origin(key)
    return "" if origin == DEFAULT else origin

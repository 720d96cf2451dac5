"""Building a Runtime: which plugins are loaded, in which order they contribute, and what becomes of it.

Everything is made beside the Runtime that is in force and touches nothing of it; an error leaves that one at work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zot_core.config.boot import entry_points
from zot_core.config.models_json import read_models_json
from zot_core.config.settings import LoadedSettings, load_settings
from zot_core.models.models_json import read_models
from zot_core.models.registry import ModelRegistry
from zot_core.models.runner import Runner, RunnerConfig
from zot_core.net.retry import RetryPolicy
from zot_core.plugins import discovery
from zot_core.plugins.command_names import CommandRegistry
from zot_core.plugins.diagnostics import Diagnostic
from zot_core.plugins.errors import PluginLoadError, ReplacementFailed
from zot_core.plugins.host import PluginHost
from zot_core.plugins.rank import BUILTIN, PROJECT, USER
from zot_core.plugins.registry import NameRefused, Registry, ToolPolicy
from zot_core.runtime.checking import check_formats, check_names, check_sections
from zot_core.runtime.choice import Choice
from zot_core.runtime.retiring import retire
from zot_core.runtime.runtime import Runtime
from zot_core.runtime.secrecy import named_providers, secrets_in, secrets_of
from zot_core.runtime.toolbox import SEARCH_TOOL, Toolbox, activated_in
from zot_core.runtime.trusting import is_trusted
from zot_core.types.failure import UsageError
from zot_core.types.specs import Candidate, ProviderSpec, ToolSpec

if TYPE_CHECKING:
    from zot_core.app import App, Options
    from zot_core.net.client import HttpClient
    from zot_core.session.session import Session


_MODE_NAMES = {"repl": "the interactive mode", "print": "print mode", "json": "JSON mode", "rpc": "RPC"}


async def build(app: App, session: Session, cwd: str) -> Runtime:
    """A Runtime for `session` in the project directory `cwd`, with its contributions collected and checked.

    Raises UsageError for a flag or a tool name that nothing knows; a plugin that fails is reported and left out.
    """
    host = PluginHost(app.diagnostics)
    settings = load_settings(app.paths, cache=app.boot)
    candidates = _candidates(app)
    found = {one.name for one in candidates}
    await _load(app, host, [one for one in candidates if one.name not in settings.values.disabled_plugins], settings)
    trusted = await is_trusted(app, host, settings, cwd)
    if trusted:
        settings = load_settings(app.paths, cwd, cache=app.boot)
        disabled = settings.values.disabled_plugins
        for name in disabled:
            host.unregister(name)
        if not app.options.no_plugins:
            late = discovery.folder_candidates(app.loader, Path(cwd) / ".zot" / "plugins", PROJECT)
            found.update(one.name for one in late)
            await _load(app, host, [one for one in late if one.name not in disabled], settings)
    app.problems(settings.problems)
    runtime = Runtime(app, host, session, cwd=cwd, trusted=trusted)
    runtime.settings = settings
    try:
        await _collect(runtime)
        check_names(runtime, found)
    except BaseException:
        await retire(app, host)
        raise
    return runtime


def _candidates(app: App) -> list[Candidate]:
    """Everything but the project's tier."""
    options, loader = app.options, app.loader
    references = [(place, ref) for place, (kind, ref) in enumerate(options.explicit) if kind == "plugin"]
    found = discovery.explicit_candidates(loader, references, Path(options.cwd))
    if not options.no_plugins:
        found += discovery.folder_candidates(loader, app.paths.plugins, USER)

        def points() -> list[discovery.EntryPoint]:
            return [discovery.EntryPoint(*row) for row in entry_points(app.boot)]

        found += discovery.entry_point_candidates(loader, points)
    if not options.no_builtins:
        found += discovery.builtin_candidates(loader)
    own = getattr(app.front, "plugin", None)
    if own is not None:
        found.append(Candidate(name=app.front.mode, tier=BUILTIN, position=1000, load=partial(_itself, own)))
    return found


async def _load(
    app: App, host: PluginHost, candidates: Sequence[Candidate], settings: LoadedSettings
) -> dict[str, Candidate]:
    """Registers what can be loaded, one plugin for each name, those that are registered already included. Answers what
    was added."""
    known = [_registered(host, name) for name in host.plugins]
    choice = discovery.choose([*known, *candidates])
    for loser, winner in choice.shadowed:
        _tell_shadowed(app, loser, winner, settings)
        if loser in known:
            host.unregister(loser.name)
    new = [one for one in choice.kept if not (one.name in host.plugins and one in known)]
    plugins = await asyncio.gather(*(_loaded(app, one) for one in new))
    added: dict[str, Candidate] = {}
    for candidate, plugin in zip(new, plugins, strict=True):
        if plugin is None:
            continue
        try:
            host.register(
                plugin, candidate.name, tier=candidate.tier, position=candidate.position, origin=candidate.origin
            )
            added[candidate.name] = candidate
        except PluginLoadError as error:
            app.load_failed(error)
    return added


async def _loaded(app: App, candidate: Candidate) -> Any:
    try:
        return await candidate.load()
    except ReplacementFailed as error:
        app.load_failed(error)
        return error.kept
    except PluginLoadError as error:
        app.load_failed(error)
    except Exception as error:  # a source's own loader; the plugin is left out and named
        app.load_failed(PluginLoadError(candidate.name, str(error) or type(error).__name__, origin=candidate.origin))
    return None


async def _load_kept(runtime: Runtime, candidates: Sequence[Candidate]) -> Collection[str]:
    """Loads the candidates of sources; those that outlast sessions are taken from the Runtime in force, or renewed."""
    app, host = runtime.app, runtime.host
    before = app.runtime.kept if hasattr(app, "runtime") else {}

    def standing_in(candidate: Candidate) -> Candidate:
        key, plugin = before.get(candidate.name, (None, None))
        if candidate.keep is None or plugin is None or key != candidate.keep:
            return candidate
        load = partial(candidate.renew, plugin) if app.renewing and candidate.renew else partial(_itself, plugin)
        return replace(candidate, load=load)

    added = await _load(app, host, [standing_in(one) for one in candidates], runtime.settings)
    runtime.kept = {name: (one.keep, host.plugins[name].plugin) for name, one in added.items() if one.keep is not None}
    return added


async def _itself(plugin: Any) -> Any:
    return plugin


def _registered(host: PluginHost, name: str) -> Candidate:
    plugin = host.plugins[name]

    async def load() -> Any:
        return plugin.plugin

    return Candidate(name=name, tier=plugin.tier, position=plugin.position, load=load, origin=plugin.origin)


def _tell_shadowed(app: App, loser: Candidate, winner: Candidate, settings: LoadedSettings) -> None:
    if loser.tier == BUILTIN and loser.name in settings.values.allow_replacing:
        return
    if loser.tier == BUILTIN:
        message = (
            f"it replaces the built-in plugin {loser.name} ({winner.origin}); "
            f'"allow_replacing": ["{loser.name}"] in settings.json says that this is meant'
        )
        app.diagnostics.report(Diagnostic("warning", winner.name, "", message))
        return
    message = f"{loser.origin} is not used: {winner.origin} has the name {winner.name}"
    app.diagnostics.report(Diagnostic("warning", loser.name, "", message))


async def _collect(runtime: Runtime) -> None:
    """Contributions in their order: flags (then the command line is read again), sources, the rest."""
    app, host = runtime.app, runtime.host
    flags = runtime.contributed("flags")
    if app.options.reparse is not None:
        runtime.flags = app.options.reparse([flag for _, flag in flags])
    else:
        runtime.flags = {flag.name: flag.default for _, flag in flags} | dict(app.options.flags)
    for owner, flag in flags:
        value = runtime.flags.get(flag.name)
        if value not in (None, flag.default, False) and app.front.mode not in flag.modes:
            needs = " or ".join(_MODE_NAMES[mode] for mode in flag.modes)
            raise UsageError(f"--{flag.name} (of {owner}) needs {needs}, and this is {app.front.mode} mode")
    extension = next((ref for kind, ref in app.options.explicit if kind == "ext"), None)
    if extension is not None and not any("sources" in plugin.hooks for plugin in host.plugins.values()):
        raise UsageError(f"--ext {extension}: no loaded plugin knows extensions; zot plugins lists what is loaded")
    providers = runtime.contributed("providers")
    own_providers, problems = read_models_json(app.paths.models)
    app.problems(problems)
    last, settings = runtime.session.last_model(), runtime.settings.values
    used = named_providers(
        app.options.provider, app.options.model, settings.provider, settings.model, last.provider if last else None
    )
    runtime.secrets = secrets_of((spec for _, spec in providers), used) | secrets_in(own_providers)
    candidates = [candidate for _, candidate in runtime.contributed("sources")]
    if candidates:
        added = await _load_kept(runtime, candidates)
        _check_no_late_flags(runtime, added)
        if any("providers" in host.plugins[name].hooks for name in added):
            providers = runtime.contributed("providers")
    check_sections(runtime)
    options = app.options
    tools: Registry[ToolSpec] = Registry("tool", ToolPolicy(), app.diagnostics)
    runtime.commands = CommandRegistry(app.diagnostics)
    _register(runtime, "tools", tools)
    _register(runtime, "commands", runtime.commands)
    runtime.toolbox = _toolbox(runtime, tools, options)
    runtime.toolbox.restore(activated_in(runtime.session, runtime.state.messages))
    runtime.policies = tuple(item for _, item in runtime.contributed("filesystem_policies"))
    runtime.prompt_sources = runtime.contributed("prompt_sources")
    runtime.expansions = runtime.contributed("expansions")
    runtime.tool_operations = _operations(runtime)
    runtime.summarizers = runtime.contributed("summarizers")
    runtime.models = _models(runtime, providers, own_providers)
    runtime.choice = await _choice(runtime)


def _register(runtime: Runtime, hook: str, registry: Registry[Any]) -> None:
    for owner, item in runtime.contributed(hook):
        try:
            registry.add(runtime.owner(owner), item.name, item)
        except NameRefused as error:
            runtime.host.diagnostics.report(Diagnostic("warning", owner, hook, str(error)))


def _check_no_late_flags(runtime: Runtime, added: Collection[str]) -> None:
    for owner, flag in runtime.contributed("flags", only=added) if added else ():
        message = f"--{flag.name} cannot be a flag: plugins of a source come after the command line was read"
        runtime.host.diagnostics.report(Diagnostic("warning", owner, "flags", message))


def _toolbox(runtime: Runtime, tools: Registry[ToolSpec], options: Options) -> Toolbox:
    settings = runtime.settings.values.tools
    only: Sequence[str] | None = options.tools
    if only is None:
        preset = ("read", "write", "edit", "bash") if settings.preset == "zot" else None
        only = settings.include if settings.include is not None else preset
    if options.no_tools:
        only = ()
    excluded = {*options.exclude_tools, *settings.exclude}
    if options.no_builtin_tools:
        # The search is but a way to the tools of plugins, which stay
        excluded |= {name for name, row in tools.items() if row.owner.tier == BUILTIN and name != SEARCH_TOOL}
    return Toolbox(tools, runtime.owner, only=only, excluded=excluded)


def _operations(runtime: Runtime) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _, item in runtime.contributed("tool_operations"):
        for tool, operations in dict(item).items():
            found.setdefault(tool, operations)
    return found


def _models(
    runtime: Runtime, providers: Sequence[tuple[str, ProviderSpec]], own_providers: dict[str, dict[str, Any]]
) -> ModelRegistry:
    app = runtime.app
    models = ModelRegistry()
    models.add_providers(providers)
    for owner, virtual in runtime.contributed("virtual_models"):
        models.add_virtual(virtual, owner=owner, under=True)
    for _, api in runtime.contributed("api_formats"):
        models.add_format(api)
    read = read_models({"providers": own_providers}, lambda text: runtime.note(text, "warning"))
    for spec in read.providers:
        own = bool(spec.base_url or spec.models)
        models.add_provider(spec, owner=str(app.paths.models), keep_models=True, first=own)
    check_formats(runtime, models, read.providers)
    for provider, overrides in read.overrides.items():
        models.override(provider, overrides)
    return models


async def _choice(runtime: Runtime) -> Choice:
    app, models = runtime.app, runtime.models
    retry = runtime.settings.values.retry

    def client() -> HttpClient:
        http = app.client()
        app.ahead.begin()
        return http

    config = RunnerConfig(
        client=client,
        provider=models.provider,
        format=models.format,
        formats=models.formats,
        credential=app.credential,
        policy=RetryPolicy(tries=retry.attempts, base=retry.base_delay_s, longest=retry.max_delay_s),
        expand=app.expand,
        missing=app.auth_missing,
    )
    choice = Choice(runtime, models, Runner(config, runtime.sink), app.has_credential)
    runtime.choice = choice
    await choice.prepare()
    choice.start(app.options.reasoning)
    return choice

"""The parts of `ctx` that look into a session: session, tools, commands, models, bus.

Each asks for the live Runtime on every use, so that a facade of a replaced session says so instead of acting on it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zot_core import events
from zot_core.models.protocol import Request
from zot_core.types.routing import VirtualModel

if TYPE_CHECKING:
    from zot_core.runtime.runtime import Runtime
    from zot_core.types.messages import Message
    from zot_core.types.specs import CommandSpec, ModelSpec, ProviderSpec, ThinkingLevel, ToolSpec
    from zot_core.types.stream import StreamPart

Live = Callable[[], "Runtime"]


class SessionView:
    """`ctx.session`: the session, for reading."""

    def __init__(self, live: Live) -> None:
        self._live = live

    @property
    def id(self) -> str:
        """The stored conversation's id, or an id that lives as long as this session when nothing is stored."""
        return self._live().session.id

    @property
    def file(self) -> str | None:
        """The session's file; None with --no-session."""
        path = self._live().session.path
        return None if path is None else str(path)

    @property
    def name(self) -> str | None:
        """The name that a person or plugin gave it."""
        return self._live().session.name

    @property
    def leaf_id(self) -> str | None:
        """The id of the entry that the next one will follow."""
        return self._live().session.leaf_id

    @property
    def root(self) -> str:
        """The folder that all sessions are kept under."""
        return self._live().session_root

    def entries(self) -> Sequence[Any]:
        """Every entry of the file, those of left branches too."""
        return self._live().session.entries()

    def branch(self) -> Sequence[Any]:
        """The entries from the root to the leaf."""
        return self._live().session.branch()

    def messages(self) -> Sequence[Message]:
        """The conversation as the model sees it."""
        return tuple(self._live().state.messages)

    def set_name(self, name: str | None) -> None:
        """Names the session; None takes the name away. Plugins hear `session_info_changed`."""
        self._live().rename(name)

    def set_label(self, entry_id: str, label: str | None) -> None:
        """Bookmarks an entry; None takes the bookmark away."""
        self._live().session.set_label(entry_id, label)

    def label(self, entry_id: str) -> str | None:
        """The bookmark of an entry; None without one."""
        return self._live().session.labels.get(entry_id)

    def labels(self) -> Mapping[str, str]:
        """All bookmarks: from entry id to label."""
        return self._live().session.labels


class ToolsFacade:
    """`ctx.tools`: the session's tools. Changes hold from the next model call on."""

    def __init__(self, live: Live, plugin: str, call_id: str = "") -> None:
        self._live = live
        self._plugin = plugin
        self._call_id = call_id

    def register(self, tool: ToolSpec) -> Callable[[], None]:
        """Adds a tool of this plugin; the answer takes it away."""
        return self._live().toolbox.register(self._plugin, tool)

    def all(self) -> Sequence[ToolSpec]:
        """Every tool that is not shadowed, by name."""
        return self._live().toolbox.all()

    def active(self) -> Sequence[str]:
        """The names of the tools that models are offered."""
        return tuple(self._live().toolbox.active_names())

    def set_active(self, names: Sequence[str]) -> None:
        """Offers exactly these tools. Raises UsageError for a name that no tool has."""
        runtime = self._live()
        before = set(runtime.toolbox.active())
        added = runtime.toolbox.set_active(names)
        if added:
            call = runtime.state.open_calls.get(self._call_id)
            if call is not None and before.issubset(runtime.toolbox.active()):
                call.activated.extend(added)
            runtime.tell_soon(events.ToolActivatedEvent(tool_names=added))

    def searchable(self) -> Sequence[tuple[str, ToolSpec]]:
        """What a search may find, offered already or not, as (group, tool) by name."""
        toolbox = self._live().toolbox
        return tuple((tool.search_group or toolbox.owner_of(tool.name), tool) for tool in toolbox.searchable())


class CommandsFacade:
    """`ctx.commands`: the session's slash commands."""

    def __init__(self, live: Live, plugin: str) -> None:
        self._live = live
        self._plugin = plugin

    def register(self, command: CommandSpec) -> Callable[[], None]:
        """Adds a command of this plugin; the answer takes it away."""
        registry = self._live().commands
        row = registry.add(self._live().owner(self._plugin), command.name, command)
        return lambda: registry.remove(row)

    def all(self) -> Sequence[CommandSpec]:
        """Every command that can be called, by name."""
        registry = self._live().commands
        return tuple(spec for spec in (registry.get(name) for name in registry.names()) if spec is not None)

    def named(self) -> Sequence[tuple[str, str, CommandSpec]]:
        """Every name that can be called, with its plugin and the command that it means; aliases are not among them."""
        return tuple((name, row.owner.name, row.item) for name, row in self._by_name())

    def _by_name(self) -> list[tuple[str, Any]]:
        return sorted(self._live().commands.items(), key=lambda pair: pair[0])

    def find(self, name: str) -> CommandSpec | None:
        """The command that a name or an alias means; None for none."""
        return self._live().commands.get(name)


class ModelsFacade:
    """`ctx.models`: the catalog, the choice, and model calls of a plugin's own."""

    def __init__(self, live: Live, plugin: str) -> None:
        self._live = live
        self._plugin = plugin

    @property
    def current(self) -> ModelSpec | None:
        """The model of the next call; None while none is chosen."""
        return self._live().choice.model

    @property
    def thinking(self) -> ThinkingLevel:
        """The thinking level in force."""
        return self._live().choice.thinking

    def all(self) -> Sequence[ModelSpec]:
        """Every model of the catalog."""
        return self._live().models.models()

    def usable(self) -> Sequence[ModelSpec]:
        """The models of providers that there is a key for, as far as that can be told without asking anybody."""
        runtime = self._live()
        there = {spec.id for spec in runtime.models.providers() if runtime.app.looks_usable(spec)}
        return [model for model in runtime.models.models() if model.provider in there]

    def find(self, name: str) -> ModelSpec | None:
        """The model that `name` means: id, provider/id or a unique fragment; None when there is none."""
        return self._live().models.find(name)

    @property
    def routed(self) -> ModelSpec | None:
        """The real model that the last request was routed to; None while none was."""
        return self._live().choice.router.routed

    def add(self, spec: ProviderSpec | VirtualModel, *, keep_models: bool = False) -> Callable[[], None]:
        """Adds a provider or a virtual model, or lays it over the one of its name, from the next model call on; the
        answer takes it away again, and what was there comes back. A provider's models replace those that were there,
        unless `keep_models` adds them."""
        runtime = self._live()
        if isinstance(spec, VirtualModel):
            off = runtime.models.add_virtual(spec, owner=self._plugin)
        else:
            off = runtime.models.add_provider(spec, owner=self._plugin, keep_models=keep_models)
        runtime.choice.refresh()

        def remove() -> None:
            off()
            runtime.choice.refresh()

        return remove

    def remove(self, name: str) -> None:
        """Takes away what this plugin brought under that name, a provider's id or a virtual model's `provider/id`;
        unknown is nothing."""
        runtime = self._live()
        if "/" in name:
            runtime.models.remove_virtual(name, self._plugin)
        else:
            runtime.models.remove_provider(name, self._plugin)
        runtime.choice.refresh()

    async def set(self, name: str) -> bool:
        """Chooses a model for this session from the next call on; False when there is no such model or no key for
        it."""
        return await self._live().choice.set_model(name)

    async def set_thinking(self, level: ThinkingLevel) -> ThinkingLevel:
        """Chooses the thinking level; answers the one that the model allows."""
        return await self._live().choice.set_thinking(level)

    def stream(
        self,
        messages: Sequence[Message],
        *,
        system: str | None = None,
        max_output: int | None = None,
        model: ModelSpec | None = None,
    ) -> AsyncIterator[StreamPart]:
        """A model call of the plugin's own, to the model in use or to `model`: no tools, not part of the session.
        Failures are its last part."""
        runtime = self._live()
        request = Request(
            model=model or runtime.choice.require(),
            messages=tuple(messages),
            system=system,
            max_output=max_output,
            session_id=runtime.session.id,
            purpose="plugin",
        )
        return runtime.choice.stream(request)


class CredentialsFacade:
    """`ctx.credentials`: the doors to the person's keys and logins, none of which is given out."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._live().app.credentials, name)


class RpcFacade:
    """`ctx.rpc`: requests of embedding programs, and events for them."""

    def __init__(self, live: Live, plugin: str) -> None:
        self._live = live
        self._plugin = plugin

    def handle(self, name: str, handler: Callable[[Any], Any]) -> Callable[[], None]:
        """Answers `extension_request`s called `name` with what `handler(data)` returns, JSON; it may be async. The
        answer takes it away. Raises UsageError when another handler has the name."""
        return self._live().rpc.add(self._plugin, name, handler)

    def emit(self, name: str, data: Any = None) -> None:
        """Sends an `extension_event` to the programs that asked for such; without one nothing happens."""
        self._live().front.ui.send_event(self._plugin, name, data)


class BusFacade:
    """`ctx.bus`: channels between plugins."""

    def __init__(self, live: Live, plugin: str) -> None:
        self._live = live
        self._plugin = plugin

    def on(self, channel: str, listener: Callable[[Any], Any]) -> Callable[[], None]:
        """Listens to `channel`; ends with the session or with the answer."""
        return self._live().bus.on(self._plugin, channel, listener)

    def emit(self, channel: str, payload: Any = None) -> None:
        """Calls every listener of `channel`, this plugin's own included."""
        self._live().bus.emit(channel, payload)

"""The host: which plugins are there, in which order, and what they contribute. One per Runtime.

Registers whole or not at all, remembers the place of a name over a reload, and is the only caller of contributions.
Knows no session: whoever collects says what a plugin may know of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, Literal

from zot_core.events import LANE_OF, event_class
from zot_core.events.base import Block, Fact, Question
from zot_core.hooks.contributions import CONTRIBUTIONS, Contribution
from zot_core.hooks.markers import HookError, Mark, lost_marks, make_mark, marks_of
from zot_core.hooks.specs import HOOKS
from zot_core.plugins.chain import Link
from zot_core.plugins.diagnostics import Diagnostic, Diagnostics
from zot_core.plugins.errors import PluginLoadError, WrongAnswer
from zot_core.plugins.manager import Listener, Manager, attribute_of
from zot_core.plugins.pipeline import CtxFor, Pipeline
from zot_core.plugins.rank import BAND_NAMES, BUILTIN, TIER_NAMES, USER
from zot_core.plugins.reports import described, plugin_traceback
from zot_core.plugins.trace import Trace
from zot_core.types.record import record
from zot_core.types.specs import SessionFacts, resolve


@record(eq=False)
class LoadedPlugin:
    """A registered plugin: its object, its place in the order, where it came from, the hooks that it implements."""

    name: str
    plugin: Any
    tier: int
    position: int = 0
    origin: str = ""
    hooks: tuple[str, ...] = ()

    @property
    def kind(self) -> Literal["built-in", "python", "extension"]:
        """Which rule for equal names it comes under; an extension is a subprocess and named `ext:<name>`."""
        if self.name.startswith("ext:"):
            return "extension"
        return "built-in" if self.tier == BUILTIN else "python"


@record
class Contributed:
    """One contributed item with the plugin that it came from."""

    owner: LoadedPlugin
    item: Any


@record
class OrderRow:
    """One line of `zot plugins --order`: who, in which band and tier, written where, with which options."""

    plugin: str
    band: str
    tier: str
    where: str
    options: tuple[str, ...] = ()


class PluginHost:
    """Holds plugins and their `pipeline`. `ctx_for(plugin)` gives what the plugin's handlers receive as `ctx`."""

    def __init__(
        self, diagnostics: Diagnostics | None = None, trace: Trace | None = None, ctx_for: CtxFor | None = None
    ) -> None:
        self.diagnostics = diagnostics or Diagnostics()
        self.trace = trace or Trace()
        self._manager = Manager()
        self._plugins: dict[str, LoadedPlugin] = {}
        self._places: dict[str, tuple[int, int]] = {}
        self._listeners: dict[str, Listener] = {}
        self._numbers = 0
        self.plugins: Mapping[str, LoadedPlugin] = MappingProxyType(self._plugins)
        self.pipeline = Pipeline(self._manager, self._places.__getitem__, self.diagnostics, self.trace, ctx_for)

    def register(
        self, plugin: Any, name: str, *, tier: int | None = None, position: int | None = None, origin: str = ""
    ) -> LoadedPlugin:
        """Adds a plugin (a module or an object) from the next dispatch on.

        Without `tier` and `position` a name keeps the place that it had before; a new one stands among the user's.
        Raises PluginLoadError, with nothing left behind, if the name is taken or an implementation is not what it was
        marked as.
        """
        if not name or name in self._plugins:
            raise PluginLoadError(name, "the name is taken" if name else "it has no name", origin=origin)
        marks = self._checked(plugin, name, origin)
        before = self._places.get(name)
        self._places[name] = (
            tier if tier is not None else before[0] if before else USER,
            position if position is not None else before[1] if before else 0,
        )
        try:
            self._manager.register(plugin, name)
        except Exception as error:  # pluggy's own refusals, and a plugin object that cannot be looked at
            self._places.pop(name) if before is None else self._places.__setitem__(name, before)
            raise PluginLoadError(name, described(error), origin=origin, traceback=plugin_traceback(error)) from error
        loaded = LoadedPlugin(name, plugin, *self._places[name], origin, tuple(dict.fromkeys(m.hook for m in marks)))
        self._plugins[name] = loaded
        if before is not None:
            self.diagnostics.forget(name)  # other code: what it does wrong is news again
        self.pipeline.changed()
        self._warn_of_unmarked(plugin, name)
        return loaded

    def unregister(self, name: str) -> LoadedPlugin | None:
        """Takes a plugin and its listeners out from the next dispatch on; None if there is none.

        Its place in the order is remembered.
        """
        loaded = self._plugins.pop(name, None)
        if loaded is None:
            return None
        self._manager.remove(loaded.plugin, name)
        for key in [key for key, listener in self._listeners.items() if listener.owner == name]:
            self._remove_listener(key)
        self.pipeline.changed()
        return loaded

    def on(self, owner: str, hook: str, function: Callable[..., Any], **options: Any) -> Callable[[], None]:
        """Adds a handler of the plugin `owner` from the next dispatch on; the answer takes it away.

        Takes the options of `hookimpl`. Raises HookError as that does, and for a contribution: collected, not sent.
        """
        if owner not in self._plugins:
            raise HookError(f"plugin {owner!r} is not registered, so it cannot listen to {hook}")
        if hook in CONTRIBUTIONS:
            later = CONTRIBUTIONS[hook].later
            raise HookError(f"{hook} is a contribution, not an event; use {later or 'the hook itself, when zot loads'}")
        mark = make_mark(function, hook, options)
        _check_kind(mark)
        self._numbers += 1
        key = f"{owner}#{self._numbers}"
        listener = Listener(owner, function, mark, self._numbers)
        self._manager.register(listener, key)
        self._listeners[key] = listener
        self.pipeline.changed()
        return lambda: self._remove_listener(key)

    def collect(
        self, hook: str, facts_for: Callable[[str], SessionFacts], *, only: Collection[str] | None = None
    ) -> list[Contributed]:
        """What plugins (or those in `only`) contribute to `hook`, in rank order.

        `facts_for(plugin)` is what a function that names `session` receives. A function that fails or gives something
        else than the hook takes is reported, and loses its own contribution alone.
        """
        contribution = CONTRIBUTIONS[hook]
        found: list[Contributed] = []
        for link in self.pipeline.links(hook):
            if only is not None and link.owner not in only:
                continue
            try:
                value = link.function(session=facts_for(link.owner)) if link.mark.takes else link.function()
                items = _items(value, contribution)
            except (Exception, SystemExit) as error:  # one plugin's failure is not the others'
                self.pipeline.broken(link.owner, hook, error)
                continue
            found += [Contributed(self._plugins[link.owner], item) for item in items]
        return found

    def order(self, hook: str) -> list[OrderRow]:
        """The chain of `hook` in the order of calling; observers of an event are told before the others are asked."""
        links = self.pipeline.links(hook)
        return [_row(link) for link in sorted(links, key=lambda link: (not link.mark.observe, link.rank))]

    def _checked(self, plugin: Any, name: str, origin: str) -> list[Mark]:
        try:
            marks = [mark for attribute in dir(plugin) if (mark := marks_of(attribute_of(plugin, attribute)))]
            for mark in marks:
                _check_kind(mark)
        except HookError as error:
            raise PluginLoadError(name, str(error), origin=origin) from error
        for mark in _lost(plugin):
            raise PluginLoadError(name, _took(plugin, mark), origin=origin)
        return marks

    def _remove_listener(self, key: str) -> None:
        listener = self._listeners.pop(key, None)
        if listener is not None:
            self._manager.remove(listener, key)
            self.pipeline.changed()

    def _warn_of_unmarked(self, plugin: Any, name: str) -> None:
        if not isinstance(plugin, ModuleType):
            return
        for hook in sorted(HOOKS & vars(plugin).keys()):
            function = vars(plugin)[hook]
            if isinstance(function, FunctionType) and not marks_of(function) and function.__module__ == plugin.__name__:
                line = function.__code__.co_firstlineno
                message = f"line {line}: {hook} has the name of a hook but no @hookimpl, so it is never called"
                self.diagnostics.report(Diagnostic("warning", name, hook, message))


def _check_kind(mark: Mark) -> None:
    """Checks that need the event's class, which is imported only for them."""
    if mark.on_error is None or mark.hook not in LANE_OF:
        return
    cls = event_class(mark.hook)
    if issubclass(cls, Fact):
        raise HookError(f"{mark.where}: {mark.hook} only tells, so on_error has no meaning")
    if issubclass(cls, Question) and Block not in cls.stops:
        raise HookError(f"{mark.where}: {mark.hook} cannot be blocked, so on_error has no meaning")


def _lost(plugin: Any) -> list[Mark]:
    def lookup(name: str) -> Any:
        return attribute_of(plugin, name)

    if isinstance(plugin, ModuleType):
        return lost_marks(plugin.__name__, "", lookup)
    classes = (plugin if isinstance(plugin, type) else type(plugin)).__mro__[:-1]
    return [mark for cls in classes for mark in lost_marks(cls.__module__, cls.__qualname__ + ".", lookup)]


def _took(plugin: Any, mark: Mark) -> str:
    now = getattr(plugin, mark.attribute, None)
    advice = f'give the function another name and write @hookimpl("{mark.hook}")'
    if isinstance(now, ModuleType):
        what, advice = f"the submodule {now.__name__}", f"rename the submodule or {advice}"
    elif marks_of(now):
        what = "another function of that name"
    else:
        what = f"a {type(now).__name__} object" if now is not None else "nothing"
    return f"{mark.where}: {mark.attribute} implements {mark.hook}, but its name now holds {what}; {advice}"


def _items(value: Any, contribution: Contribution) -> list[Any]:
    types = tuple(resolve(reference) for reference in contribution.items)
    if value is None:
        return []
    single = isinstance(value, (*types, str, bytes, Mapping)) or not isinstance(value, Iterable)
    items = [value] if single else list(value)
    for item in items:
        if types and not isinstance(item, types):
            wanted = " or ".join(cls.__name__ for cls in types)
            what = f"the function {item.__name__}" if isinstance(item, FunctionType) else type(item).__name__
            hint = f"; {contribution.hint}" if contribution.hint else ""
            raise WrongAnswer(f"{contribution.name} takes {wanted}, not {what}{hint}")
    return items


def _row(link: Link) -> OrderRow:
    mark = link.mark
    options = [name for name in ("observe", "preview_safe", "mutates_messages") if getattr(mark, name)]
    if mark.on_error:
        options.append(f"on_error={mark.on_error}")
    return OrderRow(link.owner, BAND_NAMES[link.rank.band], TIER_NAMES[link.rank.tier], mark.where, tuple(options))

"""pluggy's manager with zot's marks and specs. It holds implementations; it calls none: `pipeline` and `host` do.

pluggy looks at every attribute of a plugin with `getattr_static`; here an attribute is looked up once, and only plain
functions that carry a mark are considered, which is about ten times faster and cannot run a plugin's properties.
"""

from __future__ import annotations

from types import FunctionType, MethodType, ModuleType
from typing import Any

import pluggy

from zot_core.hooks.markers import ATTRIBUTE, Mark, marks_of
from zot_core.hooks.specs import PROJECT, spec_namespace

_SPEC_OPTIONS = {"firstresult": False, "historic": False, "warn_on_impl": None, "warn_on_impl_args": None}


class Listener:
    """A handler that `ctx.on` added, in the form of a plugin with one hook. `owner` is who added it."""

    def __init__(self, owner: str, function: Any, mark: Mark, number: int) -> None:
        self.owner = owner
        self.mark = mark
        self.number = number

        def handle(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        setattr(handle, ATTRIBUTE, mark)
        self.handle = handle
        self.function = function


class Manager(pluggy.PluginManager):
    """Registers plugins whole or not at all, and takes them out whole."""

    def __init__(self) -> None:
        super().__init__(PROJECT)
        self.add_hookspecs(spec_namespace())

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        """pluggy's question what `name` of `plugin` is: its options if it carries a mark, else None."""
        mark = marks_of(attribute_of(plugin, name))
        if mark is None:
            return None
        return {"specname": mark.hook, "tryfirst": mark.tryfirst, "trylast": mark.trylast}

    def parse_hookspec_opts(self, module_or_class: Any, name: str) -> Any:
        """pluggy's question whether `name` is a spec: everything in our namespace that has no underscore first."""
        return None if name.startswith("_") else dict(_SPEC_OPTIONS)

    def remove(self, plugin: Any, name: str) -> None:
        """Unregisters `plugin`. Builds of pluggy take out one implementation per hook only, so that a plugin which
        implements a hook twice would leave one behind: go on until none is left."""
        self.unregister(plugin, name=name)
        for caller in vars(self.hook).values():
            while any(impl.plugin is plugin for impl in caller.get_hookimpls()):
                caller._remove_plugin(plugin)


def attribute_of(plugin: Any, name: str) -> Any:
    """The function behind `name`, without running a descriptor or a module's `__getattr__`."""
    if isinstance(plugin, ModuleType):
        return _function(vars(plugin).get(name))
    own = getattr(plugin, "__dict__", None)
    if own is not None and name in own:
        return _function(own[name])
    for base in (plugin if isinstance(plugin, type) else type(plugin)).__mro__:
        if name in vars(base):
            return _function(vars(base)[name])
    return None


def _function(value: Any) -> Any:
    # By type, not by attribute: a module may hold objects whose __getattr__ does things.
    if isinstance(value, staticmethod | classmethod | MethodType):
        value = value.__func__
    return value if isinstance(value, FunctionType) else None

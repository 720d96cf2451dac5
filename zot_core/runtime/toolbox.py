"""The tools of one session: which exist, whose they are, and which of them models are offered.

Must not know how a tool runs, nor how a search finds one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from zot_core.types.failure import UsageError
from zot_core.types.messages import ToolResultMessage
from zot_core.types.specs import ToolSpec

if TYPE_CHECKING:
    from zot_core.plugins.host import LoadedPlugin
    from zot_core.plugins.registry import Registry
    from zot_core.session.session import Session
    from zot_core.types.messages import Message


SEARCH_TOOL = "tool_search"
"""The one tool that the toolbox knows by name, which is reserved: it is offered while there is something to find."""


class Toolbox:
    """The registry of tools and the active set over it.

    A tool is active from its registration on, unless it is deferred, searchable or hidden, was switched off by name,
    or is not among `only` (the command line's --tools) or is among `excluded` (--exclude-tools). A searchable tool is
    active at once where `only` names it, and where nobody brought a search.
    """

    def __init__(
        self,
        registry: Registry[ToolSpec],
        owner: Callable[[str], LoadedPlugin],
        *,
        only: Sequence[str] | None = None,
        excluded: Iterable[str] = (),
    ) -> None:
        self.registry = registry
        self._owner = owner
        self._only = None if only is None else frozenset(only)
        self._excluded = frozenset(excluded)
        self._off: set[str] = set()
        self._active: dict[str, ToolSpec] | None = None
        registry.subscribe(self._changed)
        self._on: set[str] = set()

    def check_names(self, names: Iterable[str]) -> None:
        """Raises UsageError, with the nearest name and all known ones, for a name that no tool has."""
        known = sorted(self.registry.names())
        for name in names:
            if name not in known:
                import difflib  # only on the way to an error

                near = difflib.get_close_matches(name, known, 1)
                hint = f" (did you mean {near[0]!r}?)" if near else ""
                raise UsageError(f"no tool is called {name!r}{hint}; known tools: {', '.join(known) or 'none'}")

    def register(self, plugin: str, tool: ToolSpec) -> Callable[[], None]:
        """Adds a tool of `plugin`; the answer takes it away."""
        row = self.registry.add(self._owner(plugin), tool.name, tool)
        return lambda: self.registry.remove(row)

    def get(self, name: str) -> ToolSpec | None:
        """The tool that a model's call of `name` would run, active or not; None when there is none."""
        return self.registry.get(name)

    def owner_of(self, name: str) -> str:
        """The name of the plugin whose tool `name` is; empty when there is no such tool."""
        row = self.registry.row(name)
        return "" if row is None else row.owner.name

    def all(self) -> tuple[ToolSpec, ...]:
        """Every tool that is not shadowed, by name."""
        tools = (self.registry.get(name) for name in sorted(self.registry.names()))
        return tuple(tool for tool in tools if tool is not None)

    def active(self) -> Mapping[str, ToolSpec]:
        """The active tools, sorted by name: the order is part of what providers cache."""
        if self._active is None:
            self._active = {tool.name: tool for tool in self.all() if self._is_active(tool)}
        return self._active

    def active_names(self) -> list[str]:
        """The names of the active tools, sorted."""
        return list(self.active())

    def set_active(self, names: Sequence[str]) -> tuple[str, ...]:
        """Makes exactly `names` active; answers those that just became so. Raises UsageError for an unknown name."""
        self.check_names(names)
        before = set(self.active())
        self._on = set(names)
        self._off = {name for name in self.registry.names() if name not in self._on}
        self._changed()
        return tuple(name for name in self.active() if name not in before)

    def activate(self, names: Iterable[str]) -> tuple[str, ...]:
        """Adds to the active set; answers those that just became active. Unknown names are ignored, as the wire
        promises."""
        before = set(self.active())
        known = set(names) & set(self.registry.names())
        self._on |= known
        self._off -= known
        self._changed()
        return tuple(name for name in self.active() if name not in before)

    def searchable(self) -> tuple[ToolSpec, ...]:
        """The tools that a search may bring, active already or not, by name."""
        return tuple(tool for tool in self.all() if self._may_be_found(tool))

    def find(self, name: str) -> ToolSpec | None:
        """The tool `name` if a call of it may make it active."""
        tool = self.registry.get(name)
        return tool if tool is not None and self._may_be_found(tool) else None

    def restore(self, names: Iterable[str]) -> None:
        """Makes active what was activated earlier in this conversation, as far as the command line still allows it;
        tools that come later in the session included."""
        self._on.update(name for name in names if self._allows(name))
        self._changed()

    def _changed(self) -> None:
        self._active = None

    def _allows(self, name: str) -> bool:
        """Whether the person's list of tools lets a model come to this one: by its name, or by that of the search."""
        return name not in self._excluded and (self._only is None or not self._only.isdisjoint((name, SEARCH_TOOL)))

    def _may_be_found(self, tool: ToolSpec) -> bool:
        searched = tool.exposure == "search" and tool.allow_lazy_activation and not tool.deferred
        return searched and self._allows(tool.name)

    def _is_active(self, tool: ToolSpec) -> bool:
        if tool.name in self._excluded or tool.exposure == "hidden":
            return False
        if tool.name == SEARCH_TOOL and not any(self._may_be_found(other) for other in self.all()):
            return False
        if tool.name in self._on:
            return True
        if tool.name in self._off or tool.deferred:
            return False
        if self._only is not None:
            return tool.name in self._only
        return tool.exposure != "search" or (tool.allow_lazy_activation and not self._has_search)

    @property
    def _has_search(self) -> bool:
        return SEARCH_TOOL not in self._excluded and self.registry.get(SEARCH_TOOL) is not None


def activated_in(session: Session, messages: Sequence[Message]) -> set[str]:
    """The tools that results on the branch of a session brought, those before a compaction too."""
    results: Iterable[Message | None] = messages
    if messages and getattr(messages[0], "custom_type", "") == "compaction":
        results = (entry.message for entry in session.branch() if entry.kind == "message")
    return {name for result in results if isinstance(result, ToolResultMessage) for name in result.activated}

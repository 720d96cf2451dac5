"""What an extension registered, and how each session gets it: commands, tools, subscriptions.

Kept in the order in which it came, because a process outlasts sessions and each new one gets all of it again. Names
that cannot be used are refused here, with the reason in the extension's log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from zot_core.types.failure import ZotError
from zot_core.types.specs import CommandSpec, ToolSpec
from zot_core.wire import frames
from zot_plugins.extension_bridge import answers, hooks

if TYPE_CHECKING:
    from zot_plugins.extension_bridge.remote import Remote

Registration = frames.RegisterCommand | frames.RegisterTool | frames.Subscribe
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
MOST = 1000
"""Commands and tools of one extension."""


class Registrations:
    """All that one extension registered."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote
        self.commands: dict[str, frames.RegisterCommand] = {}
        """By the name in one case."""
        self.tools: dict[str, frames.RegisterTool] = {}
        self.events: list[str] = []
        self.intercepts: list[str] = []
        self._offs: list[Callable[[], None]] = []
        self._caught: list[str] | None = None
        self._clashed: set[str] = set()
        self._in_use: dict[str, Callable[[], bool]] = {}

    @property
    def any(self) -> bool:
        """Whether there is anything that can be used."""
        return bool(self.commands or self.tools or self.events or self.intercepts)

    def take(self, frame: Registration) -> None:
        """Keeps a registration, and brings it into the session that is there."""
        if isinstance(frame, frames.RegisterCommand):
            self._take_command(frame)
        elif isinstance(frame, frames.RegisterTool):
            self._take_tool(frame)
        else:
            self._take_subscription(frame)

    def bring(self, ctx: Any) -> None:
        """Brings all of it into a session that begins. Of a process that is gone, what answers with its error."""
        self._offs = []
        self._in_use = {}
        for command in self.commands.values():
            self._bring_command(ctx, command)
        for tool in self.tools.values():
            self._bring_tool(ctx, tool)
        self._subscribe(ctx, self.events, self.intercepts)

    def silence(self) -> None:
        """Takes the subscriptions back: nobody is there to be told or asked."""
        for off in self._offs:
            off()
        self._offs = []

    def heard(self, plugin: str, message: str) -> bool:
        """Looks at a diagnostic: whether it came of a registration that is being made here. One of another plugin's
        may mean that a name was taken by who stands before this one and came later."""
        mine = plugin == f"ext:{self._remote.name}"
        if mine and self._caught is not None:
            self._caught.append(message)
            return True
        if not mine and "takes the place of" in message:
            for what in [what for what in self._in_use if what not in self._clashed]:
                self._check(what, [])
        return False

    def _take_command(self, frame: frames.RegisterCommand) -> None:
        key = frame.name.casefold()
        if not frame.name or not frame.name.isprintable() or " " in frame.name or "/" in frame.name:
            self._remote.conflict(f"the command name {frame.name!r} cannot be typed; it is not used")
        elif key in self.commands:
            first = self.commands[key].name
            self._remote.conflict(f"its command {frame.name} is there already as {first}; the first stays")
        elif len(self.commands) >= MOST:
            self._remote.noise("commands", f"it has more than {MOST} commands")
        else:
            self.commands[key] = frame
            if self._remote.ctx is not None:
                self._bring_command(self._remote.ctx, frame)

    def _take_tool(self, frame: frames.RegisterTool) -> None:
        kind = frame.schema_.get("type", "object")
        if not _TOOL_NAME.fullmatch(frame.name):
            problem = "models take letters, digits, _ and -, at most 64"
            self._remote.conflict(f"the tool name {frame.name!r} is not used: {problem}")
        elif kind != "object":
            self._remote.conflict(f"its tool {frame.name} is not used: its schema is of type {kind!r}, not object")
        elif frame.name in self.tools:
            self._remote.conflict(f"its tool {frame.name} is there already; the first stays")
        elif len(self.tools) >= MOST:
            self._remote.noise("tools", f"it has more than {MOST} tools")
        else:
            self.tools[frame.name] = frame
            if self._remote.ctx is not None:
                self._bring_tool(self._remote.ctx, frame)

    def _take_subscription(self, frame: frames.Subscribe) -> None:
        for word, known, names in (
            ("events", frames.EVENTS, frame.events),
            ("intercept", frames.INTERCEPTS, frame.intercept),
        ):
            for name in dict.fromkeys(names):
                if name not in known:
                    self._remote.warn(f"`subscribe` names {name!r} in `{word}`, which takes: {', '.join(known)}")
        events = [name for name in dict.fromkeys(frame.events) if name in frames.EVENTS and name not in self.events]
        intercepts = [
            name for name in dict.fromkeys(frame.intercept) if name in frames.INTERCEPTS and name not in self.intercepts
        ]
        self.events += events
        self.intercepts += intercepts
        if self._remote.ctx is not None:
            self._subscribe(self._remote.ctx, events, intercepts)

    def _subscribe(self, ctx: Any, events: list[str], intercepts: list[str]) -> None:
        if self._remote.lost:
            return
        self._offs += hooks.subscribe(self._remote, ctx, events, intercepts)
        if "session_start" in events:
            self._remote.tell_session_start()

    def _bring_command(self, ctx: Any, frame: frames.RegisterCommand) -> None:
        remote = self._remote

        async def handler(args: str, ctx: Any) -> str | None:
            return await answers.run_command(remote, ctx, frame.name, args)

        spec = CommandSpec(name=frame.name, description=frame.description, handler=handler)
        self._bring(
            f"command {frame.name}", lambda: ctx.commands.register(spec), lambda: _has(ctx.commands.all(), spec)
        )

    def _bring_tool(self, ctx: Any, frame: frames.RegisterTool) -> None:
        remote = self._remote

        async def execute(args: Any, ctx: Any) -> Any:
            return await answers.call_tool(remote, ctx, frame.name, args)

        spec = ToolSpec(
            name=frame.name,
            description=frame.description,
            parameters={
                "type": "object",
                **({} if "properties" in frame.schema_ else {"properties": {}}),
                **frame.schema_,
            },
            execute=execute,
            deferred=frame.deferred,
            details={"extension": remote.name},
        )
        self._bring(f"tool {frame.name}", lambda: ctx.tools.register(spec), lambda: _has(ctx.tools.all(), spec))

    def _bring(self, what: str, register: Callable[[], Any], in_use: Callable[[], bool]) -> None:
        self._caught = caught = []
        try:
            register()
            self._in_use[what] = in_use
        except ZotError as error:
            self._in_use[what] = lambda: False
            caught.append(str(error))
        finally:
            self._caught = None
        self._check(what, caught)

    def _check(self, what: str, said: list[str]) -> None:
        """Whether what was registered goes by its name; `said` is what the core said of it."""
        if self._in_use[what]():
            for message in said:
                self._remote.log.say(message)
        elif said or what not in self._clashed:  # in a later session nothing new is said of it
            self._clashed.add(what)
            for message in said or [f"its {what} is not used: another has that name"]:
                self._remote.conflict(message)


def _has(specs: Iterable[Any], spec: Any) -> bool:
    """Whether this very one is there: comparing it by value with a thousand others takes seconds."""
    return any(one is spec for one in specs)

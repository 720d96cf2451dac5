"""The page of what a plugin holds in its hands: `ctx` and its parts, specs, results, blocks, messages.

All text is that of the classes. Where a protocol says nothing of a method, the class behind it does.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any

import zot_core.ui
from generators.classes import attribute_notes, fields_table
from generators.markdown import code, doc, table
from zot_core.ctx import context, facades, plugin_ui, protocols, ui_protocol
from zot_core.events import base
from zot_core.hooks.markers import HookError, hookimpl
from zot_core.models import protocol
from zot_core.types import content, failure, login, messages, routing, specs, stream, tool_decorator
from zot_core.types.usage import Usage
from zot_core.ui import editor

INTRO = """
# API

What a plugin imports and what it is given. Names without a module are those of `zot_core`; which event a hook gets
is in [events](events.md), which specs it may answer in [hooks](hooks.md). After a session was replaced, everything of
its `ctx` but plain data raises `StaleContextError`.
"""

Pair = tuple[Any, Any]
CONTEXTS: tuple[Pair, ...] = (
    (protocols.Context, context.PluginContext),
    (protocols.ToolContext, context.ToolCtx),
    (protocols.CommandContext, context.CommandCtx),
)
PARTS: tuple[tuple[str, Pair], ...] = (
    ("ctx.ui", (protocols.Ui, plugin_ui.PluginUi)),
    ("ctx.session", (protocols.SessionView, facades.SessionView)),
    ("ctx.tools", (protocols.Tools, facades.ToolsFacade)),
    ("ctx.commands", (protocols.Commands, facades.CommandsFacade)),
    ("ctx.models", (protocols.Models, facades.ModelsFacade)),
    ("ctx.credentials", (protocols.Credentials, protocols.Credentials)),
    ("ctx.bus", (protocols.Bus, facades.BusFacade)),
)
ATTRIBUTES = {
    "cwd": "The project's directory.",
    "home": "Zot's own folder: settings, sessions, logs.",
    "mode": "The front end: `repl`, `print`, `json` or `rpc`.",
    "has_ui": "Whether a person can be asked.",
    "plugin": "The name of the plugin that this `ctx` belongs to.",
    "log": "A logger of the plugin's own.",
    "settings": "The plugin's section of the settings, `plugins.<name>`.",
    "ui": "The person, see [below](#ctxui).",
    "session": "The session, see [below](#ctxsession).",
    "tools": "The tools, see [below](#ctxtools).",
    "commands": "The slash commands, see [below](#ctxcommands).",
    "models": "The models, see [below](#ctxmodels).",
    "credentials": "Keys and logins, see [below](#ctxcredentials).",
    "bus": "Channels between plugins, see [below](#ctxbus).",
    "call_id": "The id of the call that runs.",
    "images": "The pictures that came with the command.",
}
"""What cannot carry a docstring: plain attributes."""

SPECS = (
    specs.ToolSpec,
    specs.CommandSpec,
    specs.FlagSpec,
    specs.SettingsSpec,
    specs.CliSpec,
    specs.ProviderSpec,
    login.OAuthSpec,
    login.Tokens,
    login.LoginCode,
    login.Probed,
    specs.ModelSpec,
    specs.Prices,
    routing.VirtualModel,
    routing.RouteRequest,
    routing.Tried,
    routing.Route,
    specs.ApiFormat,
    specs.PromptSource,
    specs.Expansion,
    specs.ExpansionName,
    specs.PromptSection,
    specs.FilesystemPolicy,
    specs.FilesystemRequest,
    specs.ShortcutSpec,
    specs.MessageRenderer,
    specs.EntryRenderer,
    specs.MarkdownTransformer,
    specs.ResourcePath,
    specs.Candidate,
    specs.SessionFacts,
)
ANSWERS = (specs.ToolResult, base.Block, base.Handled)
BLOCKS = (content.Text, content.Thinking, content.Image, content.ToolCall)
MESSAGES = (
    messages.UserMessage,
    messages.AssistantMessage,
    messages.ToolResultMessage,
    messages.CustomMessage,
    messages.SystemMessage,
    messages.DraftEntry,
    Usage,
)
STREAMS = (
    protocol.Request,
    stream.TextDelta,
    stream.ThinkingDelta,
    stream.BlockMeta,
    stream.ToolCallStart,
    stream.ToolCallDelta,
    stream.ToolCallEnd,
    stream.UsageUpdate,
    stream.Retrying,
    stream.Routed,
    stream.Done,
    stream.Failed,
    protocol.HttpRequest,
)
SCREEN = (editor.Tui, editor.EditorText, editor.FooterData, ui_protocol.RenderersFacade)
CURSOR = "Stands in a component's line before the character that the terminal's cursor is on."
FAILURES = (failure.Failure, failure.ZotError, failure.UsageError, failure.RunFailed, HookError)


def page() -> str:
    """The whole page."""
    return "\n\n".join(_parts())


def _parts() -> Iterator[str]:
    yield INTRO.strip()
    yield "## hookimpl and tool"
    for thing in (hookimpl, tool_decorator.tool, tool_decorator.Tool):
        yield f"### {thing.__name__}\n\n{doc(thing)}"
    yield "## ctx\n\nHandlers of events get a `Context`, tools a `ToolContext`, commands a `CommandContext`."
    for pair in CONTEXTS:
        yield f"### {pair[0].__name__}\n\n{doc(pair[0])}\n\n{members(pair)}"
    for name, pair in PARTS:
        yield f"### {name}\n\n{doc(pair[0])}\n\n{members(pair)}"
    yield f"### Approval\n\n{doc(protocols.Approval)}\n\n{members((protocols.Approval, protocols.Approval))}"
    for title, classes in (
        ("What a plugin contributes", SPECS),
        ("What handlers and tools answer", ANSWERS),
        ("Content blocks", BLOCKS),
        ("Messages", MESSAGES),
    ):
        yield f"## {title}"
        yield from map(_data, classes)
    yield f"## Streams of providers\n\n{doc(stream)}\n\nThese are in `zot_core.types.stream`, requests in " + (
        "`zot_core.models.protocol`."
    )
    yield from map(_data, STREAMS)
    yield f"### {protocol.StreamParser.__name__}\n\n{doc(protocol.StreamParser)}\n\n" + members(
        (protocol.StreamParser, protocol.StreamParser)
    )
    yield "## Failures"
    yield from map(_data, FAILURES)
    yield f"## zot_core.ui\n\n{doc(zot_core.ui)}\n\nFactories are given a `Tui`, the theme and a `Keybindings`."
    yield from map(_of_ui, (*SCREEN, *(getattr(zot_core.ui, name) for name in zot_core.ui.__all__)))


def _of_ui(thing: Any) -> str:
    """Something of zot_core.ui; the door of plugins has another Text, hence the prefix."""
    if not isinstance(thing, type):
        if not callable(thing):
            return f"### ui.CURSOR\n\n{CURSOR}"
        return f"### ui.{thing.__name__}\n\n{code(thing.__name__ + str(inspect.signature(thing)))}\n\n{doc(thing)}"
    if is_dataclass(thing):
        return _data(thing).replace("### ", "### ui.", 1)
    return f"### ui.{thing.__name__}\n\n{doc(thing)}\n\n{members((thing, thing))}"


def _data(cls: Any) -> str:
    parts = [f"### {cls.__name__}", doc(cls)]
    if hasattr(cls, "__dataclass_fields__"):
        parts.append(fields_table(cls))
        if properties := [name for name, one in vars(cls).items() if isinstance(one, property) and name[0] != "_"]:
            parts.append(table(("also", "what"), ((code(name), doc(getattr(cls, name))) for name in properties)))
    return "\n\n".join(parts)


def members(pair: Pair) -> str:
    """Attributes, then methods, each with what the protocol or the class behind it says."""
    return table(("name", "what"), _rows(*pair))


def _rows(cls: Any, behind: Any) -> Iterator[tuple[str, str]]:
    notes = attribute_notes(cls)
    for name, kind in cls.__annotations__.items():
        yield code(f"{name}: {kind}"), notes.get(name) or _said(vars(behind).get(name)) or ATTRIBUTES.get(name, "")
    own = {name: one for name, one in vars(cls).items() if _is_member(name, one)}
    more = {name: one for name, one in vars(behind).items() if _is_member(name, one) and name not in own}
    for name, one in [*own.items(), *more.items()]:
        if name in cls.__annotations__ or (name in protocols.Context.__annotations__ and cls is not protocols.Context):
            continue
        yield code(_signature(name, one)), _said(one) or _said(vars(behind).get(name)) or ATTRIBUTES.get(name, "")


def _is_member(name: str, thing: Any) -> bool:
    return not name.startswith("_") and (inspect.isfunction(thing) or isinstance(thing, property))


def _said(thing: Any) -> str:
    return "" if thing is None else doc(thing)


def _signature(name: str, thing: Any) -> str:
    written = ast.parse(textwrap.dedent(inspect.getsource(getattr(thing, "fget", thing)))).body[0]
    assert isinstance(written, (ast.FunctionDef, ast.AsyncFunctionDef))
    answer = ast.unparse(written.returns) if written.returns else "Any"
    if isinstance(thing, property):
        return f"{name}: {answer}"
    written.args.args.pop(0)  # self
    waits = "await " if isinstance(written, ast.AsyncFunctionDef) else ""
    return f"{waits}{name}({ast.unparse(written.args)}) -> {answer}"

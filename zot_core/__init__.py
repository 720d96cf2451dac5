"""The door for plugin authors: what a plugin imports, each name loaded when it is first used.

    from zot_core import Block, hookimpl, tool

Must not import anything by itself: `zot --version` passes through here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zot_core import events as events
    from zot_core.ctx.protocols import CommandContext as CommandContext
    from zot_core.ctx.protocols import Context as Context
    from zot_core.ctx.protocols import ToolContext as ToolContext
    from zot_core.events.base import Block as Block
    from zot_core.events.base import Handled as Handled
    from zot_core.hooks.markers import HookError as HookError
    from zot_core.hooks.markers import hookimpl as hookimpl
    from zot_core.types.content import Image as Image
    from zot_core.types.content import Text as Text
    from zot_core.types.content import Thinking as Thinking
    from zot_core.types.content import ToolCall as ToolCall
    from zot_core.types.failure import Failure as Failure
    from zot_core.types.failure import UsageError as UsageError
    from zot_core.types.failure import ZotError as ZotError
    from zot_core.types.messages import AssistantMessage as AssistantMessage
    from zot_core.types.messages import CustomMessage as CustomMessage
    from zot_core.types.messages import DraftEntry as DraftEntry
    from zot_core.types.messages import SystemMessage as SystemMessage
    from zot_core.types.messages import ToolResultMessage as ToolResultMessage
    from zot_core.types.messages import UserMessage as UserMessage
    from zot_core.types.routing import Route as Route
    from zot_core.types.routing import RouteRequest as RouteRequest
    from zot_core.types.routing import VirtualModel as VirtualModel
    from zot_core.types.specs import ApiFormat as ApiFormat
    from zot_core.types.specs import Candidate as Candidate
    from zot_core.types.specs import CliSpec as CliSpec
    from zot_core.types.specs import CommandSpec as CommandSpec
    from zot_core.types.specs import EntryRenderer as EntryRenderer
    from zot_core.types.specs import Expansion as Expansion
    from zot_core.types.specs import ExpansionName as ExpansionName
    from zot_core.types.specs import FilesystemPolicy as FilesystemPolicy
    from zot_core.types.specs import FlagSpec as FlagSpec
    from zot_core.types.specs import MarkdownTransformer as MarkdownTransformer
    from zot_core.types.specs import MessageRenderer as MessageRenderer
    from zot_core.types.specs import ModelSpec as ModelSpec
    from zot_core.types.specs import Prices as Prices
    from zot_core.types.specs import PromptSection as PromptSection
    from zot_core.types.specs import PromptSource as PromptSource
    from zot_core.types.specs import ProviderSpec as ProviderSpec
    from zot_core.types.specs import SettingsSpec as SettingsSpec
    from zot_core.types.specs import ShortcutSpec as ShortcutSpec
    from zot_core.types.specs import ToolResult as ToolResult
    from zot_core.types.specs import ToolSpec as ToolSpec
    from zot_core.types.tool_decorator import Tool as Tool
    from zot_core.types.tool_decorator import tool as tool
    from zot_core.types.usage import Usage as Usage

_HOMES = {
    "zot_core.ctx.protocols": ("CommandContext", "Context", "ToolContext"),
    "zot_core.events.base": ("Block", "Handled"),
    "zot_core.hooks.markers": ("HookError", "hookimpl"),
    "zot_core.types.content": ("Image", "Text", "Thinking", "ToolCall"),
    "zot_core.types.failure": ("Failure", "UsageError", "ZotError"),
    "zot_core.types.messages": (
        "AssistantMessage",
        "CustomMessage",
        "DraftEntry",
        "SystemMessage",
        "ToolResultMessage",
        "UserMessage",
    ),
    "zot_core.types.routing": ("Route", "RouteRequest", "VirtualModel"),
    "zot_core.types.specs": (
        "ApiFormat",
        "Candidate",
        "CliSpec",
        "CommandSpec",
        "EntryRenderer",
        "Expansion",
        "ExpansionName",
        "FilesystemPolicy",
        "FlagSpec",
        "MarkdownTransformer",
        "MessageRenderer",
        "ModelSpec",
        "Prices",
        "PromptSection",
        "PromptSource",
        "ProviderSpec",
        "SettingsSpec",
        "ShortcutSpec",
        "ToolResult",
        "ToolSpec",
    ),
    "zot_core.types.tool_decorator": ("Tool", "tool"),
    "zot_core.types.usage": ("Usage",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [*sorted(_HOME_OF), "events"]


def __getattr__(name: str) -> Any:
    if name == "events":
        return import_module("zot_core.events")
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value

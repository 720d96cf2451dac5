"""What becomes of a command and of a tool call: the request, and what its answer asks for."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zot_core.toolkit.sniff import image_type
from zot_core.types.content import Image, Text, UserContent
from zot_core.types.failure import UsageError, ZotError
from zot_core.types.specs import ToolResult
from zot_core.wire import frames
from zot_plugins.extension_bridge.requests import COMMAND_S, NoAnswer

if TYPE_CHECKING:
    from zot_plugins.extension_bridge.remote import Remote


class ExtensionError(ZotError):
    """Something that an extension was asked for has failed; the message names it."""


async def run_command(remote: Remote, ctx: Any, name: str, args: str) -> str | None:
    """Runs a command of the extension and does what its answer says. Raises ExtensionError, and UsageError for what
    this mode does not have."""
    try:
        answer = await remote.requests.ask(
            frames.CommandInvoked, frames.CommandResponse, COMMAND_S, name=name, args=args.strip()
        )
    except NoAnswer as error:
        remote.log.say(f"/{name}: it {error}")
        remote.check_input(error)
        raise ExtensionError(f"/{name}: the extension {remote.name} {error}{remote.see_log()}") from error
    if answer.error:
        raise ExtensionError(f"/{name}: the extension {remote.name} says: {answer.error}")
    return _act(remote, ctx, name, answer)


def _act(remote: Remote, ctx: Any, name: str, answer: frames.CommandResponse) -> str | None:
    match answer.action:
        case "prompt" if answer.prompt.strip():
            ctx.send_user_message(answer.prompt, deliver_as="follow_up")
        case "insert":
            if ctx.mode in ("print", "json"):
                raise UsageError(f"/{name} inserts text into an editor, and {ctx.mode} mode has none")
            ctx.ui.paste_to_editor(answer.insert)
        case "display" if answer.display:
            if ctx.mode == "print":
                return answer.display  # nothing else will be said: it is what the command answers
            ctx.ui.display(answer.display)
        case "open_panel" if answer.open_panel is not None:
            if not remote.panels.open(ctx, answer.open_panel):
                raise UsageError(f"/{name} opens a panel, and {ctx.mode} mode shows none")
        case "noop":
            pass
        case "prompt" | "display" | "open_panel" as action:
            raise ExtensionError(f"/{name}: the extension {remote.name} answered {action!r} with nothing in it")
        case action:
            raise ExtensionError(f"/{name}: the extension {remote.name} answered {action!r}, which is no action")
    return None


async def call_tool(remote: Remote, ctx: Any, name: str, args: Mapping[str, Any]) -> ToolResult:
    """Runs a tool of the extension. Raises ExtensionError, whose text the model reads."""
    try:
        answer = await remote.requests.ask(
            frames.ToolCall, frames.ToolResult, remote.tool_timeout, name=name, args=dict(args)
        )
    except NoAnswer as error:
        remote.log.say(f"tool {name}: it {error}")
        remote.check_input(error)
        raise ExtensionError(f"The extension {remote.name} {error}{remote.see_log()}") from error
    content: list[UserContent] = []
    for block in answer.content:
        if isinstance(block, frames.TextBlock):
            content.append(Text(block.text))
        else:
            content.append(_picture(block))
    activated = answer.activate_tools
    if activated:
        deferred = {tool.name for tool in ctx.tools.all() if tool.deferred}
        activated = [tool for tool in activated if tool in deferred]
    return ToolResult(content=tuple(content), is_error=answer.is_error, activate_tools=tuple(activated))


def _picture(block: frames.ImageBlock) -> UserContent:
    """A picture by its content, whatever it is called. One that no model takes would have every later request of the
    session refused, so the model is told of it instead."""
    kind = image_type(base64.b64decode(block.data[:88]))
    if kind is None:
        return Text(f"[a picture of type {block.mime_type} is left out: it is no PNG, JPEG, GIF or WebP]")
    return Image(mime_type=kind, data=block.data)

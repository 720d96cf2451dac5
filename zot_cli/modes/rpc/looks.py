"""What `get_…` requests answer: the session, the conversation, the catalogs, as JSON. Looks and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zot_core.types.content import text_of
from zot_core.types.messages import AssistantMessage, CustomMessage, Message, ToolResultMessage
from zot_core.wire import codec

if TYPE_CHECKING:
    from zot_core.app import App
    from zot_core.session.session import Session
    from zot_core.types.usage import Usage

Row = dict[str, Any]


def session(app: App) -> Row:
    """The session object; `path` is null while none is kept."""
    now = app.runtime.session
    return {"id": now.id, "path": now.file, "name": now.name}


def model(app: App) -> Row:
    """The provider and model in use; null while none is chosen."""
    chosen = app.runtime.choice.model
    return {"provider": chosen.provider if chosen else None, "model": chosen.id if chosen else None}


def state(app: App, prompts: list[str], used: Usage, busy: bool) -> Row:
    """How things are."""
    runtime = app.runtime
    queues = runtime.queues
    return {
        **model(app),
        "reasoning": runtime.choice.thinking,
        "cwd": str(runtime.cwd),
        "session": session(app) if runtime.session.path is not None else None,
        "message_count": len(runtime.state.messages),
        "busy": busy,
        "queue": {
            "prompts": prompts,
            "steer": [text_of(message.content) for message in queues.steer],
            "follow_up": [text_of(message.content) for message in queues.follow_up],
        },
        "usage": codec.usage(used),
    }


def messages(app: App) -> Row:
    """The conversation as people see it."""
    return {"messages": [_message(app.runtime.session, message) for message in app.runtime.state.messages]}


def _message(kept: Session, message: Message) -> Row:
    row: Row = {"role": message.role, "time": codec.rfc3339(message.time), "message_id": message.id}
    if isinstance(message, AssistantMessage):
        entry = kept.entry(message.id)
        display, withheld = (message.text, False) if entry is None else (entry.display, entry.withheld)
        row["content"] = codec.shown_blocks(message.content, display)
        row["stop"] = message.stop
        row["provider"], row["model"] = message.provider, message.model
        if message.usage is not None:
            row["usage"] = codec.usage(message.usage)
        if withheld:
            row["withheld"] = True
        return row
    row["content"] = codec.blocks(message.content)
    if isinstance(message, ToolResultMessage):
        row["call_id"], row["name"], row["is_error"] = message.call_id, message.tool_name, message.is_error
    elif isinstance(message, CustomMessage):
        row["custom_type"], row["display"] = message.custom_type, message.display
    return row


def models(app: App) -> Row:
    """The models of the catalog."""
    registry = app.runtime.models
    usable = {spec.id: app.looks_usable(spec) for spec in registry.providers()}
    rows = [
        {
            "id": spec.id,
            "provider": spec.provider,
            "name": spec.name or spec.id,
            "context_window": spec.context_window,
            "max_output": spec.max_output,
            "reasoning": spec.reasoning,
            "usable": usable.get(spec.provider, False),
        }
        for spec in registry.models()
    ]
    return {"models": rows}


def commands(app: App) -> Row:
    """The slash commands that can be run here, then what prompts may begin with."""
    from zot_core.runtime.expanding import listed

    runtime = app.runtime
    rows = []
    for name in runtime.commands.names():
        row = runtime.commands.row(name)
        if row is not None and "rpc" in row.item.modes:
            hint, about = row.item.argument_hint, row.item.description
            more = {"aliases": list(row.item.aliases)} if row.item.aliases else {}
            rows.append({**_command(name, about, hint, "command", row.owner.name), **more})
    rows += [_command(one.name, one.description, one.argument_hint, "prompt", "") for one in listed(runtime)]
    return {"commands": rows}


def _command(name: str, description: str, hint: str, source: str, plugin: str) -> Row:
    row = {"name": name, "description": description, "argument_hint": hint, "source": source}
    return {**row, "plugin": plugin} if plugin else row


def tools(app: App) -> Row:
    """The tools, and which of them models are offered."""
    toolbox = app.runtime.toolbox
    active = set(toolbox.active_names())
    rows = [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
            "active": tool.name in active,
            "plugin": toolbox.owner_of(tool.name),
        }
        for tool in toolbox.all()
    ]
    return {"tools": rows}

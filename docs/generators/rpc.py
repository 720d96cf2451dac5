"""The page of RPC requests: which there are, and what they say of themselves, is the code's."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from generators.markdown import code, doc, table
from zot_core.wire.rpc import COMMANDS, Request

INTRO = """
# RPC requests

What `zot rpc` takes on stdin; [Drive zot from a program](../rpc.md) says how. Every request has `type`, the words
below, and may have `id`, a string or a number. Fields marked with `?` may be left out.

Some events come over RPC alone:
"""

EVENTS = (
    ("response", "id?, command, success, data or error, ignored?", "Answers a request."),
    (
        "ui_request",
        "request_id, method, title, timeout_ms?, and message, options, placeholder, hidden, prefill, questions, tool, "
        "call_id, preview or choices",
        "A plugin asks the person.",
    ),
    ("ui_dismissed", "request_id, reason", "Nobody waits for that answer any more."),
    ("ui_update", "kind, key?, text?, lines?, placement?, actions?", "A plugin sets something on the screen."),
    ("panel_open", "panel_id, extension, title, lines, footer", "A plugin opens a panel."),
    ("panel_render", "panel_id, extension, title, lines, footer", "What it shows now."),
    ("panel_close", "panel_id, extension", "The plugin closed it, or its session is over."),
    ("extension_event", "extension, name, data", "A plugin's own event, for clients that asked for such."),
    ("compact_failed", "reason, message", "The conversation was not compacted and is as it was."),
)


def page() -> str:
    """All requests with their fields, when they act, and what answers them."""
    parts = [INTRO.strip(), table(("type", "fields", "what it says"), [(code(a), b, c) for a, b, c in EVENTS])]
    parts += [_request(name, model) for name, model in COMMANDS.items()]
    return "\n\n".join(parts)


def _request(name: str, model: type[Request]) -> str:
    fields = {key: info for key, info in model.model_fields.items() if key not in ("type", "id")}
    rows = [
        (code(key if info.is_required() else f"{key}?"), _kind(info), info.description or "")
        for key, info in fields.items()
    ]
    shown = [table(("field", "type", "what it is"), rows)] if rows else []
    text = f"{doc(model)} Acts {model.acts}. Data of the response: {model.answer}."
    return "\n\n".join([f"## {code(name)}", text, *shown])


def _kind(info: FieldInfo) -> str:
    return _word(info.annotation)


def _word(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return ", ".join(code(str(value).lower() if isinstance(value, bool) else value) for value in get_args(kind))
    if get_origin(kind) is list:
        return f"array of {_word(get_args(kind)[0])}s"
    if args := get_args(kind):
        return " or ".join(_word(part) for part in args)
    names = {str: "string", bool: "boolean", type(None): "null", Any: "JSON"}
    return names.get(kind, "picture")

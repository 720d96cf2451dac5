"""The page of JSON events: which there are the code says, what they mean stands here."""

from __future__ import annotations

from generators.markdown import code, codes, table
from generators.wire_fields import Fields, wire_types

INTRO = """
# JSON events

What `zot --json` writes: one object a line, UTF-8, `type` first. New fields and types may be added; what is here does
not change its meaning. Within a prompt the order is `user_message`, then for each model call `turn_start` …
`turn_end`, at last `done`. Fields marked with `?` are left out when they say nothing.
"""

MEANING = {
    "session": "First line when a session is kept.",
    "user_message": "A person's prompt, as the model gets it.",
    "assistant_message": "A whole answer as people see it; `withheld` when a plugin kept its text back, `reason` why.",
    "turn_start": "A model call begins; `step` counts from 1 for each prompt.",
    "assistant_start": "The answer begins. A second one in a turn: what was streamed is void, the request is retried.",
    "text_delta": "More of the answer's text, as people see it.",
    "thinking_delta": "More of the model's thinking.",
    "tool_use_start": "The model begins to write a call.",
    "tool_use_args": "More of the call's arguments as JSON text, cut anywhere.",
    "tool_use_end": "The call is written.",
    "usage": "What the answer used; `input` leaves out cached tokens, `cumulative` adds up since the start.",
    "tool_call": (
        "A call as it will run, after every rewrite; not sent for a call that is blocked or does not parse. "
        "`parent_id` is the call whose tool or plugin made this one."
    ),
    "tool_progress": "What a running tool reports.",
    "tool_result": "A call's result; one for every call, blocked ones included.",
    "turn_end": (
        "A call and its tools are over. `stop`: `end_turn`, `tool_use`, `length`, `error`, `aborted` or `blocked`."
    ),
    "retry": "A failed request is tried again after `delay_s` seconds.",
    "compact_start": "The conversation is about to be summarised.",
    "compact_done": "The summary took the place of what it summarises.",
    "ext_notify": "A plugin's or an extension's note for the person.",
    "ext_display": "Text that a plugin shows outside the conversation.",
    "ext_clear_notes": "What that plugin showed is to be taken back.",
    "custom_message": "A plugin's message that became part of the conversation.",
    "plugin_error": "A plugin broke in a hook; the run went on.",
    "error": "The run failed: `kind` for programs, `message` for people.",
    "done": "The prompt is over. Nothing follows until the next.",
}


def page() -> str:
    """All types with their fields."""
    found = wire_types()
    if unknown := sorted((set(found) ^ set(MEANING)) - {"session"}):
        raise SystemExit(f"docs/generators/wire.py and the code differ about: {', '.join(unknown)}")
    rows = ((code(name), codes(fields_of(found.get(name, Fields([])))), text) for name, text in MEANING.items())
    return f"{INTRO.strip()}\n\n{table(('type', 'fields', 'what it says'), rows)}\n\n{_blocks()}"


def fields_of(fields: Fields) -> list[str]:
    """The names of the fields; those that may be missing with a question mark."""
    return fields.always + [f"{name}?" for name in fields.sometimes]


def _blocks() -> str:
    from zot_core.types.content import Image, Text, Thinking, ToolCall
    from zot_core.wire.codec import block

    examples = (Text("…"), Thinking("…"), Image("image/png", "AAAA"), ToolCall("…", "read", {"path": "…"}))
    rows = ((code(_json(block(item))),) for item in examples)
    return f"## Content blocks\n\n{table(('block',), rows)}"


def _json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)

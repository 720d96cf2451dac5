"""The page of JSON events, from the code that makes them: a literal with a `type` is one, its keys are its fields."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from generators.markdown import code, codes, table

ROOT = Path(__file__).parents[2]
MAKERS = ("zot_core/wire/*.py", "zot_cli/modes/*.py")
BLOCKS = frozenset({"text", "thinking", "image"})
"""Types of content blocks; `tool_call` is both a block and an event, made alike."""

INTRO = """
# JSON events

What `zot --json` writes: one object a line, UTF-8, `type` first. New fields and types may be added; what is here does
not change its meaning. Within a prompt the order is `user_message`, then for each model call `turn_start` …
`turn_end`, at last `done`. Fields marked with `?` are left out when they say nothing.
"""

MEANING = {
    "session": "First line when a session is kept.",
    "user_message": "A person's prompt, as the model gets it.",
    "assistant_message": "A whole answer as people see it; `withheld` when a plugin withheld its text.",
    "turn_start": "A model call begins; `step` counts from 1 for each prompt.",
    "assistant_start": "The answer begins. A second one in a turn: what was streamed is void, the request is retried.",
    "text_delta": "More of the answer's text, as people see it.",
    "thinking_delta": "More of the model's thinking.",
    "tool_use_start": "The model begins to write a call.",
    "tool_use_args": "More of the call's arguments as JSON text, cut anywhere.",
    "tool_use_end": "The call is written.",
    "usage": "What the answer used; `input` leaves out cached tokens, `cumulative` adds up since the start.",
    "tool_call": "A call as it will run, after every rewrite; not sent for a call that is blocked or does not parse.",
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
    rows = ((code(name), codes(_fields(found.get(name, ([], [])))), text) for name, text in MEANING.items())
    return f"{INTRO.strip()}\n\n{table(('type', 'fields', 'what it says'), rows)}\n\n{_blocks()}"


def _fields(found: tuple[list[str], list[str]]) -> list[str]:
    always, sometimes = found
    return always + [f"{name}?" for name in sometimes]


def _blocks() -> str:
    from zot_core.types.content import Image, Text, Thinking, ToolCall
    from zot_core.wire.codec import block

    examples = (Text("…"), Thinking("…"), Image("image/png", "AAAA"), ToolCall("…", "read", {"path": "…"}))
    rows = ((code(_json(block(item))),) for item in examples)
    return f"## Content blocks\n\n{table(('block',), rows)}"


def _json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


@cache
def wire_types() -> dict[str, tuple[list[str], list[str]]]:
    """Type -> (fields that are always there, fields that may be), in the order of the code."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for pattern in MAKERS:
        for path in sorted(ROOT.glob(pattern)):
            for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    _read(function, found)
    return {name: found[name] for name in found if name not in BLOCKS}


def _read(function: ast.AST, found: dict[str, tuple[list[str], list[str]]]) -> None:
    literals = [node for node in ast.walk(function) if isinstance(node, ast.Dict) and _type(node)]
    extra = [
        str(node.targets[0].slice.value)
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Subscript)
        and isinstance(node.targets[0].slice, ast.Constant)
    ]
    for literal in literals:
        always = [name for key, value in zip(literal.keys, literal.values, strict=True) for name in _keys(key, value)]
        known, optional = found.setdefault(_type(literal), (always, []))
        if len(literals) == 1:
            optional += [name for name in extra if name not in known + optional]


def _type(literal: ast.Dict) -> str:
    if literal.keys and isinstance(literal.keys[0], ast.Constant) and literal.keys[0].value == "type":
        value = literal.values[0]
        return str(value.value) if isinstance(value, ast.Constant) else ""
    return ""


def _keys(key: ast.expr | None, value: ast.expr) -> list[str]:
    if isinstance(key, ast.Constant):
        return [] if key.value == "type" else [str(key.value)]
    if key is None and isinstance(value, ast.Call) and ast.unparse(value.func) == "codec.usage":
        from zot_core.types.usage import Usage
        from zot_core.wire.codec import usage

        return list(usage(Usage()))
    return []

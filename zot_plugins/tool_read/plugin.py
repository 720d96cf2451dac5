"""Contributes the tool `read`; its code is imported when it is first called."""

from __future__ import annotations

from zot_core import ToolSpec, hookimpl

PARAMETERS = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "offset": {"type": "integer", "minimum": 1, "default": 1, "description": "first line"},
        "limit": {"type": "integer", "minimum": 1, "default": 2000, "description": "lines"},
        "skip": {
            "type": "integer",
            "minimum": 0,
            "default": 0,
            "description": "bytes of the first line to leave out, as a notice says for very long lines",
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}


@hookimpl
def tools() -> list[ToolSpec]:
    return [
        ToolSpec(
            name="read",
            label="Read",
            description=(
                "Reads a text file, a picture (PNG, JPEG, GIF, WebP), or a PDF or notebook as text. "
                "At most 2000 lines or 50 KB at a time; a notice says what is left and how to go on."
            ),
            prompt_snippet="show a file, or a part of it, a picture, a PDF, a notebook",
            parameters=PARAMETERS,
            arguments="zot_plugins.tool_read.read:ReadArgs",
            prepare_arguments="zot_core.toolkit.arguments:without_nulls",
            execute="zot_plugins.tool_read.read:execute",
            preview="zot_plugins.tool_read.read:preview",
            workspace_effect="read",
        )
    ]

"""Contributes the tool `edit`; its code is imported when it is first called."""

from __future__ import annotations

from zot_core import ToolSpec, hookimpl

PARAMETERS = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "edits": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "old_text": {"type": "string"},
                    "new_text": {"type": "string"},
                    "replace_all": {"type": "boolean", "default": False},
                },
                "required": ["old_text", "new_text"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["path", "edits"],
    "additionalProperties": False,
}


@hookimpl
def tools() -> list[ToolSpec]:
    return [
        ToolSpec(
            name="edit",
            label="Edit",
            description=(
                "Replaces exact text in a file. Each old_text must occur once (or set replace_all) in the file "
                "as it is now; edits must not overlap; all are applied, or none."
            ),
            prompt_snippet="replace exact text in a file, several places at once",
            parameters=PARAMETERS,
            arguments="zot_plugins.tool_edit.edit:EditArgs",
            prepare_arguments="zot_plugins.tool_edit.prepare:prepare",
            execute="zot_plugins.tool_edit.edit:execute",
            preview="zot_plugins.tool_edit.edit:preview",
            workspace_effect="write",
        )
    ]

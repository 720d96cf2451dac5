"""Contributes the tool `write`; its code is imported when it is first called."""

from __future__ import annotations

from zot_core import ToolSpec, hookimpl

PARAMETERS = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
    "required": ["path", "content"],
    "additionalProperties": False,
}


@hookimpl
def tools() -> list[ToolSpec]:
    return [
        ToolSpec(
            name="write",
            label="Write",
            description="Creates a file or replaces its whole content; makes missing folders. For a part use edit.",
            prompt_snippet="create a file or replace it whole",
            parameters=PARAMETERS,
            arguments="zot_plugins.tool_write.write:WriteArgs",
            execute="zot_plugins.tool_write.write:execute",
            preview="zot_plugins.tool_write.write:preview",
            workspace_effect="write",
        )
    ]

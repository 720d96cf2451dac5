"""Contributes the tool `ls`; its code is imported when it is first called."""

from __future__ import annotations

from zot_core import ToolSpec, hookimpl

PARAMETERS = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "default": "."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 2000, "default": 500},
    },
    "additionalProperties": False,
}


@hookimpl
def tools() -> list[ToolSpec]:
    return [
        ToolSpec(
            name="ls",
            label="List",
            description="Lists a folder, hidden and ignored names too; folders end in /.",
            prompt_snippet="list a folder",
            parameters=PARAMETERS,
            arguments="zot_plugins.tool_ls.ls:LsArgs",
            prepare_arguments="zot_core.toolkit.arguments:without_nulls",
            execute="zot_plugins.tool_ls.ls:execute",
            preview="zot_plugins.tool_ls.ls:preview",
            workspace_effect="read",
        )
    ]

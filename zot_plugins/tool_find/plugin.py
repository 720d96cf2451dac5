"""Contributes the tool `find`; its code is imported when it is first called."""

from __future__ import annotations

from zot_core import ToolSpec, hookimpl

PARAMETERS = {
    "type": "object",
    "properties": {
        "pattern": {"type": "string", "description": "*.py: names at any depth; src/**/*.py: paths"},
        "path": {"type": "string", "default": "."},
        "hidden": {"type": "boolean", "default": False},
        "limit": {"type": "integer", "minimum": 1, "maximum": 2000, "default": 500},
    },
    "required": ["pattern"],
    "additionalProperties": False,
}


@hookimpl
def tools() -> list[ToolSpec]:
    return [
        ToolSpec(
            name="find",
            label="Find",
            description="Finds files and folders by glob below a folder. Respects .gitignore.",
            prompt_snippet="find files and folders by glob",
            parameters=PARAMETERS,
            arguments="zot_plugins.tool_find.find:FindArgs",
            prepare_arguments="zot_core.toolkit.arguments:without_nulls",
            execute="zot_plugins.tool_find.find:execute",
            preview="zot_plugins.tool_find.find:preview",
            workspace_effect="read",
        )
    ]

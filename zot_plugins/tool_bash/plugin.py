"""Contributes the tool `bash`; its code is imported when it is first called."""

from __future__ import annotations

from zot_core import ToolSpec, hookimpl

PARAMETERS = {
    "type": "object",
    "properties": {
        "command": {"type": "string"},
        "timeout": {
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": 600,
            "default": 120,
            "description": "seconds",
        },
    },
    "required": ["command"],
    "additionalProperties": False,
}


@hookimpl
def tools() -> list[ToolSpec]:
    return [
        ToolSpec(
            name="bash",
            label="Bash",
            description=(
                "Runs a shell command in the project folder and gives its output, stdout and stderr merged. No input, "
                "no terminal. Of long output the last 2000 lines or 50 KB are shown and a file holds the whole. "
                "Background processes (&) go on until zot ends."
            ),
            prompt_snippet="bash: run a shell command",
            parameters=PARAMETERS,
            arguments="zot_plugins.tool_bash.bash:BashArgs",
            prepare_arguments="zot_core.toolkit.arguments:without_nulls",
            execute="zot_plugins.tool_bash.bash:execute",
            preview="zot_plugins.tool_bash.bash:preview",
            workspace_effect="write",
        )
    ]

"""Contributes the tool `powershell` on Windows and nothing elsewhere. No test has run it on Windows yet."""

from __future__ import annotations

import os

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
SPEC = ToolSpec(
    name="powershell",
    label="PowerShell",
    description=(
        "Runs a PowerShell command in the project folder; all streams come merged. No input. Of long output the last "
        "2000 lines or 50 KB are shown and a file holds the whole."
    ),
    prompt_snippet="run a PowerShell command",
    parameters=PARAMETERS,
    arguments="zot_plugins.tool_powershell.powershell:PowerShellArgs",
    prepare_arguments="zot_core.toolkit.arguments:without_nulls",
    execute="zot_plugins.tool_powershell.powershell:execute",
    preview="zot_plugins.tool_powershell.powershell:preview",
    workspace_effect="write",
)


@hookimpl
def tools() -> list[ToolSpec]:
    """The tool, on Windows."""
    return [SPEC] if os.name == "nt" else []

"""Contributes the tools `bash` and `bash_job`; their code is imported when they are first called."""

from __future__ import annotations

import os
import shutil

from zot_core import ToolSpec, hookimpl
from zot_core.types.specs import SettingsSpec

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
        "background": {
            "type": "boolean",
            "default": False,
            "description": "give a job id for bash_job",
        },
    },
    "required": ["command"],
    "additionalProperties": False,
}
JOB_PARAMETERS = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "action": {"type": "string", "enum": ["peek", "input", "kill"], "default": "peek"},
        "text": {"type": "string"},
        "wait": {"type": "number", "description": "seconds to wait for its end"},
    },
    "additionalProperties": False,
}


@hookimpl
def tools() -> list[ToolSpec]:
    """Both, unless this is a Windows without a bash."""
    if os.name == "nt" and shutil.which("bash") is None:
        return []
    return [
        ToolSpec(
            name="bash",
            label="Bash",
            description=(
                "Runs a shell command in the project folder; stdout and stderr come merged. No input, "
                "no terminal. Of long output the last 2000 lines or 50 KB are shown and a file holds the whole."
            ),
            prompt_snippet="run a shell command",
            parameters=PARAMETERS,
            arguments="zot_plugins.tool_bash.bash:BashArgs",
            prepare_arguments="zot_core.toolkit.arguments:without_nulls",
            execute="zot_plugins.tool_bash.bash:execute",
            preview="zot_plugins.tool_bash.bash:preview",
            workspace_effect="write",
        ),
        ToolSpec(
            name="bash_job",
            label="Background job",
            description=(
                "peek: what a background job of bash printed since the last look and how it stands; all jobs without "
                "an id. input: writes a line to its stdin, closes it without text. kill: ends it."
            ),
            parameters=JOB_PARAMETERS,
            arguments="zot_plugins.tool_bash.job:JobArgs",
            prepare_arguments="zot_core.toolkit.arguments:without_nulls",
            execute="zot_plugins.tool_bash.job:execute",
            preview="zot_plugins.tool_bash.job:preview",
            workspace_effect="write",
        ),
    ]


@hookimpl
def settings() -> SettingsSpec:
    """`plugins.tool_bash`."""
    return SettingsSpec(model="zot_plugins.tool_bash.settings:BashSettings")

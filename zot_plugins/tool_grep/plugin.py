"""Contributes the tool `grep`; its code is imported when it is first called."""

from __future__ import annotations

from zot_core import ToolSpec, hookimpl

PARAMETERS = {
    "type": "object",
    "properties": {
        "pattern": {"type": "string"},
        "path": {"type": "string", "default": "."},
        "glob": {"type": "string", "default": "", "description": "only files like *.ts or src/**/*.py; !x leaves out"},
        "ignore_case": {"type": "boolean", "default": False},
        "literal": {"type": "boolean", "default": False},
        "multiline": {"type": "boolean", "default": False, "description": "matches may span lines, . too"},
        "context": {"type": "integer", "minimum": 0, "maximum": 50, "default": 0, "description": "lines around"},
        "hidden": {"type": "boolean", "default": False},
        "limit": {"type": "integer", "minimum": 1, "maximum": 2000, "default": 100},
    },
    "required": ["pattern"],
    "additionalProperties": False,
}


@hookimpl
def tools() -> list[ToolSpec]:
    return [
        ToolSpec(
            name="grep",
            label="Grep",
            description=(
                "Searches file contents for a regular expression (ripgrep), below a folder or in one file. "
                "Respects .gitignore."
            ),
            prompt_snippet="search file contents for a pattern",
            parameters=PARAMETERS,
            arguments="zot_plugins.tool_grep.grep:GrepArgs",
            prepare_arguments="zot_core.toolkit.arguments:without_nulls",
            execute="zot_plugins.tool_grep.grep:execute",
            preview="zot_plugins.tool_grep.grep:preview",
            workspace_effect="read",
        )
    ]

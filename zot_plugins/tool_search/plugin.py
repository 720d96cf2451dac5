"""Contributes the tool `tool_search`; its code is imported when it is first called.

The core offers it only while a tool of the session has `exposure="search"`.
"""

from __future__ import annotations

from zot_core import ToolSpec, hookimpl

PARAMETERS = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "default": "",
            "description": "words for what you want to do, or a tool's name; empty lists the groups",
        },
        "group": {"type": "string", "default": "", "description": "only tools of this group"},
        "limit": {"type": "integer", "default": 5, "minimum": 1, "maximum": 20},
    },
    "additionalProperties": False,
}


@hookimpl
def tools() -> list[ToolSpec]:
    """The tool."""
    return [
        ToolSpec(
            name="tool_search",
            label="Tool search",
            description=(
                "Finds tools that you are not shown yet and makes them callable from your next step on. Search before "
                "you say that something cannot be done or work around it: this session has more tools than you see."
            ),
            parameters=PARAMETERS,
            arguments="zot_plugins.tool_search.search:SearchArgs",
            prepare_arguments="zot_core.toolkit.arguments:without_nulls",
            execute="zot_plugins.tool_search.search:execute",
            preview="zot_plugins.tool_search.search:preview",
            workspace_effect="read",
        )
    ]

"""Zot's own plugins, one folder each. The table says which there are, in the order of their rank.

Equal to the entry points of the group `zot` in pyproject.toml, which a test holds; kept here so that a start scans
nothing. A plugin imports zot_core only, never another plugin; what two of them share belongs into the core.
"""

BUILTINS = {
    "tool_read": "zot_plugins.tool_read.plugin",
    "tool_write": "zot_plugins.tool_write.plugin",
    "tool_edit": "zot_plugins.tool_edit.plugin",
    "tool_bash": "zot_plugins.tool_bash.plugin",
    "context_files": "zot_plugins.context_files.plugin",
    "api_openai_chat": "zot_plugins.api_openai_chat.plugin",
    "providers": "zot_plugins.providers.plugin",
    "provider_scripted": "zot_plugins.provider_scripted.plugin",
}
"""Name -> module. Importing it must not import a plugin."""

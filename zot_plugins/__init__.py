"""Zot's own plugins, one folder each. The table says which there are, in the order of their rank.

Equal to the entry points of the group `zot` in pyproject.toml, which a test holds; kept here so that a start scans
nothing. A plugin imports zot_core only, never another plugin; what two of them share belongs into the core.
"""

BUILTINS = {
    "tool_read": "zot_plugins.tool_read.plugin",
    "tool_write": "zot_plugins.tool_write.plugin",
    "tool_edit": "zot_plugins.tool_edit.plugin",
    "tool_bash": "zot_plugins.tool_bash.plugin",
    "tool_grep": "zot_plugins.tool_grep.plugin",
    "tool_find": "zot_plugins.tool_find.plugin",
    "tool_ls": "zot_plugins.tool_ls.plugin",
    "tool_powershell": "zot_plugins.tool_powershell.plugin",
    "jail": "zot_plugins.jail.plugin",
    "context_files": "zot_plugins.context_files.plugin",
    "skills": "zot_plugins.skills.plugin",
    "prompt_templates": "zot_plugins.prompt_templates.plugin",
    "themes": "zot_plugins.themes.plugin",
    "extension_bridge": "zot_plugins.extension_bridge.plugin",
    "compaction": "zot_plugins.compaction.plugin",
    "tool_search": "zot_plugins.tool_search.plugin",
    "permissions": "zot_plugins.permissions.plugin",
    "commands": "zot_plugins.commands.plugin",
    "login": "zot_plugins.login.plugin",
    "api_anthropic": "zot_plugins.api_anthropic.plugin",
    "api_openai_chat": "zot_plugins.api_openai_chat.plugin",
    "api_openai_responses": "zot_plugins.api_openai_responses.plugin",
    "api_google": "zot_plugins.api_google.plugin",
    "providers": "zot_plugins.providers.plugin",
    "model_fallback": "zot_plugins.model_fallback.plugin",
    "provider_scripted": "zot_plugins.provider_scripted.plugin",
}
"""Name -> module. Importing it must not import a plugin."""

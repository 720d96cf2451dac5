"""The table of contributions: hooks whose answers are data, collected with their owner when a Runtime is built.

Knows nothing of how they are collected. `resources_discover` is not here: it is asked in a session and is an event.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from zot_core.types.record import record

_SPECS = "zot_core.types.specs:"


@record
class Contribution:
    """One contribution. `items` are dotted strings of the types that an item may have; empty means any.

    `equal_names` says what becomes of two items of one name, `later` names the door of `ctx` for the same thing in a
    session ("" where only a contribution can bring it), `hint` helps whoever returned something else.
    """

    name: str
    items: tuple[str, ...]
    equal_names: str
    later: str
    doc: str
    hint: str = ""


_ROWS = (
    Contribution(
        "flags", (_SPECS + "FlagSpec",), "first stays", "", "Flags of the command line, parsed a second time."
    ),
    Contribution(
        "sources",
        (_SPECS + "Candidate",),
        "one identity for each name",
        "",
        "Plugins from elsewhere: candidates with name, tier, position and an async load.",
    ),
    Contribution(
        "cli", (_SPECS + "CliSpec",), "first stays; core words are reserved", "", "Commands of the `zot` program."
    ),
    Contribution("settings", (_SPECS + "SettingsSpec",), "own name only", "", "The plugin's section of settings.json."),
    Contribution(
        "tools",
        (_SPECS + "ToolSpec",),
        "a Python plugin's over a built-in, an extension's never; else first; `tool_search` is reserved",
        "ctx.tools.register",
        "Tools that models may call.",
        "decorate the function with @tool",
    ),
    Contribution(
        "commands",
        (_SPECS + "CommandSpec",),
        "built-ins keep their name; Python plugins' stay as `:1`, `:2`; extensions: first wins, whatever the case",
        "ctx.commands.register",
        "Slash commands.",
    ),
    Contribution("shortcuts", (_SPECS + "ShortcutSpec",), "first stays, reported", "", "Keys of the REPL."),
    Contribution(
        "providers",
        (_SPECS + "ProviderSpec",),
        "stack; what was there comes back",
        "ctx.models.add",
        "Places where models are served.",
    ),
    Contribution(
        "virtual_models",
        ("zot_core.types.routing:VirtualModel",),
        "stack; what was there comes back",
        "ctx.models.add",
        "Names that stand for other models.",
    ),
    Contribution("api_formats", (_SPECS + "ApiFormat",), "first stays", "", "Wire formats of models."),
    Contribution("mcp_servers", (), "the user's own configuration, then first", "", "MCP servers; at load only."),
    Contribution(
        "filesystem_policies",
        (_SPECS + "FilesystemPolicy",),
        "all are asked; the first denial wins, a raise denies",
        "",
        "Who may touch which file; at load only, sync, asked in the worker right before the I/O.",
    ),
    Contribution(
        "permission_presets",
        ("zot_core.types.permissions:PermissionPreset",),
        "first by rank",
        "",
        "Who says what `ctx.permission_preset()` answers: the plugin that watches over permissions.",
    ),
    Contribution(
        "statuses",
        ("builtins:str",),
        "one for each plugin, by its name; an empty one shows nothing",
        "ctx.ui.set_status",
        "What stands beside the conversation from a session's start on; asked only where there is a screen for it.",
    ),
    Contribution(
        "message_renderers",
        (_SPECS + "MessageRenderer",),
        "first stays",
        "ctx.ui.renderers",
        "How custom messages look; a failure shows them plain.",
    ),
    Contribution(
        "entry_renderers",
        (_SPECS + "EntryRenderer",),
        "first stays",
        "ctx.ui.renderers",
        "How session entries look; a failure shows them plain.",
    ),
    Contribution(
        "markdown_transformers",
        (_SPECS + "MarkdownTransformer",),
        "a chain by rank; a raise keeps the text so far",
        "ctx.ui.renderers",
        "Changes of displayed Markdown.",
    ),
    Contribution(
        "themes",
        (_SPECS + "ResourcePath", "builtins:str"),
        "first found, a clash is reported",
        "resources_discover",
        "Files and folders of themes.",
    ),
    Contribution(
        "prompts",
        (_SPECS + "ResourcePath", "builtins:str"),
        "first found, a clash is reported",
        "resources_discover",
        "Files and folders of prompt templates.",
    ),
    Contribution(
        "skills",
        (_SPECS + "ResourcePath", "builtins:str"),
        "first found, a clash is reported",
        "resources_discover",
        "Files and folders of skills.",
    ),
    Contribution(
        "prompt_sources",
        (_SPECS + "PromptSource",),
        "first stays",
        "",
        "Where sections of the base system prompt come from, such as context files.",
    ),
    Contribution(
        "expansions",
        (_SPECS + "Expansion",),
        "commands keep their name, then the first by rank",
        "",
        "What a prompt that begins with `/` and names no command becomes, such as a skill or a template.",
    ),
    Contribution(
        "summarizers", (_SPECS + "Summarizer",), "first by rank", "", "Who writes the summaries of compactions."
    ),
    Contribution(
        "memory_reporters", (), "first stays; reserved names are refused", "", "Parts of the report on memory in use."
    ),
    Contribution("session_importers", (), "the first that accepts", "", "Readers of other programs' sessions."),
    Contribution(
        "tool_operations", (), "first by rank for a tool", "ctx.tools.operations", "Where built-in tools do their I/O."
    ),
)

CONTRIBUTIONS: Mapping[str, Contribution] = MappingProxyType({row.name: row for row in _ROWS})
"""Name -> contribution, in the order of the reference page; `flags` and `sources` are collected first."""

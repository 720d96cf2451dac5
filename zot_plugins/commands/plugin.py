"""The table of commands: name, what it does, and where it is. A command is imported when it is called."""

from __future__ import annotations

from zot_core import hookimpl
from zot_core.types.specs import CommandSpec

_HERE = "zot_plugins.commands."
_SESSION, _MODEL, _PLUGINS, _ZOT = "Conversation", "Model", "Plugins", "zot"
_ROWS: tuple[tuple[str, str, str, str, str, str, tuple[str, ...]], ...] = (
    # name, what it does, hint, handler, busy, heading, further names
    ("help", "what there is to call", "[COMMAND]", "help:help_", "run", _ZOT, ()),
    ("model", "choose a model", "[NAME]", "models:model", "run", _MODEL, ()),
    ("scoped-models", "the models that ctrl+p goes through", "", "models:scoped_models", "run", _MODEL, ()),
    ("reasoning", "choose how much the model thinks", "[LEVEL]", "models:reasoning", "run", _MODEL, ("thinking",)),
    ("new", "begin a new session", "", "sessions:new", "abort", _SESSION, ()),
    ("resume", "go on with another session; rename, delete", "[ID]", "resume:resume", "wait", _SESSION, ("sessions",)),
    ("fork", "go on from an earlier prompt, in a copy", "[here|WORDS]", "sessions:fork", "wait", _SESSION, ()),
    ("clone", "go on in a copy of this session", "", "sessions:clone", "wait", _SESSION, ()),
    ("name", "name this session", "[NAME]", "sessions:name", "run", _SESSION, ("rename",)),
    ("session", "what this session holds and cost", "[name|fork|export]", "session:session", "run", _SESSION, ()),
    ("export", "write this session to a file", "[FILE.md or FILE.jsonl]", "export:export", "run", _SESSION, ()),
    ("btw", "a side question that is not kept", "QUESTION", "aside:btw", "run", _SESSION, ()),
    ("tools", "the tools, and which are offered", "[on|off NAME...]", "about:tools", "run", _MODEL, ()),
    ("plugins", "what is loaded", "", "about:plugins", "run", _PLUGINS, ()),
    ("settings", "settings and where they come from", "[WORDS]", "settings:settings", "run", _ZOT, ()),
    ("trust", "may this project bring plugins and settings?", "[yes|no|forget]", "about:trust", "run", _PLUGINS, ()),
    ("changelog", "what is new in zot", "", "about:changelog", "run", _ZOT, ()),
    ("reload", "load settings, plugins and extensions anew", "", "about:reload", "wait", _PLUGINS, ()),
    ("reload-ext", "start the extensions anew", "", "about:reload_ext", "wait", _PLUGINS, ()),
)
_COMPLETE = {
    "help": "help:names",
    "fork": "sessions:places",
    "model": "models:names",
    "reasoning": "models:levels",
    "session": "session:words",
    "tools": "about:tool_words",
    "trust": "about:trust_words",
}


@hookimpl
def commands() -> list[CommandSpec]:
    """Zot's own commands."""
    return [
        CommandSpec(
            name=name,
            description=does,
            argument_hint=hint,
            handler=_HERE + handler,
            busy=busy,  # type: ignore[arg-type]
            requires_arguments=True if name == "btw" else False if name == "fork" else None,
            complete=_HERE + _COMPLETE[name] if name in _COMPLETE else None,
            aliases=aliases,
            group=group,
        )
        for name, does, hint, handler, busy, group, aliases in _ROWS
    ]

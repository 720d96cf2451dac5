"""The table of commands: name, what it does, and where it is. A command is imported when it is called."""

from __future__ import annotations

from zot_core import hookimpl
from zot_core.types.specs import CommandSpec

_HERE = "zot_plugins.commands."
_ROWS = (
    # name, what it does, hint, handler, busy
    ("help", "what there is to call", "", "about:help_", "run"),
    ("model", "choose a model", "[NAME]", "models:model", "run"),
    ("reasoning", "choose how much the model thinks", "[LEVEL]", "models:reasoning", "run"),
    ("thinking", "the same as /reasoning", "[LEVEL]", "models:reasoning", "run"),
    ("new", "begin a new session", "", "sessions:new", "abort"),
    ("resume", "go on with another session", "[ID or PATH]", "sessions:resume", "wait"),
    ("sessions", "the same as /resume", "[ID or PATH]", "sessions:resume", "wait"),
    ("fork", "go on in a copy of this session", "", "sessions:fork", "wait"),
    ("name", "name this session", "[NAME]", "sessions:name", "run"),
    ("rename", "the same as /name", "[NAME]", "sessions:name", "run"),
    ("session", "what this session holds and what it cost", "", "sessions:session", "run"),
    ("export", "write this session to a file", "[FILE.md or FILE.jsonl]", "export:export", "run"),
    ("btw", "a side question that is not kept", "QUESTION", "aside:btw", "run"),
    ("tools", "the tools, and which are offered", "[on|off NAME...]", "about:tools", "run"),
    ("plugins", "what is loaded", "", "about:plugins", "run"),
    ("settings", "settings and where they come from", "[WORDS]", "about:settings", "run"),
    ("trust", "whether this project may bring plugins and settings", "[yes|no|forget]", "about:trust", "run"),
    ("changelog", "what is new in zot", "", "about:changelog", "run"),
    ("reload", "load settings, plugins and extensions anew", "", "about:reload", "wait"),
    ("reload-ext", "start the extensions anew", "", "about:reload_ext", "wait"),
)


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
            requires_arguments=True if name == "btw" else None,
            complete=_HERE + "models:levels" if handler == "models:reasoning" else None,
        )
        for name, does, hint, handler, busy in _ROWS
    ]

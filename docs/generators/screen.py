"""Tables of the interactive mode for its page: keys, and the commands that zot itself brings."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from generators.markdown import code, table
from zot_cli.repl.keys import ACTIONS
from zot_cli.repl.plugin import ReplPlugin
from zot_core.types.specs import CommandSpec, SessionFacts
from zot_plugins import BUILTINS


def keys() -> str:
    """Every action of the application, its keys and its id."""
    rows = [(" ".join(code(key) for key in action.keys) or "–", action.help, code(action.id)) for action in ACTIONS]
    return table(("keys", "what they do", "action"), rows)


def commands() -> str:
    """Every command of a built-in plugin and of the screen, by name."""
    found: dict[str, CommandSpec] = {}
    for plugin in [*map(import_module, BUILTINS.values()), ReplPlugin(None)]:  # type: ignore[arg-type]
        for spec in _specs(plugin):
            found.setdefault(spec.name, spec)
    rows = [
        (code(f"/{spec.name} {spec.argument_hint}".rstrip()), spec.description[:1].upper() + spec.description[1:])
        for spec in sorted(found.values(), key=lambda spec: spec.name)
    ]
    return table(("command", "what it does"), rows)


def _specs(plugin: Any) -> Iterable[CommandSpec]:
    hook = getattr(plugin, "commands", None)
    if hook is None:
        return ()
    facts = SessionFacts(cwd="/", mode="repl")
    found = hook(session=facts) if "session" in inspect.signature(hook).parameters else hook()
    return [found] if isinstance(found, CommandSpec) else found or ()

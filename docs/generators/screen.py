"""Tables of the interactive mode for its page: keys, and the commands that zot itself brings."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from generators.markdown import code, table
from zot_cli.repl.keys import ACTIONS, EDITING, Action
from zot_cli.repl.plugin import ReplPlugin
from zot_core.types.specs import CommandSpec, SessionFacts
from zot_plugins import BUILTINS


def keys() -> str:
    """Every action of the application, its keys and its id."""
    return _actions(ACTIONS)


def editing() -> str:
    """What keys do to the text while it is typed."""
    return _actions(EDITING)


def _actions(actions: Iterable[Action]) -> str:
    rows = [(" ".join(map(code, action.keys)) or "–", action.help, code(action.id)) for action in actions]
    return table(("keys", "what they do", "action"), rows)


def commands() -> str:
    """Every command of a built-in plugin and of the screen, by name."""
    found: dict[str, CommandSpec] = {}
    for plugin in [*map(import_module, BUILTINS.values()), ReplPlugin(None)]:  # type: ignore[arg-type]
        for spec in _specs(plugin):
            found.setdefault(spec.name, spec)
    rows = [
        (code(f"/{spec.name} {spec.argument_hint}".rstrip()), _what(spec))
        for spec in sorted(found.values(), key=lambda spec: spec.name)
    ]
    return table(("command", "what it does"), rows)


def _what(spec: CommandSpec) -> str:
    also = f" (also {', '.join(code(f'/{alias}') for alias in spec.aliases)})" if spec.aliases else ""
    return spec.description[:1].upper() + spec.description[1:] + also


def _specs(plugin: Any) -> Iterable[CommandSpec]:
    hook = getattr(plugin, "commands", None)
    if hook is None:
        return ()
    facts = SessionFacts(cwd="/", mode="repl")
    found = hook(session=facts) if "session" in inspect.signature(hook).parameters else hook()
    return [found] if isinstance(found, CommandSpec) else found or ()

"""Contributes `/login` and `/logout`; what they do is imported when they are called."""

from __future__ import annotations

from zot_core import hookimpl
from zot_core.types.specs import CommandSpec


@hookimpl
def commands() -> list[CommandSpec]:
    """Both need a person, or a program that asks one."""
    return [
        CommandSpec(
            name="login",
            group="Model",
            description="store a key, or log in to a provider",
            argument_hint="[PROVIDER]",
            handler="zot_plugins.login.command:login",
            modes=("repl", "rpc"),
        ),
        CommandSpec(
            name="logout",
            group="Model",
            description="forget a stored key or login",
            argument_hint="[PROVIDER]",
            handler="zot_plugins.login.command:logout",
            modes=("repl", "rpc"),
        ),
    ]

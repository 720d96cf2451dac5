"""Contributes the built-in themes and `/themes`; no theme is read before somebody asks for one."""

from __future__ import annotations

from typing import Any

from zot_core import CommandSpec, hookimpl
from zot_core.types.specs import ResourcePath, SessionFacts, resolve


@hookimpl
def themes() -> list[ResourcePath]:
    """Dark and light."""
    return [ResourcePath(path=path, scope="system") for path in resolve("zot_core.ui.theme:BUILT_IN")]


@hookimpl
def commands(session: SessionFacts) -> list[CommandSpec]:
    """`/themes`."""

    async def handler(args: str, ctx: Any) -> str:
        return resolve("zot_plugins.themes.listing:listing")(args, ctx, session.home)  # type: ignore[no-any-return]

    return [
        CommandSpec(
            name="themes",
            group="zot",
            description="list the themes, or say what is wrong with one",
            argument_hint="[NAME|FILE]",
            requires_arguments=False,
            handler=handler,
        )
    ]

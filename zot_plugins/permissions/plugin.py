"""Contributes `--no-yolo`, `--permission-preset`, `/yolo`, `/permissions` and the settings `plugins.permissions`.

With full access and no rules, which is the default, nothing stands in the way of a call and nothing is imported.
"""

from __future__ import annotations

from typing import Any

from zot_core import hookimpl
from zot_core.types.specs import CommandSpec, FlagSpec, SettingsSpec, resolve

PRESETS = ("full-access", "workspace", "accept-edits", "auto", "read-only", "ask")


@hookimpl
def flags() -> list[FlagSpec]:
    """Flags for this run; they win over the settings."""
    return [
        FlagSpec(name="no-yolo", description="ask before each tool call", modes=("repl", "rpc")),
        FlagSpec(
            name="permission-preset",
            type="str",
            description=f"what tools may do: {', '.join(PRESETS)}",
            choices=PRESETS,
        ),
    ]


@hookimpl
def settings() -> SettingsSpec:
    """`plugins.permissions`."""
    return SettingsSpec(model="zot_plugins.permissions.settings:PermissionSettings")


@hookimpl
def commands() -> list[CommandSpec]:
    """`/yolo` and `/permissions`."""
    return [
        CommandSpec(
            name="yolo",
            description="ask before tool calls, or no more",
            argument_hint="[on|off]",
            handler="zot_plugins.permissions.commands:yolo",
        ),
        CommandSpec(
            name="permissions",
            description="what tools may do in this session",
            argument_hint="[PRESET]",
            handler="zot_plugins.permissions.commands:permissions",
        ),
    ]


@hookimpl
def session_start(event: Any, ctx: Any) -> None:
    """Puts the gate up where there is something to guard."""
    preset = ctx.flag("permission-preset") or ("ask" if ctx.flag("no-yolo") else ctx.settings.get("preset", ""))
    if preset and preset not in PRESETS:  # only from the settings, where it was reported: a typo opens nothing
        ctx.report(f"there is no permission preset {preset!r}, so each tool call is asked about")
        preset = "ask"
    if preset not in ("", "full-access") or ctx.settings.get("rules"):
        resolve("zot_plugins.permissions.gate:begin")(ctx, preset or "full-access")


@hookimpl
def session_shutdown(event: Any, ctx: Any) -> None:
    """What was remembered for this session is forgotten."""
    resolve("zot_plugins.permissions.state:forget")(ctx.session.id)

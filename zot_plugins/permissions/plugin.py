"""Contributes `--no-yolo`, `--permission-preset`, `/yolo`, `/permissions` and the settings `plugins.permissions`.

With full access and no rules, which is the default, calls pass and nothing is imported.
"""

from __future__ import annotations

from typing import Any

from zot_core import hookimpl
from zot_core.types.permissions import PermissionPreset
from zot_core.types.specs import CommandSpec, FlagSpec, SessionFacts, SettingsSpec, resolve

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
            group="Permissions",
            complete="zot_plugins.permissions.commands:switches",
        ),
        CommandSpec(
            name="permissions",
            description="what tools may do without asking",
            argument_hint="[PRESET]",
            handler="zot_plugins.permissions.commands:permissions",
            group="Permissions",
            complete="zot_plugins.permissions.commands:presets",
        ),
    ]


@hookimpl
def permission_presets() -> PermissionPreset:
    """What `ctx.permission_preset()` answers."""
    return PermissionPreset(read="zot_plugins.permissions.commands:in_force")


@hookimpl
def statuses(session: SessionFacts) -> str:
    """What is less than full access."""
    if not (_chosen[0] or session.settings or session.flags.get("permission-preset") or session.flags.get("no-yolo")):
        return ""
    status: str = resolve("zot_plugins.permissions.commands:status_at_start")(session)
    return status


@hookimpl(trylast=True)
def tool_call(event: Any, ctx: Any) -> Any:
    """The gate: the last to see a call, as it will run. With full access and no rules it is open."""
    given = ctx.flag("permission-preset") or ("ask" if ctx.flag("no-yolo") else "")
    settings = ctx.settings
    if not given and not settings and not _chosen[0]:
        return None
    return resolve("zot_plugins.permissions.gate:judge")(event, ctx, given or settings.get("preset", "full-access"))


_chosen = [False]


def chosen() -> None:
    """Says that a preset was chosen in a session of this process, so that calls are judged from now on."""
    _chosen[0] = True

"""`/yolo` and `/permissions`: what tools may do from the next call on, for this session."""

from __future__ import annotations

from typing import Any

from zot_core.types.failure import UsageError
from zot_plugins.permissions.gate import known, rules_of
from zot_plugins.permissions.plugin import PRESETS, chosen
from zot_plugins.permissions.rules import PRESET_RULES
from zot_plugins.permissions.state import decided

STATUS = "permissions"


async def yolo(args: str, ctx: Any) -> str:
    """`on` runs every call, `off` asks before each; without a word the other of the two."""
    word = args.strip().lower()
    if word not in ("", "on", "off"):
        raise UsageError(f"/yolo takes on or off, not {args.strip()!r}")
    on = word == "on" if word else in_force(ctx) != "full-access"
    choose(ctx, "full-access" if on else "ask")
    return "Tools run without asking." if on else "Each tool call is asked about first."


async def permissions(args: str, ctx: Any) -> str:
    """Shows the preset and rules, or takes another preset."""
    if args.strip():
        choose(ctx, args.strip())
    preset, state = in_force(ctx), decided(ctx.session.id)
    lines = [f"Preset: {preset}"]
    own = rules_of(ctx, preset)[len(PRESET_RULES[preset]) :]
    lines += [f"{rule.action}: {rule.tool} {rule.pattern}" for rule in own]
    if state.everything:
        lines.append("Allowed for this session: everything")
    elif state.tools:
        lines.append(f"Allowed for this session: {', '.join(sorted(state.tools))}")
    return "\n".join(lines)


def in_force(ctx: Any) -> str:
    """The preset of the session: chosen in it, else the line's, else the settings'."""
    given = ctx.flag("permission-preset") or ("ask" if ctx.flag("no-yolo") else "")
    return known(decided(ctx.session.id).preset or given or ctx.settings.get("preset", "full-access"), ctx)


def choose(ctx: Any, preset: str) -> None:
    """Takes a preset for this session; what was allowed for good is asked about again. Raises UsageError."""
    if preset not in PRESETS:
        raise UsageError(f"there is no permission preset {preset!r}; there are {', '.join(PRESETS)}")
    state = decided(ctx.session.id)
    state.preset = preset
    state.tools.clear()
    state.everything = False
    chosen()
    ctx.ui.set_status(STATUS, None if preset == "full-access" else f"permissions: {preset}")

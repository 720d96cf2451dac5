"""`/yolo` and `/permissions`: what tools may do from the next call on, for this session."""

from __future__ import annotations

from typing import Any

from zot_core.types.failure import UsageError
from zot_plugins.permissions.gate import begin, rules_of
from zot_plugins.permissions.rules import PRESET_RULES
from zot_plugins.permissions.state import decided


async def yolo(args: str, ctx: Any) -> str:
    """`on` runs every call, `off` asks before each; without a word the other of the two."""
    word = args.strip().lower()
    if word not in ("", "on", "off"):
        raise UsageError(f"/yolo takes on or off, not {args.strip()!r}")
    state = decided(ctx.session.id)
    on = word == "on" if word else state.preset != "full-access"
    begin(ctx, "full-access" if on else "ask")
    return "Tools run without asking." if on else "Each tool call is asked about first."


async def permissions(args: str, ctx: Any) -> str:
    """Shows the preset and rules, or takes another preset."""
    state = decided(ctx.session.id)
    if args.strip():
        begin(ctx, args.strip())
    lines = [f"Preset: {state.preset}"]
    own = rules_of(ctx, state.preset)[len(PRESET_RULES[state.preset]) :]
    lines += [f"{rule.action}: {rule.tool} {rule.pattern}" for rule in own]
    if state.everything:
        lines.append("Allowed for this session: everything")
    elif state.tools:
        lines.append(f"Allowed for this session: {', '.join(sorted(state.tools))}")
    return "\n".join(lines)

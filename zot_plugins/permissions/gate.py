"""The gate: the last handler of `tool_call`, which lets a call pass, asks a person, or blocks it."""

from __future__ import annotations

from typing import Any

from zot_core import Block
from zot_core.types.failure import UsageError
from zot_plugins.permissions.plugin import PRESETS
from zot_plugins.permissions.rules import PRESET_RULES, Rule, decide, requests
from zot_plugins.permissions.state import decided

STATUS = "permissions"


def begin(ctx: Any, preset: str) -> None:
    """Puts the gate up with a preset, or changes the preset. Raises UsageError for a preset that there is not."""
    if preset not in PRESETS:
        raise UsageError(f"there is no permission preset {preset!r}; there are {', '.join(PRESETS)}")
    state = decided(ctx.session.id)
    state.preset = preset
    state.tools.clear()
    state.everything = False
    if state.down is None:
        state.down = ctx.on("tool_call", judge, trylast=True)
    ctx.ui.set_status(STATUS, None if preset == "full-access" else f"permissions: {preset}")


async def judge(event: Any, ctx: Any) -> Block | None:
    """Whether this call may run, as it will run."""
    state = decided(ctx.session.id)
    tool = next((spec for spec in ctx.tools.all() if spec.name == event.tool_name), None)
    reads = tool is not None and tool.workspace_effect == "read"
    cwd = str(ctx.cwd)
    action = decide(requests(event.tool_name, event.args, cwd, reads), rules_of(ctx, state.preset), cwd)
    if action == "allow":
        return None
    if action == "deny":
        why = f"the permission preset {state.preset} or a rule of the user forbids it"
        return Block(f"{event.tool_name} was not run: {why}; do without it or tell the user what you need")
    if state.everything or event.tool_name in state.tools:
        return None
    answer = await ctx.ui.approve(event)
    if not answer.allowed:
        return Block(answer.reason or "the user refused this call")
    if answer.remember == "tool":
        state.tools.add(event.tool_name)
    elif answer.remember == "session":
        state.everything = True
    return None


def rules_of(ctx: Any, preset: str) -> list[Rule]:
    """The preset's rules, then the person's."""
    own = [Rule(row.get("tool", "*"), row.get("pattern", "*"), row["action"]) for row in ctx.settings.get("rules", ())]
    return [*PRESET_RULES[preset], *own]

"""Judging a call: it passes, a person is asked, or it is blocked."""

from __future__ import annotations

from typing import Any

from zot_core import Block
from zot_plugins.permissions.plugin import PRESETS
from zot_plugins.permissions.rules import PRESET_RULES, Rule, decide, requests
from zot_plugins.permissions.state import chosen_preset, decided


async def judge(event: Any, ctx: Any, preset: str) -> Block | None:
    """Whether this call may run, as it will run; `preset` is what the line or the settings say; a command's wins."""
    state = decided(ctx.session.id)
    preset = known(chosen_preset(ctx) or preset, ctx)
    tool = next((spec for spec in ctx.tools.all() if spec.name == event.tool_name), None)
    reads = tool is not None and tool.workspace_effect == "read"
    cwd = str(ctx.cwd)
    action = decide(requests(event.tool_name, event.args, cwd, reads), rules_of(ctx, preset), cwd)
    if action == "allow":
        return None
    if action == "deny":
        why = f"the permission preset {preset} or a rule of the user forbids it"
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


def known(preset: str, ctx: Any) -> str:
    """The preset if there is one of that name; a misspelt one of the settings opens nothing."""
    if preset in PRESETS:
        return preset
    ctx.report(f"there is no permission preset {preset!r}, so each tool call is asked about")
    return "ask"


def rules_of(ctx: Any, preset: str) -> list[Rule]:
    """The preset's rules, then the person's."""
    own = [Rule(row.get("tool", "*"), row.get("pattern", "*"), row["action"]) for row in ctx.settings.get("rules", ())]
    return [*PRESET_RULES[preset], *own]

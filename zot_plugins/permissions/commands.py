"""`/yolo` and `/permissions`: what tools may do from the next call on, in this process."""

from __future__ import annotations

from typing import Any

from zot_core.types.failure import UsageError
from zot_core.types.specs import SessionFacts
from zot_plugins.permissions.gate import known, rules_of
from zot_plugins.permissions.plugin import PRESETS, chosen
from zot_plugins.permissions.rules import PRESET_RULES
from zot_plugins.permissions.state import choose_preset, chosen_preset, decided

STATUS = "permissions"
WORDS = {
    "full-access": "runs everything",
    "workspace": "runs what reads, files inside the project, commands; asks about the rest",
    "accept-edits": "runs what reads and files inside the project; asks about commands and the rest",
    "auto": "as accept-edits, and runs commands that only look",
    "read-only": "runs what reads; refuses the rest",
    "ask": "asks about everything",
}


async def yolo(args: str, ctx: Any) -> str:
    """`on` runs every call, `off` asks before each; without a word the other of the two."""
    word = args.strip().lower()
    if word not in ("", "on", "off"):
        raise UsageError(f"/yolo takes on or off, not {args.strip()!r}")
    on = word == "on" if word else in_force(ctx) != "full-access"
    choose(ctx, "full-access" if on else "ask")
    return "Tools run without asking." if on else "Each tool call is asked about first."


async def permissions(args: str, ctx: Any) -> str:
    """Takes the preset that is named, or on a screen one from a list; shows what holds."""
    wanted = args.strip()
    if not wanted and ctx.mode == "repl":
        wanted = await _picked(ctx)
    if wanted:
        choose(ctx, wanted)
    preset, state = in_force(ctx), decided(ctx.session.id)
    lines = [f"Preset: {preset}, which {WORDS[preset]}."]
    own = rules_of(ctx, preset)[len(PRESET_RULES[preset]) :]
    lines += [f"{rule.action}: {rule.tool} {rule.pattern}" for rule in own]
    if state.everything:
        lines.append("Allowed for this session: everything")
    elif state.tools:
        lines.append(f"Allowed for this session: {', '.join(sorted(state.tools))}")
    return "\n".join(lines)


def presets(text: str) -> list[str]:
    """Completions of a preset."""
    return [preset for preset in PRESETS if preset.startswith(text.strip().lower())]


def switches(text: str) -> list[str]:
    """Completions of /yolo."""
    return [word for word in ("on", "off") if word.startswith(text.strip().lower())]


async def _picked(ctx: Any) -> str:
    """The preset that the person takes from the list; "" for none, and for the one in force."""
    now = in_force(ctx)
    rows = {f"{preset}{' (in use)' if preset == now else ''}  {WORDS[preset]}": preset for preset in PRESETS}
    answer = rows.get(await ctx.ui.select("What may tools do?", list(rows)), "")
    return "" if answer == now else answer


def in_force(ctx: Any) -> str:
    """The preset in force: a command's, else the line's, else the settings'."""
    given = ctx.flag("permission-preset") or ("ask" if ctx.flag("no-yolo") else "")
    return known(chosen_preset(ctx) or given or ctx.settings.get("preset", "full-access"), ctx)


def choose(ctx: Any, preset: str) -> None:
    """Takes a preset for this process; what was allowed for good is asked about again. Raises UsageError."""
    if preset not in PRESETS:
        raise UsageError(f"there is no permission preset {preset!r}; there are {', '.join(PRESETS)}")
    choose_preset(ctx, preset)
    chosen()
    ctx.ui.set_status(STATUS, status(preset) or None)


def status(preset: str) -> str:
    """What stands beside the conversation; nothing of full access."""
    return "" if preset == "full-access" else f"permissions: {preset}"


def status_at_start(session: SessionFacts) -> str:
    """The status of a session's preset; a misspelt one counts as `ask`."""
    given = session.flags.get("permission-preset") or ("ask" if session.flags.get("no-yolo") else "")
    preset = chosen_preset(session) or given or session.settings.get("preset", "full-access")
    return status(preset if preset in PRESETS else "ask")

"""`/skills`: which skills there are and where they come from. One that is chosen stands in the editor, to be sent."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from zot_core.types.failure import UsageError
from zot_core.ui import Picker, SelectItem
from zot_plugins.skills.catalog import OWN, Skill, skills_of


async def skills(args: str, ctx: Any, home: str, *, off: bool) -> str | None:
    """The skills that have all the words in their name or description."""
    if off:
        return "Skills are switched off by `--no-skills`."
    words = args.casefold().split()
    every = skills_of(ctx, home)
    found = [one for one in every if all(word in f"{one.name} {one.description}".casefold() for word in words)]
    problems = [row.message for row in ctx.diagnostics.rows if row.plugin == ctx.plugin and row.level != "info"]
    if not found:
        near = ", ".join(one.name for one in every)
        raise UsageError(f"no skill has {args.strip()!r} in it; there are: {near or 'none'}")
    if ctx.mode == "repl":
        chosen = await ctx.ui.custom(_list(found, problems, ctx, home), title="Skills")
        if chosen is not None:  # None: there is no screen to show it on
            if chosen:
                ctx.ui.set_editor_text(f"/skill:{chosen} {ctx.ui.get_editor_text()}")
            return "\n".join(f"- {problem}" for problem in problems) or None
    rows = [f"| `/skill:{one.name}` | {_cell(one.description)} | {_cell(source(one, ctx, home))} |" for one in found]
    return "\n".join(["| skill | what it is for | from |", "|---|---|---|", *rows, *_list_of(problems)])


def _list(found: list[Skill], problems: list[str], ctx: Any, home: str) -> Any:
    by_name = {one.name: one for one in found}
    items = [
        SelectItem(value=one.name, label=one.name, description=" ".join(one.description.split()), search=one.path)
        for one in found
    ]

    def detail(item: SelectItem) -> str:
        one = by_name[item.value]
        hidden = "offered to no model, " if one.hidden else ""
        return f"{hidden}{source(one, ctx, home)}: {one.path}"

    def make(tui: Any, theme: Any, keybindings: Any, done: Any) -> Picker:
        picker = Picker(
            "Which skill?",
            items,
            lambda item: done(item.value),
            lambda: done(""),
            detail=detail,
            theme=theme,
            keybindings=keybindings,
            tui=tui,
        )
        if problems:
            picker.status = f"{len(problems)} with problems, told when this is closed"
        return picker

    return make


def source(one: Skill, ctx: Any, home: str) -> str:
    """Where a skill comes from, in a word."""
    if one.path == OWN.path:
        return "zot"
    places = [("project", str(ctx.cwd)), ("home", home)]
    places += [(plugin.removeprefix("ext:"), place.path) for plugin, place in ctx.resources("skills")]
    inside = [(name, place) for name, place in places if Path(one.path).is_relative_to(os.fspath(place))]
    return max(inside, key=lambda row: len(str(row[1])))[0] if inside else "elsewhere"


def _list_of(problems: list[str]) -> list[str]:
    return ["", *(f"- {problem}" for problem in problems)] if problems else []


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")

"""What models and people see of skills: the list in the prompt, the names of `/skill:NAME`, a loaded skill."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zot_core.types.specs import ExpansionName, PromptSection
from zot_plugins.skills.catalog import FILE, Skill, skills_of

if TYPE_CHECKING:
    from zot_core.ctx.protocols import Context

MAX_LIST = 16_000
"""Characters of names and descriptions that go into every request; beyond, skills are listed by name alone."""
MAX_BODY = 60_000
"""Characters of a body that are loaded; the rest can be read from the file."""
MAX_FILES = 40
"""Files of a skill's folder that are named."""
_SKIPPED = frozenset({"node_modules", "__pycache__"})
_INTRO = "# Skills\n\nInstructions for particular kinds of work. When one fits the task, {how} before you begin."


def sections(ctx: Context, home: str) -> list[PromptSection]:
    """A section for each skill that models may load, one line each, after a word on how; none if they have no way."""
    active = ctx.tools.active()
    if "skill" in active:
        how = "load it with the tool `skill`"
    elif "read" in active:
        how = "read its file"
    else:
        return []
    shown = [skill for skill in skills_of(ctx, home) if not skill.hidden]
    found: list[PromptSection] = []
    room = MAX_LIST
    for skill in shown:
        where = "" if "skill" in active else f" ({skill.path})"
        line = f"- {skill.name}: {skill.description}{where}"
        if len(line) > room:
            line = f"- {skill.name}{where}"
        room -= len(line)
        if room < -MAX_LIST:
            ctx.report(f"there are more skills than fit: {len(shown)}, of which models are told {len(found)}")
            break
        text = f"{_INTRO.format(how=how)}\n\n{line}" if not found else line
        found.append(PromptSection(name=skill.name, text=text, kind="skills", path=skill.path))
    return found


def names(ctx: Context, home: str) -> list[ExpansionName]:
    """The names that `/skill:NAME` takes."""
    return [
        ExpansionName(name=f"skill:{skill.name}", description=skill.description, argument_hint="[TEXT]")
        for skill in skills_of(ctx, home)
    ]


def expand(text: str, ctx: Context, home: str) -> str | None:
    """The skill that `/skill:NAME TEXT` names, with TEXT after it as it stands; None for no skill."""
    command, *rest = text.split(maxsplit=1)
    skill = find(skills_of(ctx, home), command.removeprefix("/skill:"))
    if skill is None:
        return None
    return "\n\n".join([loaded(skill), *(one.rstrip() for one in rest)])


def find(skills: Sequence[Skill], name: str) -> Skill | None:
    """The skill of that name, or None."""
    return next((skill for skill in skills if skill.name == name), None)


def loaded(skill: Skill) -> str:
    """A skill as a model reads it: where it is, its conditions, its body, the names of its other files.

    Raises OSError, or ZotError for a file that has changed into none.
    """
    from zot_plugins.skills.reading import document

    body = document(skill.path).body
    if len(body) > MAX_BODY:
        body = body[:MAX_BODY] + f"\n\n[Cut here: {len(body) - MAX_BODY} characters more are in {skill.path}]"
    parts = [f'<skill name="{skill.name}" folder="{skill.folder}">']
    if skill.compatibility:
        parts.append(f"It needs: {skill.compatibility}")
    if skill.allowed_tools:
        parts.append(f"It is written for these tools: {', '.join(skill.allowed_tools)}")
    parts.append(body or "(This skill has no text.)")
    if files := _files(skill):
        parts.append(f"Other files in its folder: {', '.join(files)}")
    return f"{parts[0]}\n" + "\n\n".join(parts[1:]) + "\n</skill>"


def _files(skill: Skill) -> list[str]:
    if Path(skill.path).name != FILE:
        return []  # a file that was named for itself; what lies beside it need not be its own
    found: list[str] = []
    for folder, folders, files in os.walk(skill.folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        for name in sorted(files):
            path = os.path.relpath(Path(folder, name), skill.folder)
            if path != FILE and not name.startswith("."):
                found.append(path)
            if len(found) > MAX_FILES:
                return [*found[:MAX_FILES], "..."]
    return found

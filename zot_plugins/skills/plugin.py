"""Contributes the flags, the prompt's list of skills, the tool `skill`, `/skill:NAME` and `/skills`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zot_core import ToolSpec, hookimpl
from zot_core.types.specs import (
    CommandSpec,
    Expansion,
    ExpansionName,
    FlagSpec,
    PromptSection,
    PromptSource,
    SessionFacts,
    resolve,
)

PARAMETERS = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}


@hookimpl
def flags() -> list[FlagSpec]:
    """`--skill`, `--no-skills` and its alias, `--with-skills`."""
    return [
        FlagSpec(
            name="skill",
            type="str",
            repeatable=True,
            default=(),
            description="a skill's folder or SKILL.md, also twice",
        ),
        FlagSpec(name="no-skills", default=False, description="no skills but those of --skill"),
        FlagSpec(name="no-skill", default=False, description="the same as --no-skills"),
        FlagSpec(name="with-skills", default=False, description="accepted; skills are on without it"),
    ]


@hookimpl
def prompt_sources(session: SessionFacts) -> list[PromptSource]:
    """The list of skills."""
    if _off(session):
        return []

    def read(ctx: Any) -> Sequence[PromptSection]:
        return resolve("zot_plugins.skills.listing:sections")(ctx, session.home)  # type: ignore[no-any-return]

    return [PromptSource(name="skills", read=read, with_ctx=True)]


@hookimpl
def tools(session: SessionFacts) -> list[ToolSpec]:
    """The tool `skill`."""
    if _off(session):
        return []

    async def execute(args: Any, ctx: Any) -> Any:
        return await resolve("zot_plugins.skills.tool:execute")(args, ctx, session.home)

    return [
        ToolSpec(
            name="skill",
            label="Skill",
            description="Loads the instructions of a skill that the system prompt lists.",
            parameters=PARAMETERS,
            arguments="zot_plugins.skills.tool:SkillArgs",
            execute=execute,
            preview="zot_plugins.skills.tool:preview",
            workspace_effect="read",
        )
    ]


@hookimpl
def expansions(session: SessionFacts) -> list[Expansion]:
    """`/skill:NAME`."""
    if _off(session):
        return []

    def expand(text: str, ctx: Any) -> str | None:
        if not text.startswith("/skill:"):
            return None
        return resolve("zot_plugins.skills.listing:expand")(text, ctx, session.home)  # type: ignore[no-any-return]

    def names(ctx: Any) -> Sequence[ExpansionName]:
        return resolve("zot_plugins.skills.listing:names")(ctx, session.home)  # type: ignore[no-any-return]

    return [Expansion(name="skills", expand=expand, names=names)]


@hookimpl
def commands(session: SessionFacts) -> CommandSpec:
    """`/skills`."""

    async def skills(args: str, ctx: Any) -> str | None:
        answer = await resolve("zot_plugins.skills.command:skills")(args, ctx, session.home, off=_off(session))
        return answer  # type: ignore[no-any-return]

    return CommandSpec(
        name="skills",
        description="the skills; one that is chosen is put where you type",
        argument_hint="[WORDS]",
        handler=skills,
        group="Plugins",
    )


def _off(session: SessionFacts) -> bool:
    off = session.flags.get("no-skills") or session.flags.get("no-skill")
    return bool(off and not session.flags.get("skill"))

"""The tool `skill`: a skill's instructions by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from zot_core.toolkit.errors import ToolError, about, shown
from zot_core.toolkit.threads import run_to_end
from zot_core.types.specs import ToolResult
from zot_plugins.skills.catalog import skills_of
from zot_plugins.skills.listing import find, loaded

if TYPE_CHECKING:
    from zot_core.ctx.protocols import ToolContext


class SkillArgs(BaseModel):
    """Arguments of `skill`."""

    model_config = ConfigDict(extra="forbid")

    name: str


def preview(args: SkillArgs) -> str:
    """The call in a line."""
    return f"skill {args.name}"


async def execute(args: SkillArgs, ctx: ToolContext, home: str) -> ToolResult:
    """Loads the skill; see the tool's description."""
    skills = [skill for skill in skills_of(ctx, home) if not skill.hidden]
    skill = find(skills, args.name.strip().removeprefix("/").removeprefix("skill:"))
    if skill is None:
        known = ", ".join(one.name for one in skills) or "none"
        raise ToolError(f"There is no skill {shown(args.name)}. There are: {known}")
    try:
        text = await run_to_end(loaded, skill)
    except OSError as error:
        raise about("read", shown(skill.path), error) from error
    return ToolResult(content=text, details={"skill": skill.name, "path": skill.path})

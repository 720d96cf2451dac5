"""The search: what is found is active from the next request on, and the answer says what it is for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from zot_core.types.specs import ToolResult, ToolSpec
from zot_plugins.tool_search.index import Index

if TYPE_CHECKING:
    from zot_core.ctx.protocols import ToolContext

NAME_WEIGHT = 4
LABEL_WEIGHT = 2
LONGEST = 200
"""Characters of a tool's description that an answer holds; the whole one comes with the tool."""
Row = tuple[str, ToolSpec]


class SearchArgs(BaseModel):
    """Arguments of `tool_search`."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field("", description="words for what you want to do, or a tool's name; empty lists the groups")
    group: str = Field("", description="only tools of this group")
    limit: int = Field(5, ge=1, le=20)


def preview(args: SearchArgs) -> str:
    """The call in a line."""
    return f"tool_search {args.query!r}" + (f" in {args.group}" if args.group else "")


async def execute(args: SearchArgs, ctx: ToolContext) -> ToolResult:
    """Searches, and asks for what was found to be offered."""
    rows = ctx.tools.searchable()
    if args.group:
        wanted = args.group.strip().casefold()
        inside = [row for row in rows if row[0].casefold() == wanted]
        if not inside:
            return _told(f"There is no group {args.group!r}. {_groups(rows)}")
        rows = inside
    if not args.query.strip():
        return _told(_listed(rows) if args.group else _groups(rows))
    found = ranked(rows, args.query)[: args.limit]
    if not found:
        return _told(f"No tool matches {args.query!r}. Try other words. {_groups(rows)}")
    active = set(ctx.tools.active())
    lines = [f"{tool.name} ({group}): {_first(tool.description)}" for group, tool in found]
    new = tuple(tool.name for _, tool in found if tool.name not in active)
    said = "You can call these from your next step on:" if new else "You have these already:"
    return ToolResult(
        content="\n".join([said, *lines]),
        activate_tools=new,
        details={"query": args.query, "found": [tool.name for _, tool in found], "searched": len(rows)},
    )


def ranked(rows: Sequence[Row], query: str) -> list[Row]:
    """The rows that match, the best first; tools that the query names come before all."""
    index = Index([_fields(tool) for _, tool in rows])
    exact = {word.strip("`'\",;") for word in query.split()}
    named = [row for row in rows if row[1].name in exact]
    return [*named, *(row for _, number in index.search(query) if (row := rows[number]) not in named)]


def _fields(tool: ToolSpec) -> list[tuple[str, int]]:
    return [
        (tool.name, NAME_WEIGHT),
        (" ".join(tool.search_keywords), NAME_WEIGHT),
        (tool.label, LABEL_WEIGHT),
        (tool.description, 1),
        (tool.search_text, 1),
    ]


def _told(text: str) -> ToolResult:
    return ToolResult(content=text)


def _groups(rows: Sequence[Row]) -> str:
    counts = Counter(group for group, _ in rows)
    named = ", ".join(f"{group} ({count})" for group, count in sorted(counts.items()))
    return f"Groups of tools: {named}." if named else "There are no tools to find."


def _listed(rows: Sequence[Row]) -> str:
    lines = [f"{tool.name}: {_first(tool.description)}" for _, tool in rows]
    return "\n".join(["Search for one of these by its name to get it:", *lines])


def _first(text: str) -> str:
    line = " ".join(text.split("\n\n", 1)[0].split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"

"""The demonstration that `scripted` gives without a script: it says that it is no model, looks at the folder with the
tools that are active, and answers from what they returned. Where it stands it sees in the conversation alone.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from zot_core.models.protocol import Request
from zot_core.types.content import text_of
from zot_core.types.messages import ToolResultMessage, UserMessage
from zot_core.types.stream import Done, StreamPart, TextDelta, ToolCallDelta, ToolCallEnd, ToolCallStart, UsageUpdate
from zot_core.types.usage import Usage

LIST = {"ls": {"path": "."}, "find": {"pattern": "*", "path": "."}, "bash": {"command": "ls -Ap"}}
"""The tools that can list a folder, the plainest first, and how each is asked."""
README = ("README.md", "README.rst", "README.txt", "README", "readme.md")
SHOWN = 20
INTRODUCTION = (
    "I am no model: this is the scripted provider, which shows how zot works without a key or a network. "
    "I cannot understand what you asked, but the tools are real, so I look at this folder.\n"
)
HOW_TO_GO_ON = (
    "For real answers choose a model, for instance with OPENAI_API_KEY set, or a server of your own with --base-url."
)


async def demonstrate(request: Request, state: object) -> AsyncIterator[StreamPart]:
    """The next answer of the demonstration."""
    results = _results(request)
    tools = {spec.name for spec in request.tools}
    lister = next((name for name in LIST if name in tools), None)
    entries = _entries(results[0]) if results else []
    readme = next((name for name in README if name in entries), None)
    if not results and lister is not None:
        parts = [*_say(INTRODUCTION), *_call("demo_list", lister, LIST[lister])]
    elif len(results) == 1 and readme is not None and "read" in tools:
        parts = list(_call("demo_read", "read", {"path": readme, "limit": 20}))
    else:
        parts = list(_say(_answer(results, entries, readme, lister)))
    calls = any(isinstance(part, ToolCallStart) for part in parts)
    for part in parts:
        yield part
    yield UsageUpdate(Usage())
    yield Done("tool_use" if calls else "end_turn", request.model.id)


def _results(request: Request) -> list[ToolResultMessage]:
    """The tool results since the last thing that the person said."""
    results: list[ToolResultMessage] = []
    for message in request.messages:
        if isinstance(message, UserMessage):
            results.clear()
        elif isinstance(message, ToolResultMessage):
            results.append(message)
    return results


def _entries(result: ToolResultMessage) -> list[str]:
    """File names out of a listing, one a line; notes of the tool in brackets are none."""
    if result.is_error:
        return []
    lines = [line.strip() for line in text_of(result.content).splitlines()]
    return [line for line in lines if line and line[0] not in "[("]


def _answer(results: Sequence[ToolResultMessage], entries: list[str], readme: str | None, lister: str | None) -> str:
    if not results:
        why = "but no tool that lists a folder is active" if lister is None else "but it returned nothing"
        return f"{INTRODUCTION}I would have looked at this folder, {why}.\n\n{HOW_TO_GO_ON}"
    first = results[0]
    if first.is_error:
        return f"The tool {first.tool_name} failed: {text_of(first.content).strip()}\n\n{HOW_TO_GO_ON}"
    folders = sorted(name for name in entries if name.endswith("/"))
    files = sorted(name for name in entries if not name.endswith("/"))
    if not entries:
        said = "This folder is empty."
    else:
        shown = [*folders, *files][:SHOWN]
        more = f"\n- … and {len(entries) - SHOWN} more" if len(entries) > SHOWN else ""
        count = "1 entry" if len(entries) == 1 else f"{len(entries)} entries"
        said = f"`{first.tool_name}` says that this folder holds {count}:\n" + "\n".join(f"- {n}" for n in shown) + more
    if len(results) > 1 and readme is not None and not results[1].is_error:
        said += f"\n\n`{readme}` begins: {_first_line(text_of(results[1].content))}"
    return f"{said}\n\n{HOW_TO_GO_ON}"


def _first_line(text: str) -> str:
    lines = (line.strip().lstrip("#").strip() for line in text.splitlines())
    return next((line for line in lines if line), "(nothing)")


def _say(text: str) -> Iterator[StreamPart]:
    """The text in words, so that it streams as a model's does."""
    words = text.split(" ")
    for number, word in enumerate(words, 1):
        yield TextDelta(word if number == len(words) else f"{word} ")


def _call(key: str, tool: str, args: Mapping[str, Any]) -> Iterator[StreamPart]:
    yield ToolCallStart(key, "", tool)
    yield ToolCallDelta(key, json.dumps(args))
    yield ToolCallEnd(key)

"""A tool with which the model asks the person; they choose, or answer in words of their own.

zot --plugin ask_person.py
"""

from zot_core import ToolResult, hookimpl, tool


@tool
async def ask_person(question: str, options: list[str], ctx) -> ToolResult:
    """Ask the person a question that only they can answer; `options` are the answers you expect."""
    asked = [{"id": "it", "header": "The model asks", "question": question, "options": options}]
    said = await ctx.ui.question(asked, timeout=1800)
    match said["outcome"]:
        case "answered":
            return ToolResult(content=f"The person answers: {said['answers']['it']}")
        case "comment-submitted":
            return ToolResult(content=f"The person says: {said['comment']}")
        case "unavailable":
            return ToolResult(content="Nobody can be asked here; decide yourself and say so.", is_error=True)
        case outcome:
            return ToolResult(content=f"No answer ({outcome}).", is_error=True)


@hookimpl
def tools():
    return ask_person

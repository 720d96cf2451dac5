"""A conversation as text for the model that summarises it: pure, bounded for each block, in parts that fit a window.

Written out as text, so that no provider can refuse it for calls without results, foreign thinking or odd roles.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from zot_core.types.content import Image, Text, ToolCall
from zot_core.types.messages import AssistantMessage, Message, ToolResultMessage

RESULT_LIMIT = 2000
"""Characters of a tool's result that the summary is made from; what matters of it the model has said itself."""
TEXT_LIMIT = 20_000
"""Characters of one text."""


def parts(messages: Sequence[Message], limit: int) -> list[str]:
    """The conversation as texts of at most `limit` characters, cut between messages where that is possible."""
    found: list[str] = []
    text = ""
    for message in messages:
        said = _said(message)
        while len(said) > limit:
            found, text = [*found, *([text] if text else []), said[:limit]], ""
            said = said[limit:]
        if len(text) + len(said) > limit:
            found.append(text)
            text = ""
        text += said
    return [*found, text] if text else found


def _said(message: Message) -> str:
    if isinstance(message, ToolResultMessage):
        outcome = "Error of" if message.is_error else "Result of"
        return f"[{outcome} {message.tool_name}]\n{_text(message.content, RESULT_LIMIT)}\n\n"
    if isinstance(message, AssistantMessage):
        calls = "".join(
            f"[Call of {block.name}: {_cut(_arguments(block), RESULT_LIMIT)}]\n"
            for block in message.content
            if isinstance(block, ToolCall)
        )
        text = _text(message.content, TEXT_LIMIT)
        return f"[Assistant]\n{text}\n{calls}\n" if text else f"{calls}\n"
    return f"[User]\n{_text(message.content, TEXT_LIMIT)}\n\n"


def _text(content: Sequence[object], limit: int) -> str:
    pieces = []
    for block in content:
        if isinstance(block, Text):
            pieces.append(block.text)
        elif isinstance(block, Image):
            pieces.append("(a picture)")
    return _cut("\n".join(pieces), limit)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"


def _arguments(call: ToolCall) -> str:
    return json.dumps(call.args, ensure_ascii=False, default=str)

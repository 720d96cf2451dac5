"""A conversation as rows of the Messages API: user and assistant in turn, results right after their calls.

Expects projected messages: calls paired with results, nothing empty, nothing of another model's thinking. Pure: the
same messages are the same rows, because servers cache by them and sign thinking over them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from zot_core.models.growing import Grown
from zot_core.models.loading import Loaded
from zot_core.models.projection import NO_OUTPUT, made_by
from zot_core.types.content import Image, Text, Thinking, ToolCall, UserContent
from zot_core.types.messages import AssistantMessage, CustomMessage, Message, ToolResultMessage, UserMessage
from zot_core.types.specs import ModelSpec, ToolSpec
from zot_plugins.api_anthropic.names import wire_id, wire_name

Body = dict[str, Any]
Role = Literal["user", "assistant"]

OPENING = "(The conversation goes on from here.)"
"""Said in the user's place where a conversation begins with an answer, which no server takes."""
GO_ON = "Go on."
"""Said in the user's place where a conversation ends with an answer: newer models refuse to continue one."""
SEE_BELOW = "(a picture, see below)"
_TYPES = {"iVBORw0KGgo": "image/png", "/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}
"""How the base64 of a picture begins; servers refuse a picture that is not what it is called."""
THOUGHT = ("thinking", "redacted_thinking")
_NOTHING: Loaded = {}


def rows_of(
    messages: Sequence[Message],
    model: ModelSpec,
    grown: Grown | None,
    thoughts: bool = True,
    loaded: Loaded = _NOTHING,
) -> list[Body]:
    """The rows, the first and the last one the user's. Without `thoughts` all thinking is left out; what `grown` holds
    was made with it. `loaded` are the tools that results bring. Rows may be shared with other requests: nobody may
    change them."""
    done, rows = grown.resume(messages, loaded) if grown is not None and thoughts else (0, [])
    for message in messages[done:]:
        if isinstance(message, AssistantMessage):
            _add(rows, "assistant", _assistant(message, model, thoughts))
        elif isinstance(message, ToolResultMessage):
            specs = loaded.get(message.call_id)
            _add(rows, "user", _result(message) if specs is None else _loading(message, specs))
        else:
            _add(rows, "user", _user(message))
    if grown is not None and thoughts:
        grown.keep(messages, rows, loaded)
    if not rows or rows[0]["role"] != "user":
        rows.insert(0, _row("user", [_text(OPENING)]))
    if rows[-1]["role"] != "user":
        rows.append(_row("user", [_text(GO_ON)]))
    return rows


def marked(rows: list[Body], mark: Body) -> list[Body]:
    """The rows with cache breakpoints at the end of the last two of the user: where this request's prefix ends, and
    where the one before ended, from which the server reads."""
    rows = list(rows)
    users = [index for index, row in enumerate(rows) if row["role"] == "user"]
    for index in users[-2:]:
        *before, last = rows[index]["content"]
        rows[index] = _row("user", [*before, {**last, "cache_control": mark}])
    return rows


def _row(role: Role, content: list[Body]) -> Body:
    return {"role": role, "content": content}


def _add(rows: list[Body], role: Role, content: list[Body]) -> None:
    """Appends a row, or its content to the last row of the same role: roles alternate. Of the user's, results come
    first, because nothing may stand between a call and its result."""
    if not content:
        return
    if not rows or rows[-1]["role"] != role:
        rows.append(_row(role, content))
        return
    content = [*rows[-1]["content"], *content]
    content.sort(key=lambda block: role == "user" and block["type"] != "tool_result")
    rows[-1] = _row(role, content)


def _assistant(message: AssistantMessage, model: ModelSpec, thoughts: bool) -> list[Body]:
    thoughts = thoughts and made_by(message, model)
    content: list[Body] = []
    for block in message.content:
        if isinstance(block, Text):
            content.append(_text(block.text))
        elif isinstance(block, ToolCall):
            # Arguments that were no JSON object are not sent again: servers refuse them, and the whole conversation
            name, args = wire_name(block.name), {} if block.args is None else dict(block.args)
            content.append({"type": "tool_use", "id": wire_id(block.id), "name": name, "input": args})
        elif thoughts and (sent := _thinking(block, model)) is not None:
            content.append(sent)
    while content and content[-1]["type"] in THOUGHT:
        content.pop()  # of an answer that was cut within its thinking; servers refuse it at the end
    return content


def _thinking(block: Thinking, model: ModelSpec) -> Body | None:
    if block.redacted:
        return {"type": "redacted_thinking", "data": block.signature} if block.signature else None
    if block.signature or (block.text and model.compat.get("replaysUnsignedThinking")):
        return {"type": "thinking", "thinking": block.text, "signature": block.signature or ""}
    return None


def _user(message: UserMessage | CustomMessage) -> list[Body]:
    return [_part(block) for block in message.content]


def _result(message: ToolResultMessage) -> list[Body]:
    """The result, and behind it the pictures of a failure: a result that is an error may hold text alone."""
    body: Body = {"type": "tool_result", "tool_use_id": wire_id(message.call_id)}
    if not message.is_error:
        return [{**body, "content": _parts(message.content) or [_text(NO_OUTPUT)]}]
    texts = _parts(block for block in message.content if isinstance(block, Text))
    pictures = _parts(block for block in message.content if isinstance(block, Image))
    content = texts or [_text(SEE_BELOW if pictures else NO_OUTPUT)]
    return [{**body, "content": content, "is_error": True}, *pictures]


def _loading(message: ToolResultMessage, specs: Sequence[ToolSpec]) -> list[Body]:
    """A result that brings tools: it may hold references alone, so what was said follows all results, as what it is."""
    references: list[Body] = [{"type": "tool_reference", "tool_name": wire_name(spec.name)} for spec in specs]
    row: Body = {"type": "tool_result", "tool_use_id": wire_id(message.call_id), "content": references}
    said = [block for block in message.content if block != Text(NO_OUTPUT)]
    return [row, _text(f"[output of {message.tool_name}]"), *_parts(said)] if said else [row]


def _parts(content: Iterable[UserContent]) -> list[Body]:
    return [_part(block) for block in content]


def _part(block: UserContent) -> Body:
    return _image(block) if isinstance(block, Image) else _text(block.text)


def _text(text: str) -> Body:
    return {"type": "text", "text": text}


def _image(block: Image) -> Body:
    kind = next((kind for head, kind in _TYPES.items() if block.data.startswith(head)), "")
    if not kind:
        return _text(f"[{block.mime_type}, {block.size} bytes: only png, jpeg, gif and webp can be looked at]")
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": block.data}}

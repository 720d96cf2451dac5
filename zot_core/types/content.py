"""Content blocks: the pieces that a message is made of.

A block knows nothing of providers: what a provider needs back to the letter travels in `meta`, which
only the model that made it is shown again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from zot_core.types.record import record


@record
class Text:
    """Plain text, as a person or a model wrote it."""

    text: str
    meta: Mapping[str, Any] | None = None


@record
class Thinking:
    """What a model thought before it answered.

    `signature` and `meta` are the provider's and are replayed unchanged to the model that made them;
    `redacted` says that `text` is empty because the provider withheld it.
    """

    text: str
    signature: str | None = None
    redacted: bool = False
    meta: Mapping[str, Any] | None = None


@record
class Image:
    """A picture: its type and its bytes in base64 (the form of sessions, wires and providers alike)."""

    mime_type: str
    data: str

    @property
    def size(self) -> int:
        """The picture's size in bytes, without decoding it."""
        return len(self.data) * 3 // 4 - self.data[-2:].count("=")


@record
class ToolCall:
    """A model's request to run a tool.

    `args` is None when the model's text `raw` was not a JSON object; such a call never runs.
    """

    id: str
    name: str
    args: Mapping[str, Any] | None
    raw: str = ""
    meta: Mapping[str, Any] | None = None


UserContent: TypeAlias = Text | Image
"""What people and tools may send: text and pictures."""
AssistantContent: TypeAlias = Text | Thinking | ToolCall
"""What a model may send."""


def text_of(content: tuple[Any, ...]) -> str:
    """The text blocks of `content` joined by newlines; other kinds of block are left out."""
    return "\n".join(block.text for block in content if isinstance(block, Text))


def as_content(value: str | UserContent | list[UserContent] | tuple[UserContent, ...]) -> tuple[UserContent, ...]:
    """Content blocks from what people like to write: a string, one block, or several."""
    if isinstance(value, str):
        return (Text(value),) if value else ()
    if isinstance(value, (Text, Image)):
        return (value,)
    return tuple(value)

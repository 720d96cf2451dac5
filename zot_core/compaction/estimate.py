"""How many tokens messages take, where no provider has counted them. Errs to the high side for code and CJK."""

from __future__ import annotations

import json
from collections.abc import Sequence

from zot_core.types.content import Image, Text, Thinking, ToolCall
from zot_core.types.messages import AssistantMessage, Message
from zot_core.types.record import record

BYTES_PER_TOKEN = 4
"""English text and code take 3.5 to 4.5 bytes a token in the tokenizers of today's models; CJK takes 3 bytes a
character and about one token, which this underrates by a quarter."""
IMAGE_TOKENS = 1600
"""A picture of the largest size that is sent, as Anthropic's documentation counts it (width × height / 750)."""
MESSAGE_TOKENS = 4
"""Roles and separators around a message."""


@record(kw_only=True)
class ContextUsage:
    """How much of a model's window the conversation takes, in tokens; `window` is 0 where no model is chosen."""

    tokens: int
    window: int

    @property
    def percent(self) -> float:
        """The part in use, 0 to 100 and beyond."""
        return 100 * self.tokens / self.window if self.window else 0.0


def message_tokens(message: Message) -> int:
    """About how many tokens a message takes of a window."""
    return MESSAGE_TOKENS + sum(_block_tokens(block) for block in message.content)


def context_tokens(messages: Sequence[Message]) -> int:
    """The tokens of a conversation: what the last answer's provider counted, and an estimate of what came after."""
    after = 0
    for message in reversed(messages):
        if isinstance(message, AssistantMessage) and message.usage is not None and message.usage.total:
            return message.usage.total + after
        after += message_tokens(message)
    return after


def _block_tokens(block: object) -> int:
    if isinstance(block, Text | Thinking):
        return text_tokens(block.text)
    if isinstance(block, Image):
        return IMAGE_TOKENS
    if isinstance(block, ToolCall):
        return text_tokens(block.name) + text_tokens(json.dumps(block.args, ensure_ascii=False, default=str))
    return 0


def text_tokens(text: str) -> int:
    """About how many tokens a text takes."""
    return len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN + 1 if text else 0

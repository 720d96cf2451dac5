"""`/btw`: a side question about the conversation, whose answer is shown and kept nowhere."""

from __future__ import annotations

from typing import Any

from zot_core.types.content import Text
from zot_core.types.failure import RunFailed
from zot_core.types.messages import UserMessage
from zot_core.types.stream import Failed, Retrying, TextDelta

SYSTEM = (
    "The user has a side question about the conversation so far. Answer it shortly from what you know; you have no "
    "tools now, and neither question nor answer becomes part of the conversation."
)


async def btw(args: str, ctx: Any) -> str:
    """Asks the model in use, over the conversation as it stands. Raises RunFailed."""
    question = UserMessage(content=(Text(args.strip()),))
    pieces: list[str] = []
    async for part in ctx.models.stream([*ctx.session.messages(), question], system=SYSTEM):
        if isinstance(part, TextDelta):
            pieces.append(part.text)
        elif isinstance(part, Retrying):
            pieces.clear()
        elif isinstance(part, Failed):
            raise RunFailed(part.failure)
    return "".join(pieces).strip() or "The model had no answer."

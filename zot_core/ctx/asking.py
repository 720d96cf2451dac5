"""What the bus says of dialogs: that zot waits for a person, and how questions stand. Knows no screen.

Channels: `host:blocked` for each dialog, `ask-user:asked`, `ask-user:settled` and `ask-user:closed` for each question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from uuid import uuid4

Emit = Callable[[str, Any], None]
BLOCKED = "host:blocked"


async def blocked(emit: Emit, labels: Sequence[str], dialog: Awaitable[Any]) -> Any:
    """Awaits a dialog; every label is told as active when it opens and as not active when it settles, each with an id
    of its own: dialogs overlap."""
    ids = [(uuid4().hex, label) for label in labels]
    for id, label in ids:
        emit(BLOCKED, {"active": True, "label": label, "id": id})
    try:
        return await dialog
    finally:
        for id, _ in ids:
            emit(BLOCKED, {"active": False, "id": id})


def labels_of(questions: Sequence[Mapping[str, Any]]) -> list[str]:
    """One label for each question: header and question."""
    return [" — ".join(str(one[key]) for key in ("header", "question") if one.get(key)) for one in questions]


async def question(
    emit: Emit, request_id: str, questions: Sequence[Mapping[str, Any]], asked: Awaitable[Mapping[str, Any]]
) -> Mapping[str, Any]:
    """Awaits the answers and tells the three channels; exactly one `ask-user:closed`, however it ends."""
    request = {"id": request_id, "questions": [dict(one) for one in questions]}
    emit("ask-user:asked", {"request": request})
    status = "cancelled"
    try:
        answer = await asked
        status = str(answer.get("outcome", status))
    except asyncio.CancelledError:
        raise
    except Exception:
        status = "failed"
        raise
    finally:
        if status not in ("cancelled", "failed"):
            emit("ask-user:settled", {"request": request, "response": dict(answer)})
        emit("ask-user:closed", {"request_id": request_id, "status": status})
    return answer

"""Names of tools and ids of calls in the characters that the Messages API takes, the same each time.

Pure functions of the name alone, so that a conversation reads the same whichever tools are active.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2s

from zot_core.types.specs import ToolSpec

MAX_NAME = 64
MAX_ID = 64
_SOUND = re.compile(r"[a-zA-Z0-9_-]+")
_BAD = re.compile(r"[^a-zA-Z0-9_-]")


def wire_id(call_id: str) -> str:
    """A call id that servers take: the id itself, or for one of another format that they refuse, one made from it."""
    if len(call_id) <= MAX_ID and _SOUND.fullmatch(call_id):
        return call_id
    return f"toolu_{_digest(call_id, 12)}"


def wire_name(name: str) -> str:
    """A tool's name that servers take: the name itself, or a readable one that no other name becomes."""
    if len(name) <= MAX_NAME and _SOUND.fullmatch(name):
        return name
    return f"{_BAD.sub('_', name)[: MAX_NAME - 9] or 'tool'}_{_digest(name, 4)}"


def names_back(tools: Iterable[ToolSpec]) -> dict[str, str]:
    """Wire name -> name, for those tools that the model knows under another name."""
    return {wire: tool.name for tool in tools if (wire := wire_name(tool.name)) != tool.name}


def _digest(text: str, size: int) -> str:
    return blake2s(text.encode("utf-8", "replace"), digest_size=size).hexdigest()

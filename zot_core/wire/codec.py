"""The only map between zot's data and its form on wires: one JSON object a line, UTF-8, `type` first.

Plain functions over content blocks, usage and times. Reads no file and knows no event; `json_events.py` builds on it.
"""

from __future__ import annotations

import re
import time as _time
from collections.abc import Iterable, Mapping
from json import JSONEncoder
from json.encoder import encode_basestring
from math import isfinite
from typing import Any, TypeAlias

from zot_core.types.content import AssistantContent, Image, Text, Thinking, UserContent
from zot_core.types.safe_text import object_text
from zot_core.types.usage import Usage

WireEvent: TypeAlias = dict[str, Any]
"""An event as it goes over a wire; its first key is `type`."""

_encoder = JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=object_text)
# C1 controls are legal in JSON text, but a terminal that shows the line would obey them.
_C1 = re.compile("[\x7f-\x9f]")
_MOST_BITS = 13_000
"""Of a whole number that Python writes in decimal digits; its limit is 4300 digits."""


def encode(event: Mapping[str, Any]) -> bytes:
    """The line for `event`, newline included. Never raises for odd data: what JSON cannot say becomes text or null."""
    if len(event) == 2 and "delta" in event:
        # Streamed text is most of all lines, and this is ten times cheaper than an encoder's walk.
        line = f'{{"type":"{event["type"]}","delta":{encode_basestring(event["delta"])}}}\n'
    else:
        try:
            line = _encoder.encode(event) + "\n"
        except (ValueError, TypeError, RecursionError):
            line = _encoder.encode(plain(event)) + "\n"
    if line.isascii():
        return line.encode("ascii")
    line = _C1.sub(_escape, line)
    try:
        return line.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, as a model may send it
        return line.encode("utf-8", "backslashreplace")


def plain(value: Any, depth: int = 0, above: frozenset[int] = frozenset()) -> Any:
    """`value` with what JSON cannot say replaced: odd keys and objects by text, NaN and what lies too deep by null.

    `above` are the containers around it: one that contains itself ends there.
    """
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return hex(value)
    if value is None or isinstance(value, (str, int)):
        return value
    if not isinstance(value, (Mapping, list, tuple, set, frozenset)):
        return object_text(value)
    if depth > 40 or id(value) in above:
        return None
    above |= {id(value)}
    if isinstance(value, Mapping):
        return {object_text(key): plain(item, depth + 1, above) for key, item in value.items()}
    return [plain(item, depth + 1, above) for item in value]


def block(item: UserContent | AssistantContent) -> WireEvent:
    """One content block. Of a picture only its size is told, of thinking only its text."""
    if isinstance(item, Text):
        return {"type": "text", "text": item.text}
    if isinstance(item, Thinking):
        return {"type": "thinking", "text": item.text}
    if isinstance(item, Image):
        return {"type": "image", "mime_type": item.mime_type, "bytes": item.size}
    return {"type": "tool_call", "id": item.id, "name": item.name, "args": item.args}


def blocks(content: Iterable[UserContent | AssistantContent]) -> list[WireEvent]:
    """The content blocks of a message, in order."""
    return [block(item) for item in content]


def shown_blocks(content: Iterable[AssistantContent], display: str | None) -> list[WireEvent]:
    """An assistant's blocks as people see them: `display` in the place of its text, or no text when it is None."""
    items = list(content)
    if display is not None and "".join(item.text for item in items if isinstance(item, Text)) == display:
        return blocks(items)
    shown: list[WireEvent] = []
    rest = display
    for item in items:
        if not isinstance(item, Text):
            shown.append(block(item))
        elif rest:
            shown.append({"type": "text", "text": rest})
            rest = None
    return shown


def usage(used: Usage) -> WireEvent:
    """The fields of a `usage` event."""
    return {
        "input": used.input,
        "output": used.output,
        "cache_read": used.cache_read,
        "cache_write": used.cache_write,
        "cost_usd": round(used.cost, 10),
    }


def rfc3339(seconds: float) -> str:
    """A time since the epoch as `2026-01-31T12:00:00.250Z`."""
    whole, thousandths = divmod(round(seconds * 1000), 1000)
    return f"{_time.strftime('%Y-%m-%dT%H:%M:%S', _time.gmtime(whole))}.{thousandths:03d}Z"


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"

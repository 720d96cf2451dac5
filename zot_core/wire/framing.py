"""Frames as lines and lines as frames: what is no frame says what is wrong with it, and whose answer it would be."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import ValidationError

from zot_core.wire.codec import encode, plain
from zot_core.wire.frames import INCOMING, MAX_PROMPT, FromExtension, InterceptResponse, OversizedPrompt, ToExtension

_BOM = b"\xef\xbb\xbf"


class BadFrame(ValueError):
    """A line that is no frame. `kind` groups those that are bad in the same way, `id` is the request it answers."""

    def __init__(self, kind: str, message: str, id: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.id = id


def write(frame: ToExtension) -> bytes:
    """The line for a frame, LF included."""
    fields = {name: value for name, value in frame if value is not None}
    line = encode({"type": frame.type, **{name: plain(value) for name, value in fields.items()}})
    # Legal in JSON, but some languages take them for the end of a line.
    return line.replace(b"\xe2\x80\xa8", b"\\u2028").replace(b"\xe2\x80\xa9", b"\\u2029")


def read(line: bytes) -> FromExtension:
    """The frame that a line holds. Raises BadFrame."""
    try:
        data = json.loads(line.removeprefix(_BOM).decode())  # of bytes alone it would guess at UTF-16
    except UnicodeDecodeError:
        raise BadFrame("bytes", "is not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise BadFrame("json", f"is not JSON ({error})") from None
    if not isinstance(data, dict):
        raise BadFrame("object", "is JSON, but no object")
    if b"\\ud" in line or b"\\uD" in line:
        data = _whole(data)
    kind = data.get("type")
    if not isinstance(kind, str):
        raise BadFrame("type", "has no `type`")
    frame = INCOMING.get(kind)
    if frame is None:
        raise BadFrame(f"type {kind[:40]}", f"has the type {kind[:40]!r}, which zot does not know")
    if frame is InterceptResponse and len(line) > MAX_PROMPT and _prompt_size(line) > MAX_PROMPT:
        frame, data = OversizedPrompt, {**data, "system_prompt": None}
    try:
        return frame.model_validate(data)
    except ValidationError as error:
        asked = data.get("id")
        id = asked if isinstance(asked, str) and "id" in frame.model_fields else ""
        raise BadFrame(f"fields of {kind}", f"is a malformed `{kind}`: {_first(error)}", id) from None


def _first(error: ValidationError) -> str:
    """The first thing that is wrong, in a line: where and what."""
    first = error.errors(include_url=False, include_input=False)[0]
    loc = first["loc"]
    if loc[:1] == ("content",):  # after a block's place comes its type, which is no field
        loc = (*loc[:2], *loc[3:])
    where = ".".join(str(part) for part in loc)
    return f"{where}: {first['msg']}" if where else str(first["msg"])


def _prompt_size(line: bytes) -> int:
    """Bytes of the value of `system_prompt` as it was encoded; 0 if it is no string."""
    text = line.decode()
    match = re.search(r'"system_prompt"\s*:\s*"', text)
    if match is None:
        return 0
    start = match.end() - 1
    _, end = json.JSONDecoder().raw_decode(text, start)
    return len(text[start:end].encode())


def _whole(value: Any) -> Any:
    """`value` with halves of surrogate pairs replaced: no file, model or terminal could take them."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return value

"""Messages in the frames of AWS: what Amazon Bedrock streams, as the events that Anthropic's own server sends.

Each frame of `application/vnd.amazon.eventstream` holds one event as base64 in JSON, or an exception of the service:
docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModelWithResponseStream.html. Needs botocore, which
checks lengths and checksums.
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
from collections.abc import Mapping
from typing import Any

from botocore.eventstream import EventStreamBuffer, EventStreamMessage, ParserError

from zot_core.net.sse import BrokenStream, ServerEvent

STATUS: Mapping[str, int] = {
    "internalServerException": 500,
    "modelTimeoutException": 408,
    "serviceUnavailableException": 503,
    "throttlingException": 429,
    "validationException": 400,
}
"""What these exceptions would be as a status, by botocore 1.44.8's model of `bedrock-runtime` (2023-09-30). That of
`modelStreamErrorException` (424) says nothing; its documentation says to try again."""


class EventStreamDecoder:
    """Reads one response: `feed` each piece, `finish` at the end. A frame that is cut off brings no event."""

    __slots__ = ("_buffer",)

    def __init__(self) -> None:
        self._buffer = EventStreamBuffer()

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """The events that `chunk` completes. Raises BrokenStream for frames whose lengths or checksums are wrong."""
        self._buffer.add_data(chunk)
        try:
            return [event for message in self._buffer if (event := _event(message)) is not None]
        except ParserError as error:
            raise BrokenStream(str(error)) from error
        except (UnicodeDecodeError, KeyError, IndexError, struct.error) as error:  # nonsense with a right checksum
            raise BrokenStream(f"a frame makes no sense ({type(error).__name__})") from error

    def finish(self) -> list[ServerEvent]:
        """Nothing: an event is complete with its frame."""
        return []


def _event(message: EventStreamMessage) -> ServerEvent | None:
    headers = message.headers
    kind = headers.get(":message-type")
    if kind == "event":
        return _chunk(message.payload) if headers.get(":event-type") == "chunk" else None
    if kind == "exception":
        name = str(headers.get(":exception-type", "exception"))
        return _failed(name, _object(message.payload))
    if kind == "error":
        return _failed(str(headers.get(":error-code", "error")), {"message": headers.get(":error-message", "")})
    return None


def _chunk(payload: bytes) -> ServerEvent:
    held = _object(payload).get("bytes")
    try:
        return ServerEvent("", base64.b64decode(held or "", validate=True).decode("utf-8", "replace"))
    except (binascii.Error, TypeError, ValueError) as error:
        raise BrokenStream("a frame holds what is no base64") from error


def _failed(name: str, said: Mapping[str, Any]) -> ServerEvent:
    """An error event of the Messages API; the model's own words, where there are any, say more than the service's."""
    words = dict.fromkeys(text for key in ("message", "Message", "originalMessage") if (text := said.get(key)))
    error: dict[str, Any] = {"type": name, "message": ": ".join(str(word) for word in words) or name}
    if (status := STATUS.get(name)) is not None:
        error["code"] = status
    return ServerEvent("error", json.dumps({"type": "error", "error": error}))


def _object(payload: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) else {}

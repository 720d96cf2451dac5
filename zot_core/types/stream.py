"""Stream parts: the one language in which every provider tells the agent what a model says.

A stream may raise only before its first part. After that its last part is `Done` or `Failed`, and nothing follows.
`key` names the block that a part belongs to (a provider's index); None continues the last block of that kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from zot_core.types.failure import Failure, StopReason
from zot_core.types.record import record
from zot_core.types.specs import ModelSpec, ThinkingLevel
from zot_core.types.usage import Usage

Key: TypeAlias = int | str | None


@record
class TextDelta:
    """More of the answer's text."""

    text: str
    key: Key = None


@record
class ThinkingDelta:
    """More of the model's thinking; `redacted` opens a block whose text the provider keeps to itself."""

    text: str
    key: Key = None
    redacted: bool = False


@record
class BlockMeta:
    """Opaque provider state of the block `key`: a thinking signature (its fragments are joined) or `meta` fields."""

    key: Key
    signature: str = ""
    meta: Mapping[str, Any] | None = None


@record
class ToolCallStart:
    """A tool call begins. An empty `id` is given one by the builder."""

    key: int | str
    id: str
    name: str


@record
class ToolCallDelta:
    """More of a call's arguments as JSON text, cut anywhere."""

    key: int | str
    args: str


@record
class ToolCallEnd:
    """A call's arguments are complete. Calls that never end this way end with the stream."""

    key: int | str


@record
class UsageUpdate:
    """Usage as counted so far; a later one replaces it."""

    usage: Usage


@record
class Retrying:
    """The request starts over: what this stream told before is void. Sent before the wait of `delay` seconds."""

    attempt: int
    delay: float
    failure: Failure


@record
class Routed:
    """A virtual model's request goes to `model`, the real one, at this level: the answer is that model's."""

    model: ModelSpec
    thinking: ThinkingLevel = "off"


@record
class Done:
    """The model finished. `model` is the id that the provider says answered, when it says one."""

    stop: StopReason
    model: str = ""


@record
class Failed:
    """The stream failed; what came before stays."""

    failure: Failure


StreamPart: TypeAlias = (
    TextDelta
    | ThinkingDelta
    | BlockMeta
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | UsageUpdate
    | Retrying
    | Routed
    | Done
    | Failed
)

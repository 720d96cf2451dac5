"""What the agent asks of a model, and what a wire format has to bring. Knows no format and no network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from zot_core.models.growing import Grown
from zot_core.net.sse import ServerEvent as ServerEvent
from zot_core.types.messages import Message
from zot_core.types.record import record
from zot_core.types.specs import ModelSpec, ProviderSpec, ThinkingLevel, ToolSpec
from zot_core.types.stream import StreamPart


@record(kw_only=True)
class Request:
    """One model call, in no provider's words. `messages` hold no system message; `system` None sends none.

    `tools` are sorted by name, because their order is part of what providers cache. In `grown` a wire format may keep
    what it makes of the first messages, for the next request of the same conversation; it need not.
    """

    model: ModelSpec
    messages: Sequence[Message]
    system: str | None = None
    tools: Sequence[ToolSpec] = ()
    thinking: ThinkingLevel = "off"
    max_output: int | None = None
    session_id: str = ""
    purpose: str = "agent"
    grown: Grown | None = field(default=None, compare=False, repr=False)


@record(kw_only=True)
class HttpRequest:
    """What a wire format sends: `path` is joined to the base URL, `payload` becomes the JSON body.

    A version at the start of `path` (`v1/…`) is left out where the base URL has one. `auth` are the headers that carry
    the credential, with `{key}` in its place; they are left out when there is none. `login`, where a format has that,
    carries a login's token instead of a key: headers that replace `auth` and those of `headers` with the same name.
    """

    path: str
    payload: Any
    headers: Mapping[str, str] = field(default_factory=dict)
    auth: Mapping[str, str] = field(default_factory=dict)
    login: Mapping[str, str] = field(default_factory=dict)


@record(kw_only=True)
class Outgoing:
    """A request on its way, as a provider's `authorize` sees it: method POST, after everybody who may change it.

    `headers` have names in lower case; those that carry `key` are among them. `key` is "" where there is none.
    """

    provider: ProviderSpec
    model: ModelSpec
    url: str
    headers: Mapping[str, str]
    content: bytes
    key: str = field(default="", repr=False)


@record(kw_only=True)
class Authorized:
    """What `authorize` answers: headers over those that there are, and the address, where that is another one.

    `source` says in words for a person where the credential came from; `secrets` are texts that no message may show,
    beside the values of those headers.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str = ""
    source: str = ""
    secrets: tuple[str, ...] = field(default=(), repr=False)


class Decoder(Protocol):
    """Turns the bytes of one response into events, as `zot_core.net.sse.SseDecoder` does for server-sent ones.

    An error that the frames themselves carry becomes an event that the format's parser knows. Raises BrokenStream for
    what is damaged, SseOverflow for an event without end.
    """

    def feed(self, chunk: bytes) -> Sequence[ServerEvent]:
        """The events that `chunk` completes."""

    def finish(self) -> Sequence[ServerEvent]:
        """The events that the end of the body completes."""


class StreamParser(Protocol):
    """Turns one response's server-sent events into parts; one object a response, never raises for odd input."""

    def feed(self, event: ServerEvent) -> Iterable[StreamPart]:
        """The parts that `event` brings, often none."""

    def finish(self) -> Iterable[StreamPart]:
        """The last parts, when the body has ended: `Done`, or `Failed` (kind `network`) if the answer was cut."""

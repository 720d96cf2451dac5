"""The events of a Responses stream as stream parts. One `ResponsesParser` reads one response.

Knows no network; never raises. Events that it does not know are passed over: there are dozens, and more each year.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from zot_core.models.failures import classify, error_word, network_failure
from zot_core.models.protocol import Request, ServerEvent
from zot_core.models.reading import EventParser, count, scan
from zot_core.types.failure import Failure
from zot_core.types.specs import Prices
from zot_core.types.stream import Done, Failed, StreamPart, UsageUpdate
from zot_core.types.usage import Usage
from zot_plugins.api_openai_responses.items import Damaged, Items

Event = dict[str, Any]
_COME_BACK = re.compile(r"try again in (\d+(?:\.\d+)?)\s*(ms|s|m)\b", re.IGNORECASE)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}


class ResponsesParser(EventParser):
    """Reads one response: `feed` each event, `finish` when the body has ended."""

    __slots__ = ("_handlers", "_items", "_request")

    def __init__(self, request: Request) -> None:
        super().__init__()
        self._request = request
        self._items = items = Items()
        self._handlers: Mapping[str, Callable[[Event], list[StreamPart]]] = {
            "response.output_text.delta": lambda event: items.text(event, "text", _delta(event)),
            "response.refusal.delta": lambda event: items.text(event, "refusal", _delta(event)),
            "response.reasoning_summary_text.delta": lambda event: items.thinking(event, "summary", _delta(event)),
            "response.reasoning_text.delta": lambda event: items.thinking(event, "content", _delta(event)),
            "response.function_call_arguments.delta": lambda event: items.arguments(event, _delta(event)),
            "response.function_call_arguments.done": items.whole_arguments,
            "response.output_item.added": items.added,
            "response.output_item.done": items.finished,
            "response.completed": self._completed,
            "response.incomplete": self._incomplete,
            "response.failed": self._failed,
            "response.cancelled": self._failed,
            "response.error": self._error,
            "error": self._error,
        }

    def feed(self, event: ServerEvent) -> list[StreamPart]:
        """The parts that an event brings."""
        try:
            said, _ = scan(event.data, 0)
        except (StopIteration, ValueError, RecursionError):
            return self._odd(event)
        if type(said) is not dict or self._ended:
            return []
        kind = said.get("type") or event.event
        handler = self._handlers.get(kind) if isinstance(kind, str) else None
        if handler is None:
            return self._error(said) if said.get("error") else []
        try:
            return handler(said)
        except Damaged:
            return self._fail(network_failure("the arguments of a tool call were damaged on the way"))

    def finish(self) -> list[StreamPart]:
        """The last parts, when the body has ended with or without the response's last event."""
        if self._ended:
            return []
        return self._fail(network_failure("the stream ended before the answer was complete"))

    def _completed(self, event: Event) -> list[StreamPart]:
        response = _table(event.get("response"))
        status = response.get("status")
        if status == "incomplete":
            return self._incomplete(event)
        if status in ("failed", "cancelled"):
            return self._failed(event)
        parts = [*self._items.rest(response.get("output")), *self._items.ends(), *self._usage(response)]
        self._ended = True
        if self._items.refusal:
            said = "".join(self._items.refusal)
            return [*parts, Failed(Failure(kind="refused", message=f"the model refused: {said}"))]
        return [*parts, Done("tool_use" if self._items.has_calls else "end_turn", _model(response))]

    def _incomplete(self, event: Event) -> list[StreamPart]:
        response = _table(event.get("response"))
        parts = [*self._items.rest(response.get("output")), *self._usage(response)]
        reason = _table(response.get("incomplete_details")).get("reason")
        if reason in ("max_output_tokens", "max_tokens", None):
            self._ended = True
            return [*parts, Done("length", _model(response))]
        if reason == "content_filter":
            failure = Failure(kind="refused", message="the provider's content filter stopped the answer")
        else:
            failure = classify(error_word({"message": f"the answer was broken off: {reason}", "code": reason}))
        return [*parts, *self._fail(failure)]

    def _failed(self, event: Event) -> list[StreamPart]:
        response = _table(event.get("response"))
        error = response.get("error") or event.get("error")
        if not error:
            message = f"the server ended the answer as {response.get('status') or 'failed'}"
            return [*self._usage(response), *self._fail(Failure(kind="provider", message=message, retryable=True))]
        return [*self._usage(response), *self._fail(_failure({"error": error}, None))]

    def _error(self, event: Event) -> list[StreamPart]:
        status = event.get("status") or event.get("status_code")
        said = {key: value for key, value in event.items() if key != "type"}  # the event's, not the error's
        return self._fail(_failure(said, status if type(status) is int else None))

    def _usage(self, response: Event) -> list[StreamPart]:
        usage = response.get("usage")
        if not isinstance(usage, dict) or not usage:
            return []
        details = _table(usage.get("input_tokens_details"))
        read = count(details.get("cached_tokens"))
        write = count(details.get("cache_write_tokens"))
        counted = Usage(
            input=max(0, count(usage.get("input_tokens")) - read - write),
            output=count(usage.get("output_tokens")),
            cache_read=read,
            cache_write=write,
        )
        model = self._request.model
        factor = _table(model.compat.get("serviceTierPrices")).get(response.get("service_tier"))
        if isinstance(factor, (int, float)) and factor > 0 and model.prices is not None:
            counted = replace(counted, cost=_cost(counted, model.prices) * factor)
        return [UsageUpdate(counted)]


def _failure(said: Event, status: int | None) -> Failure:
    """The failure that an error means; how long to wait is told in its sentence, for there is no header."""
    failure = classify(error_word(said, status))
    if failure.kind == "rate_limit" and failure.retryable and (wait := _COME_BACK.search(failure.message)):
        return replace(failure, retry_after=float(wait[1]) * _UNITS[wait[2].lower()])
    return failure


def _cost(usage: Usage, prices: Prices) -> float:
    return (
        usage.input * prices.input
        + usage.output * prices.output
        + usage.cache_read * prices.cache_read
        + usage.cache_write * prices.cache_write
    ) / 1_000_000


def _delta(event: Event) -> str:
    delta = event.get("delta")
    return delta if isinstance(delta, str) else ""


def _model(response: Event) -> str:
    model = response.get("model")
    return model if isinstance(model, str) else ""


def _table(value: Any) -> dict[Any, Any]:
    return dict(value) if isinstance(value, Mapping) else {}

"""Tool calls out of the pieces in which Chat Completions servers send them.

The rule is index, id, name, then arguments in fragments. Servers leave out the index or the id, repeat id and name in
every piece, give several calls the index 0, send arguments as an object, or send the name late.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from zot_core.types.stream import StreamPart, ToolCallDelta, ToolCallEnd, ToolCallStart


@dataclass(slots=True)
class _Call:
    key: int
    id: str = ""
    name: str = ""
    started: bool = False
    has_args: bool = False
    waiting: list[str] = field(default_factory=list)
    """Arguments that came before the name."""


class Calls:
    """The calls of one answer, in the order in which they began."""

    __slots__ = ("_by_index", "_calls")

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def feed(self, piece: dict[str, Any]) -> list[StreamPart]:
        """The parts that one element of `tool_calls` brings."""
        function = piece.get("function")
        if not isinstance(function, dict):
            function = {}
        call_id = piece["id"] if isinstance(piece.get("id"), str) else ""
        name = function["name"] if isinstance(function.get("name"), str) else ""
        call = self._call_of(piece.get("index"), call_id, name)
        args = _arguments(function.get("arguments"))
        parts: list[StreamPart] = []
        if name and not call.started:
            call.name = name
            call.id = call.id or call_id
            parts.extend(_start(call))
        elif call_id and not call.started:
            call.id = call.id or call_id
        if args:
            call.has_args = True
            if call.started:
                parts.append(ToolCallDelta(call.key, args))
            else:
                call.waiting.append(args)
        return parts

    def finish(self, cut: bool) -> list[StreamPart]:
        """The ends of all calls. After an answer that was cut off no call is known to be whole, so none gets an end."""
        parts: list[StreamPart] = []
        for call in self._calls:
            if not call.started:
                parts.extend(_start(call))  # without a name: no tool is called so, and the model is told
            if not cut:
                parts.append(ToolCallEnd(call.key))
        return parts

    def _call_of(self, index: Any, call_id: str, name: str) -> _Call:
        known = isinstance(index, int) and not isinstance(index, bool)
        call = self._by_index.get(index) if known else self._without_index(call_id, name)
        if call is not None and known and call_id and name and call.id and call.id != call_id and call.started:
            call = None  # another call under an index that was used: servers that count every call as 0
        if call is None:
            call = _Call(key=len(self._calls), id=call_id)
            self._calls.append(call)
            if known:
                self._by_index[index] = call
        return call

    def _without_index(self, call_id: str, name: str) -> _Call | None:
        if call_id:
            return next((call for call in reversed(self._calls) if call.id == call_id), None)
        last = self._calls[-1] if self._calls else None
        if last is not None and name and last.started and (last.has_args or last.name != name):
            return None  # a name again after arguments: the next call
        return last


def _start(call: _Call) -> list[StreamPart]:
    call.started = True
    parts: list[StreamPart] = [ToolCallStart(call.key, call.id, call.name)]
    parts.extend(ToolCallDelta(call.key, text) for text in call.waiting)
    call.waiting.clear()
    return parts


def _arguments(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)

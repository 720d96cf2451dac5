"""The output items of one answer of the Responses API, and the parts that their pieces bring.

Items come side by side under an `output_index`. What is said in deltas is said again when an item is done; servers
leave out one or the other, so each is read for what the other had not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

from zot_core.types.stream import (
    BlockMeta,
    StreamPart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)

Piece = dict[str, Any]


class Damaged(Exception):
    """What an item says when it is done is not what its deltas said."""


@dataclass(slots=True)
class Item:
    """One output item: what was told of it. `seen` counts characters by kind of part and its index, `led_by` is the id
    of the reasoning that it came from."""

    key: int
    led_by: str = ""
    id: str = ""
    started: bool = False
    done: bool = False
    args: StringIO = field(default_factory=StringIO)
    seen: dict[tuple[str, Any], int] = field(default_factory=dict)


class Items:
    """The items of one answer. `refusal` is what the model said instead of answering."""

    __slots__ = ("_all", "_by_index", "_reasoning", "_told", "refusal")

    def __init__(self) -> None:
        self._all: list[Item] = []
        self._by_index: dict[Any, Item] = {}
        self._reasoning = ""
        self._told: set[str] = set()
        self.refusal: list[str] = []

    @property
    def has_calls(self) -> bool:
        """Whether the answer calls a tool."""
        return any(item.started for item in self._all)

    def text(self, event: Piece, part: str, delta: str) -> list[StreamPart]:
        """More of a message; `part` is `text` or `refusal`."""
        return self._say(self._of(event), (part, event.get("content_index") or 0), delta)

    def thinking(self, event: Piece, part: str, delta: str) -> list[StreamPart]:
        """More of a reasoning item; `part` is `summary` or `content`."""
        return self._think(self._of(event), (part, event.get(f"{part}_index") or 0), delta)

    def arguments(self, event: Piece, delta: str) -> list[StreamPart]:
        """More of a call's arguments."""
        item = self._of(event)
        item.args.write(delta)
        return [ToolCallDelta(item.key, delta)] if item.started and delta else []

    def whole_arguments(self, event: Piece) -> list[StreamPart]:
        """A call's arguments are complete. Raises Damaged."""
        return self._rest_of_arguments(self._of(event), event.get("arguments"))

    def added(self, event: Piece) -> list[StreamPart]:
        """An item begins."""
        given = event.get("item")
        if not isinstance(given, dict):
            return []
        item = self._of(event, begins=_word(given.get("id")))
        item.id = _word(given.get("id"))
        if event.get("output_index") is None and item.id:
            self._by_index.setdefault(item.id, item)  # llama.cpp's server counts nothing, its deltas name the id
        if given.get("type") == "reasoning":
            self._reasoning = item.id
            return [BlockMeta(item.key)]  # keeps its place, should its summary come after another item
        return self._start(item, given) if given.get("type") == "function_call" else []

    def finished(self, event: Piece) -> list[StreamPart]:
        """An item is done. Raises Damaged."""
        given = event.get("item")
        if not isinstance(given, dict):
            return []
        item = self._of(event)
        if item.done:
            return []
        item.id = _word(given.get("id")) or item.id
        item.done = True
        self._told.add(_identity(given))
        read = {"message": self._message, "reasoning": self._thought, "function_call": self._call}
        kind = given.get("type")
        return read[kind](item, given) if isinstance(kind, str) and kind in read else []

    def rest(self, output: Any) -> list[StreamPart]:
        """What a finished response holds that was not told before. Raises Damaged."""
        parts: list[StreamPart] = []
        for index, given in enumerate(output if isinstance(output, list) else []):
            if isinstance(given, dict) and _identity(given) not in self._told:
                # `finished` passes over an index that is done: some proxies give an item another id each time
                parts.extend(self.finished({"output_index": index, "item": given}))
        return parts

    def ends(self) -> list[StreamPart]:
        """The ends of the calls of a complete answer that had none."""
        return [ToolCallEnd(item.key) for item in self._all if item.started and not item.done]

    def _of(self, event: Piece, begins: str | None = None) -> Item:
        """The item that an event belongs to. One that begins under the index of another one is a new one."""
        index = event.get("output_index")
        if index is None:
            index = event.get("item_id") or _identity(event.get("item"))
        item = self._by_index.get(index)
        if item is None or (begins is not None and (item.done or item.id not in ("", begins))):
            item = Item(key=len(self._all), led_by=self._reasoning)
            self._all.append(item)
            self._by_index[index] = item
        return item

    def _say(self, item: Item, part: tuple[str, Any], delta: str) -> list[StreamPart]:
        if not delta:
            return []
        item.seen[part] = item.seen.get(part, 0) + len(delta)
        if part[0] == "refusal":
            self.refusal.append(delta)
        return [TextDelta(delta, item.key)]

    def _think(self, item: Item, part: tuple[str, Any], delta: str) -> list[StreamPart]:
        if not delta:
            return []
        gap = "\n\n" if item.seen and part not in item.seen else ""
        item.seen[part] = item.seen.get(part, 0) + len(delta)
        return [ThinkingDelta(gap + delta, item.key)]

    def _start(self, item: Item, given: Piece) -> list[StreamPart]:
        if item.started:
            return []
        item.started = True
        call_id = _word(given.get("call_id")) or item.id
        parts: list[StreamPart] = [ToolCallStart(item.key, call_id, _word(given.get("name")))]
        if early := item.args.getvalue():
            parts.append(ToolCallDelta(item.key, early))
        return parts

    def _call(self, item: Item, given: Piece) -> list[StreamPart]:
        parts = self._start(item, given)
        parts.extend(self._rest_of_arguments(item, given.get("arguments")))
        item.args = StringIO()
        if meta := _origin(item):
            parts.append(BlockMeta(item.key, meta=meta))
        if given.get("status") != "incomplete":
            parts.append(ToolCallEnd(item.key))
        return parts

    def _rest_of_arguments(self, item: Item, whole: Any) -> list[StreamPart]:
        told = item.args.getvalue()
        if not isinstance(whole, str) or not whole or whole == told:
            return []
        if not whole.startswith(told):
            if _same_json(told, whole):
                return []  # spaced otherwise, no more
            raise Damaged
        item.args.write(whole[len(told) :])
        return [ToolCallDelta(item.key, whole[len(told) :])] if item.started else []

    def _message(self, item: Item, given: Piece) -> list[StreamPart]:
        parts: list[StreamPart] = []
        for index, row in _rows(given.get("content")):
            kind = "refusal" if row.get("type") == "refusal" else "text"
            parts.extend(self._say(item, (kind, index), _word(row.get(kind))[item.seen.get((kind, index), 0) :]))
        meta = _origin(item)
        if isinstance(given.get("phase"), str):
            meta["phase"] = given["phase"]
        if item.seen and meta:
            parts.append(BlockMeta(item.key, meta=meta))
        return parts

    def _thought(self, item: Item, given: Piece) -> list[StreamPart]:
        self._reasoning = item.id
        parts: list[StreamPart] = []
        for part in () if item.seen else ("summary", "content"):
            for index, row in _rows(given.get(part)):
                parts.extend(self._think(item, (part, index), _word(row.get("text"))))
        secret = _word(given.get("encrypted_content"))
        if not item.seen and not secret:
            return parts
        if not item.seen:
            parts.append(ThinkingDelta("", item.key, redacted=True))
        meta: Piece = {"id": item.id, "summary": [row for _, row in _rows(given.get("summary"))]}
        if content := [row for _, row in _rows(given.get("content"))]:
            meta["content"] = content
        parts.append(BlockMeta(item.key, signature=secret, meta=meta))
        return parts


def _origin(item: Item) -> Piece:
    """What an item needs to be sent again under its own id."""
    if not item.id:
        return {}
    return {"id": item.id, "reasoning": item.led_by} if item.led_by else {"id": item.id}


def _rows(value: Any) -> Iterator[tuple[int, Piece]]:
    for index, row in enumerate(value if isinstance(value, list) else []):
        if isinstance(row, dict):
            yield index, row


def _identity(given: Any) -> str:
    """What tells an item from the others of its answer."""
    return (_word(given.get("call_id")) or _word(given.get("id"))) if isinstance(given, dict) else ""


def _same_json(one: str, other: str) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except (ValueError, RecursionError):
        return False


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""

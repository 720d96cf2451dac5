"""Where tools that come in the middle of a conversation stand."""

from __future__ import annotations

import re

import pytest

from zot_core.models.growing import Grown
from zot_core.models.loading import can_load, placed
from zot_core.types.content import Text, ToolCall
from zot_core.types.messages import AssistantMessage, Message, ToolResultMessage
from zot_core.types.specs import ModelSpec, ToolSpec

NEW = re.compile("^new")


def tools(*names: str) -> list[ToolSpec]:
    return [ToolSpec(name=name, description="", parameters={"type": "object"}, execute="x:y") for name in names]


def turn(call_id: str, name: str, *activated: str, is_error: bool = False) -> list[Message]:
    return [
        AssistantMessage(content=(ToolCall(call_id, name, {}),), stop="tool_use"),
        ToolResultMessage(
            call_id=call_id, tool_name=name, content=(Text("x"),), activated=activated, is_error=is_error
        ),
    ]


def where(
    offered: list[ToolSpec], messages: list[Message], able: bool = True
) -> tuple[list[str], dict[str, list[str]]]:
    found = placed(offered, messages, able)
    return [one.name for one in found.listed], {at: [one.name for one in specs] for at, specs in found.loaded.items()}


def test_a_tool_stands_at_the_result_that_brought_it() -> None:
    messages = [*turn("1", "find", "b", "a"), *turn("2", "a"), *turn("3", "find", "c", "a")]
    assert where(tools("a", "b", "c", "find"), messages) == (["find"], {"1": ["b", "a"], "3": ["c"]})


def test_a_model_that_cannot_load_gets_the_whole_list() -> None:
    messages = turn("1", "find", "a")
    assert where(tools("a", "find"), messages, able=False) == (["a", "find"], {})


def test_what_is_listed_all_the_same() -> None:
    """What is gone, what was called before it came, and what a failed call brought."""
    gone = turn("1", "find", "gone")
    assert where(tools("a", "find"), gone) == (["a", "find"], {})
    used = [*turn("1", "a"), *turn("2", "find", "a")]
    assert where(tools("a", "find"), used) == (["a", "find"], {})
    by_name = turn("1", "a", "a")
    assert where(tools("a", "find"), by_name) == (["a", "find"], {})
    failed = [*turn("1", "find", "a", is_error=True), *turn("2", "find", "a", "b")]
    assert where(tools("a", "b", "find"), failed) == (["a", "find"], {"2": ["b"]})


def test_one_tool_at_least_is_listed() -> None:
    assert where(tools("a"), turn("1", "find", "a")) == (["a"], {})
    assert where([], turn("1", "find", "a")) == ([], {})


@pytest.mark.parametrize(
    ("model", "able"),
    [
        (ModelSpec(id="new-1", provider="p"), True),
        (ModelSpec(id="old-1", provider="p"), False),
        (ModelSpec(id="old-1", provider="p", compat={"loads": True}), True),
        (ModelSpec(id="new-1", provider="p", compat={"loads": False}), False),
        (ModelSpec(id="new-1", provider="p", source="models.json"), False),
        (ModelSpec(id="new-1", provider="p", source="live"), False),
        (ModelSpec(id="new-1", provider="p", source="--base-url"), False),
        (ModelSpec(id="new-1", provider="p", source="models.json", compat={"loads": True}), True),
    ],
)
def test_who_can_load(model: ModelSpec, able: bool) -> None:
    assert can_load(model, "loads", NEW) is able


def test_what_was_made_of_other_tools_is_made_anew() -> None:
    grown, messages = Grown(), [object(), object()]
    grown.keep(messages, ["a", "b"], {"1": ("x",)})
    assert grown.resume(messages, {"1": ("x",)}) == (2, ["a", "b"])
    assert grown.resume(messages, {"1": ("y",)}) == (0, [])
    assert grown.resume(messages) == (0, [])

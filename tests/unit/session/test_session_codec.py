"""Messages survive a session's file exactly, whatever they hold."""

from __future__ import annotations

import json
import re
from collections import UserDict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zot_core.session.codec import CodecError, decode_message, dump_line, encode_message
from zot_core.session.session import Session
from zot_core.types.content import Image, Text, Thinking, ToolCall
from zot_core.types.failure import Failure
from zot_core.types.messages import (
    AssistantMessage,
    CustomMessage,
    Message,
    SystemMessage,
    ToolResultMessage,
    UserMessage,
)
from zot_core.types.usage import Usage

# Two surrogates that form a pair mean one character, and come back as that one.
PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
texts = st.text(st.characters(), max_size=30).filter(lambda text: not PAIR.search(text))
numbers = st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, values, max_size=3)
metas = st.none() | objects
counts = st.integers(0, 10**9)
usages = st.none() | st.builds(
    Usage, input=counts, output=counts, cache_read=counts, cache_write=counts, cost=st.floats(0, 100)
)
text_blocks = st.builds(Text, texts, metas)
images = st.builds(Image, st.sampled_from(["image/png", "image/jpeg"]), st.text("ABCab01+/", max_size=40))
thinking = st.builds(Thinking, texts, st.none() | texts, st.booleans(), metas)
calls = st.builds(ToolCall, texts, texts, st.none() | objects, texts, metas)
failures = st.none() | st.builds(
    Failure,
    kind=st.sampled_from(["network", "auth", "session"]),
    message=texts,
    retryable=st.booleans(),
    retry_after=st.none() | numbers,
    status=st.none() | st.integers(100, 599),
)
user_content = st.lists(text_blocks | images, max_size=3).map(tuple)
messages = (
    st.builds(UserMessage, content=user_content, time=numbers)
    | st.builds(
        AssistantMessage,
        content=st.lists(text_blocks | thinking | calls, max_size=4).map(tuple),
        stop=st.sampled_from(["end_turn", "tool_use", "length", "error", "aborted", "blocked"]),
        usage=usages,
        provider=texts,
        model=texts,
        api=texts,
        failure=failures,
        time=numbers,
    )
    | st.builds(
        ToolResultMessage,
        call_id=texts,
        tool_name=texts,
        content=user_content,
        is_error=st.booleans(),
        details=metas,
        usage=usages,
        time=numbers,
    )
    | st.builds(
        CustomMessage,
        custom_type=texts,
        content=user_content,
        display=st.booleans(),
        details=metas,
        placement=st.sampled_from(["after_prompt", "before_prompt"]),
        time=numbers,
    )
)


@given(messages)
def test_a_message_comes_back_exactly(message: Message) -> None:
    line = dump_line({"message": encode_message(message)})
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    data = json.loads(line.decode())["message"]
    assert decode_message(data, id=message.id, time=message.time) == message


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(messages, min_size=1, max_size=5))
def test_messages_come_back_exactly_from_a_file(tmp_path: Path, said: list[Message]) -> None:
    with Session.create(tmp_path, "/p") as session:
        for message in said:
            session.append_message(message)
        assert session.messages() == said
    assert session.path is not None
    with Session.open(session.path, readonly=True) as again:
        assert again.messages() == said
        assert [entry.message for entry in again.branch()] == said
    session.path.unlink()


def test_a_line_stays_readable_for_people() -> None:
    assert dump_line({"text": "grüße €"}) == '{"text":"grüße €"}\n'.encode()


def test_the_halves_of_one_character_become_that_character() -> None:
    assert json.loads(dump_line({"text": "\ud83d\ude00"})) == {"text": "😀"}


def test_values_that_json_does_not_have_never_stop_a_run() -> None:
    cycle: dict[str, Any] = {}
    cycle["self"] = cycle
    odd: dict[Any, Any] = {
        "path": Path("/a"),
        "nan": float("nan"),
        "set": {1, 2},
        "tuple": (1, 2),
        "proxy": MappingProxyType({"a": 1}),
        "mapping": UserDict({"a": 1}),
        "bytes": b"x",
        "big": 10**5000,
        (1, 2): "key",
        "cycle": cycle,
    }
    data = json.loads(dump_line(odd))
    assert data["path"] == "/a" and data["nan"] is None and data["set"] == [1, 2] and data["tuple"] == [1, 2]
    assert data["proxy"] == data["mapping"] == {"a": 1}
    assert data["(1, 2)"] == "key"


def test_what_is_no_message_is_refused() -> None:
    with pytest.raises(TypeError, match="SystemMessage"):
        encode_message(SystemMessage(text="x"))  # type: ignore[arg-type]
    for data in (None, 5, {}, {"role": "king"}, {"role": "user"}, {"role": "user", "content": [{"type": "film"}]}):
        with pytest.raises(CodecError):
            decode_message(data, id="a", time=0.0)

"""Frames of the extension protocol as lines: what is taken, what is refused, and what leaves."""

from __future__ import annotations

import json

import pytest

from zot_core.wire import frames, framing


def line(**fields: object) -> bytes:
    return json.dumps(fields).encode()


@pytest.mark.parametrize(
    "given",
    [
        {"type": "hello", "name": "a", "version": "1", "capabilities": ["commands"]},
        {"type": "hello", "name": "a"},
        {"type": "hello", "name": "a", "version": None, "capabilities": None, "more": 1},
        {"type": "register_command", "name": "a"},
        {"type": "register_tool", "name": "a", "schema": None, "deferred": None},
        {"type": "subscribe"},
        {"type": "subscribe", "events": ["x"], "intercept": None},
        {"type": "ready", "id": 7},
        {"type": "tool_result", "id": "1"},
        {"type": "tool_result", "id": "1", "content": [{"type": "text", "text": "", "more": 1}], "is_error": True},
        {"type": "command_response", "id": "1", "action": "noop", "open_panel": None},
        {"type": "event_intercept_response", "id": "1", "modified_args": ["any"], "system_prompt": 4},
        {"type": "submit", "text": ""},
        {"type": "panel_render", "panel_id": "p"},
        {"type": "panel_close", "panel_id": "p"},
        {"type": "notify", "message": "m"},
        {"type": "clear_notes"},
        {"type": "shutdown_ack"},
    ],
)
def test_every_frame_of_an_extension_is_read(given: dict[str, object]) -> None:
    frame = framing.read(line(**given))
    assert type(frame) is frames.INCOMING[str(given["type"])]


@pytest.mark.parametrize("end", [b"", b"\r", b"  ", b"\t\r"])
def test_blanks_at_the_end_are_nothing(end: bytes) -> None:
    assert isinstance(framing.read(b'{"type":"ready"}' + end), frames.Ready)


@pytest.mark.parametrize(
    ("bad", "kind", "words", "id"),
    [
        (b"debug", "json", "is not JSON", ""),
        (b"", "json", "is not JSON", ""),
        (b'{"type":"ready"', "json", "is not JSON", ""),
        (b"\xff\xfe{", "bytes", "is not UTF-8", ""),
        ('{"type":"ready"}'.encode("utf-16"), "bytes", "is not UTF-8", ""),
        (b"null", "object", "no object", ""),
        (b"[" * 100_000, "json", "is not JSON", ""),
        (b"1" * 5_000, "json", "is not JSON", ""),
        (b"{}", "type", "has no `type`", ""),
        (b'{"type":["a"]}', "type", "has no `type`", ""),
        (b'{"type":"tool_call"}', "type tool_call", "which zot does not know", ""),
        (b'{"type":"hello"}', "fields of hello", "name: Field required", ""),
        (b'{"type":"hello","name":1}', "fields of hello", "name: Input should be a valid string", ""),
        (b'{"type":"ready"}\x00', "json", "is not JSON", ""),
        (b'{"type":"tool_result","id":"7","content":7}', "fields of tool_result", "content: Input", "7"),
        (b'{"type":"tool_result","id":7}', "fields of tool_result", "id: Input should be a valid string", ""),
        (b'{"type":"notify","id":"7","message":7}', "fields of notify", "message: Input", ""),
        (
            b'{"type":"tool_result","id":"7","content":[{"type":"text","text":"a"},{"type":"text"}]}',
            "fields of tool_result",
            "content.1.text: Field required",
            "7",
        ),
        (
            b'{"type":"tool_result","id":"7","content":[{"type":"image","mime_type":"text/html","data":"aaaa"}]}',
            "fields of tool_result",
            "content.0.mime_type: String should match pattern",
            "7",
        ),
        (
            b'{"type":"event_intercept_response","id":"7","block":"yes"}',
            "fields of event_intercept_response",
            "block: Input should be a valid boolean",
            "7",
        ),
    ],
)
def test_a_line_that_is_no_frame_says_what_is_wrong(bad: bytes, kind: str, words: str, id: str) -> None:
    with pytest.raises(framing.BadFrame, match=r".") as caught:
        framing.read(bad)
    assert caught.value.kind == kind
    assert words in str(caught.value)
    assert caught.value.id == id


def test_line_separators_of_unicode_are_text() -> None:
    text = "a\u2028b\u2029c\x85d\x0be\x1cf"
    frame = framing.read(json.dumps({"type": "notify", "message": text}, ensure_ascii=False).encode())
    assert isinstance(frame, frames.Notify) and frame.message == text


def test_what_leaves_has_no_other_line_ends_than_the_one() -> None:
    text = "a\u2028b\u2029c\x85d\x0be\nf\rg"
    sent = framing.write(frames.ToolCall(id="1", name="t", args={"x": text, "n": float("nan")}))
    assert sent.endswith(b"\n") and len(sent.decode().splitlines()) == 1
    assert json.loads(sent) == {"type": "tool_call", "id": "1", "name": "t", "args": {"x": text, "n": None}}


def test_what_is_not_said_is_left_out() -> None:
    assert json.loads(framing.write(frames.Event(event="turn_end", stop="end_turn"))) == {
        "type": "event",
        "event": "turn_end",
        "stop": "end_turn",
    }
    empty = frames.EventIntercept(id="1", event="before_agent_start", system_prompt="")
    assert json.loads(framing.write(empty))["system_prompt"] == ""


@pytest.mark.parametrize("pair", [b'"\\ud83d\\ude00"', '"😀"'.encode()])
def test_pairs_of_surrogates_are_characters(pair: bytes) -> None:
    frame = framing.read(b'{"type":"notify","message":' + pair + b"}")
    assert isinstance(frame, frames.Notify) and frame.message == "😀"


def test_halves_of_surrogate_pairs_are_replaced() -> None:
    frame = framing.read(b'{"type":"notify","message":"a\\ud83d b\\uDE00"}')
    assert isinstance(frame, frames.Notify) and frame.message == "a\ufffd b\ufffd"


@pytest.mark.parametrize(("extra", "oversized"), [(0, False), (1, True)])
def test_a_prompt_is_measured_as_it_was_encoded(extra: int, oversized: bool) -> None:
    room = frames.MAX_PROMPT - 2 + extra
    value = "\\u00e9" * (room // 6) + "x" * (room % 6)
    sent = f'{{"type":"event_intercept_response", "id":"1", "system_prompt" : "{value}"}}'.encode()
    frame = framing.read(sent)
    assert isinstance(frame, frames.InterceptResponse)
    assert frame.oversized_prompt is oversized
    assert frame.id == "1"


def test_an_empty_prompt_an_absent_one_and_null_are_three_things() -> None:
    read = [
        framing.read(line(type="event_intercept_response", id="1", **given))
        for given in ({"system_prompt": ""}, {}, {"system_prompt": None})
    ]
    assert [isinstance(one, frames.InterceptResponse) and one.has_prompt for one in read] == [True, False, True]


def test_every_field_of_a_frame_is_described_or_plain() -> None:
    for frame in (*frames.INCOMING.values(), *frames.OUTGOING.values()):
        assert frame.__doc__
        assert frame.type

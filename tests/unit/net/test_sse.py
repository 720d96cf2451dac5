"""Server-sent events come out the same, however the bytes are cut and the lines are ended."""

from __future__ import annotations

import random

import pytest

from zot_core.net.sse import ServerEvent, SseDecoder, SseOverflow

BODY = (
    ": a comment\n"
    'data: {"text": "漢字 🙂 \u2028 kept"}\n\n'
    ": ping\n\n"
    "data:no blank\n\n"
    "event: named\nid: 7\nretry: 100\nunknown: x\ndata: first\ndata: second\n\n"
    "event: without data\n\n"
    "data\n\n"
    "data: last without an end"
)
EVENTS = [
    ServerEvent("", '{"text": "漢字 🙂 \u2028 kept"}'),
    ServerEvent("", "no blank"),
    ServerEvent("named", "first\nsecond"),
    ServerEvent("", ""),
    ServerEvent("", "last without an end"),
]


def decode(pieces: list[bytes]) -> list[ServerEvent]:
    decoder = SseDecoder()
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return events + decoder.finish()


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
def test_the_same_events_for_every_line_ending_and_size_of_piece(ending: str, size: int) -> None:
    body = BODY.replace("\n", ending).encode()
    assert decode([body[i : i + size] for i in range(0, len(body), size)]) == EVENTS


def test_every_cut_in_two_gives_the_same_events() -> None:
    for ending in ("\n", "\r\n", "\r"):
        body = BODY.replace("\n", ending).encode()
        for cut in range(len(body) + 1):
            assert decode([body[:cut], body[cut:]]) == EVENTS


def test_random_pieces_give_the_same_events() -> None:
    dice = random.Random(7)
    body = BODY.replace("\n", "\r\n").encode()
    for _ in range(200):
        cuts = sorted(dice.sample(range(len(body)), 6))
        assert decode([body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]) == EVENTS


@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_byte_order_mark_at_the_start_is_no_data(size: int) -> None:
    body = b"\xef\xbb\xbfdata: x\n\n"
    assert decode([body[i : i + size] for i in range(0, len(body), size)]) == [ServerEvent("", "x")]


def test_broken_bytes_become_replacement_marks_and_nothing_is_raised() -> None:
    assert decode([b"data: a\xffb\n\ndata: c\n\n"]) == [ServerEvent("", "a\ufffdb"), ServerEvent("", "c")]


def test_an_event_comes_as_soon_as_it_is_complete() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\r") == []
    assert decoder.feed(b"\n\r") == [ServerEvent("", "a")]
    assert decoder.feed(b"\ndata: b\n") == []
    assert decoder.feed(b"\n") == [ServerEvent("", "b")]


def test_an_event_without_end_does_not_take_all_memory() -> None:
    decoder = SseDecoder(limit=1000)
    with pytest.raises(SseOverflow):
        for _ in range(100):
            decoder.feed(b"data: " + b"x" * 100)


def test_an_empty_body_has_no_events() -> None:
    assert decode([]) == decode([b""]) == decode([b"\n\n\n"]) == []

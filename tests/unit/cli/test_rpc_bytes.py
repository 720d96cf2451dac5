"""The two ends of RPC's pipes: lines out of bytes, and a writer that never blocks and never loses a line."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zot_cli.modes.rpc.reader import Lines
from zot_cli.modes.rpc.writer import FULL, VERY_FULL, Writer
from zot_cli.stdio import OutputGone

PIECES = st.lists(st.binary(max_size=12) | st.just(b"\n") | st.just(b"\xe2\x80\xa8\r"), max_size=40)


@given(PIECES)
def test_lines_end_at_lf_alone_wherever_the_bytes_are_cut(pieces: list[bytes]) -> None:
    lines: list[bytes] = []
    cut = Lines(lines.append, lambda: lines.append(b"never"), limit=10_000)
    for piece in pieces:
        cut.feed(piece)
    cut.end()
    whole = b"".join(pieces)
    assert lines == whole.split(b"\n")[: None if not whole.endswith(b"\n") else -1] or (whole == b"" and lines == [])


@given(PIECES)
def test_a_line_over_the_limit_is_said_once_and_skipped(pieces: list[bytes]) -> None:
    told: list[bytes | None] = []
    cut = Lines(told.append, lambda: told.append(None), limit=5)
    for piece in pieces:
        cut.feed(piece)
    cut.feed(b"\n")
    assert told == [line if len(line) <= 5 else None for line in (b"".join(pieces) + b"\n").split(b"\n")[:-1]]


@pytest.fixture
def pipe() -> Iterator[tuple[Writer, int]]:
    """A writer whose output is a pipe, and the pipe's other end; the process's own stdout comes back afterwards."""
    kept = os.dup(1)
    reading, writing = os.pipe()
    os.dup2(writing, 1)
    os.close(writing)
    try:
        writer = Writer()
        yield writer, reading
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(writer._fd)
        try:
            os.close(reading)
        except OSError:
            pass  # the test closed it


async def read_all(reading: int, size: int) -> bytes:
    """`size` bytes, read beside the loop."""
    chunks: list[bytes] = []
    while sum(map(len, chunks)) < size:
        chunks.append(await asyncio.to_thread(os.read, reading, 1 << 20))
    return b"".join(chunks)


def test_nothing_blocks_and_nothing_is_lost_while_nobody_reads(pipe: tuple[Writer, int]) -> None:
    writer, reading = pipe
    lines = [b"%d %s\n" % (number, b"x" * 5000) for number in range(600)]

    async def main() -> None:
        assert writer.room() is None
        for line in lines:
            writer.put(line)
        room = writer.room()
        assert room is not None and not room.done()
        reader = asyncio.create_task(read_all(reading, sum(map(len, lines))))
        await room
        await writer.drained()
        assert await reader == b"".join(lines)
        assert writer.room() is None

    asyncio.run(main())


def test_a_wait_for_room_that_is_cancelled_does_not_end_the_others(pipe: tuple[Writer, int]) -> None:
    writer, reading = pipe

    async def main() -> None:
        writer.put(b"x" * (FULL * 2) + b"\n")
        first, second = writer.room(), writer.room()
        assert first is not None and second is not None
        first.cancel()
        reader = asyncio.create_task(read_all(reading, FULL * 2 + 1))
        await second
        await reader

    asyncio.run(main())


def test_requests_wait_only_when_very_much_is_unread(pipe: tuple[Writer, int]) -> None:
    writer, reading = pipe
    told: list[bool] = []

    async def main() -> None:
        writer.on_full = told.append
        writer.put(b"x" * FULL)
        assert told == []
        writer.put(b"x" * VERY_FULL)
        assert told == [True]
        await asyncio.gather(read_all(reading, FULL + VERY_FULL), writer.drained())
        assert told == [True, False]

    asyncio.run(main())


def test_a_reader_that_is_gone_is_found_out(pipe: tuple[Writer, int]) -> None:
    writer, reading = pipe
    told: list[str] = []

    async def main() -> None:
        writer.on_broken = lambda: told.append("broken")
        writer.put(b"x" * (FULL * 2))
        waiting = writer.room()
        assert waiting is not None and not writer.reader_is_gone()
        os.close(reading)
        assert writer.reader_is_gone()
        await waiting
        assert isinstance(writer.broken, OutputGone) and told == ["broken"]
        writer.put(b"more")
        await writer.drained()

    asyncio.run(main())

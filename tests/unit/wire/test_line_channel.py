"""The duplex of lines, over real pipes whose other ends the test holds."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from zot_core.wire.channel import Channel, ChannelClosed, LineTooLong

LIMIT = 4 << 20


class Other:
    """A channel with the ends that a child would have."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.ended: list[str] = []
        self.news = asyncio.Event()
        self.channel = Channel(self._line, self._end, limit=LIMIT)

    def _line(self, line: bytes) -> None:
        self.lines.append(line)
        self.news.set()

    def _end(self, reason: str) -> None:
        self.ended.append(reason)
        self.news.set()

    async def until(self, count: int = 0, ended: bool = False) -> None:
        while len(self.lines) < count or (ended and not self.ended):
            self.news.clear()
            await self.news.wait()

    async def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[await asyncio.to_thread(os.write, self.output, view) :]


@asynccontextmanager
async def connected() -> AsyncIterator[Other]:
    other = Other()
    other.input, writing = os.pipe()  # type: ignore[attr-defined]
    reading, other.output = os.pipe()  # type: ignore[attr-defined]
    await other.channel.connect(reading, writing)
    try:
        yield other
    finally:
        other.channel.close("over")
        await asyncio.sleep(0)
        for descriptor in (other.input, other.output):  # type: ignore[attr-defined]
            try:
                os.close(descriptor)
            except OSError:
                pass  # the test closed it


def test_only_a_line_feed_ends_a_line() -> None:
    async def story() -> None:
        async with connected() as other:
            await other.write("a\r\nb\u2028c\x85d\x0be\n\nf".encode())
            await other.write(b"g\n")
            await other.until(4)
            assert other.lines == [b"a\r", "b\u2028c\x85d\x0be".encode(), b"", b"fg"]

    asyncio.run(story())


def test_an_unfinished_line_is_none() -> None:
    async def story() -> None:
        async with connected() as other:
            await other.write(b"a\nb")
            os.close(other.output)
            await other.until(1, ended=True)
            assert (other.lines, other.ended) == ([b"a"], [""])

    asyncio.run(story())


@pytest.mark.parametrize(("size", "taken"), [(LIMIT - 1, True), (LIMIT, False)])
def test_a_line_has_a_limit_with_its_end(size: int, taken: bool) -> None:
    async def story() -> None:
        async with connected() as other:
            await other.write(b"x" * size)
            if taken:
                await other.write(b"\nnext\n")
                await other.until(2)
                assert [len(line) for line in other.lines] == [size, 4]
            else:
                await other.until(ended=True)
                assert other.ended == ["it sent a frame over 4 MiB"]
                assert other.lines == []

    asyncio.run(story())


def test_a_flood_leaves_others_their_turn() -> None:
    async def story() -> None:
        async with connected() as other:
            longest, last = 0.0, asyncio.get_running_loop().time()

            def slow(line: bytes) -> None:
                other.lines.append(line)
                other.news.set()

            other.channel._on_line = slow
            flood = asyncio.create_task(other.write(b"{}\n" * 200_000))
            while not flood.done():
                await asyncio.sleep(0)
                now = asyncio.get_running_loop().time()
                longest, last = max(longest, now - last), now
            await other.until(200_000)
            assert longest < 0.5

    asyncio.run(story())


def test_lines_go_out_in_order_and_each_knows_when_it_was_taken() -> None:
    async def story() -> None:
        async with connected() as other:
            first = other.channel.send(b"a" * 10 + b"\n")
            assert first.done
            big = other.channel.send(b"b" * 500_000 + b"\n")
            last = other.channel.send(b"c\n")
            assert not big.done and not last.done
            assert 0 < other.channel.waiting < 500_003
            data = b""
            while not data.endswith(b"c\n"):
                data += await asyncio.to_thread(os.read, other.input, 1 << 16)
            await big.wait()
            await last.wait()
            assert data == b"a" * 10 + b"\n" + b"b" * 500_000 + b"\nc\n"
            assert other.channel.waiting == 0

    asyncio.run(story())


def test_what_waits_is_bounded_and_then_nothing_goes_out_any_more() -> None:
    async def story() -> None:
        async with connected() as other:
            sent = [other.channel.send(b"x" * (1 << 20) + b"\n") for _ in range(4)]
            with pytest.raises(ChannelClosed, match="it does not read"):
                other.channel.send(b"y" * (1 << 20) + b"\n")
            assert all(one.done for one in sent)
            with pytest.raises(ChannelClosed):
                other.channel.send(b"z\n")
            await other.write(b"still heard\n")
            await other.until(1)

    asyncio.run(story())


def test_one_line_over_the_limit_is_refused_alone() -> None:
    async def story() -> None:
        async with connected() as other:
            with pytest.raises(LineTooLong, match="4,194,305 bytes"):
                other.channel.send(b"x" * LIMIT + b"\n")
            assert other.channel.send(b"y\n").done

    asyncio.run(story())


def test_a_closed_pipe_is_known_before_the_next_line() -> None:
    async def story() -> None:
        async with connected() as other:
            os.close(other.input)
            while not other.channel.closed_because:
                await asyncio.sleep(0.001)
            assert other.channel.closed_by_peer
            with pytest.raises(ChannelClosed, match="it has closed its input"):
                other.channel.send(b"x\n")

    asyncio.run(story())


def test_a_closed_pipe_is_found_out_by_the_line_that_meets_it() -> None:
    async def story() -> None:
        async with connected() as other:
            os.close(other.input)
            with pytest.raises(ChannelClosed, match="it has closed its input"):
                other.channel.send(b"x\n")
            assert other.channel.closed_by_peer

    asyncio.run(story())


def test_closing_releases_a_write_that_is_stuck() -> None:
    async def story() -> None:
        async with connected() as other:
            stuck = other.channel.send(b"x" * 500_000 + b"\n")
            waiting = asyncio.create_task(stuck.wait())
            await asyncio.sleep(0)
            other.channel.close_writing("enough")
            await waiting
            assert other.channel.closed_because == "enough" and not other.channel.closed_by_peer

    asyncio.run(story())

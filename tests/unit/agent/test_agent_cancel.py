"""Promises of the signal, of interruptible scopes and of the queues."""

from __future__ import annotations

import asyncio

import pytest
from support.agent_fakes import user

from zot_core.agent.cancel import Aborted, Signal, interruptible
from zot_core.agent.queues import Queues


def test_a_signal_is_aborted_once_and_tells_each_callback_once():
    async def main():
        signal, told = Signal(), []
        signal.on_abort(lambda: told.append(1))
        off = signal.on_abort(lambda: told.append(2))
        off()
        off()
        signal.abort("first")
        signal.abort("second")
        assert (signal.reason, told) == ("first", [1])
        signal.on_abort(lambda: told.append(3))
        assert told == [1, 3]
        await signal.wait()

    asyncio.run(main())


def test_an_abort_ends_the_scope_and_leaves_no_cancel_behind():
    async def main():
        signal = Signal()
        asyncio.get_running_loop().call_soon(signal.abort)
        with pytest.raises(Aborted), interruptible(signal):
            await asyncio.Event().wait()
        assert asyncio.current_task().cancelling() == 0
        await asyncio.sleep(0)
        with pytest.raises(Aborted), interruptible(signal):
            raise AssertionError("refused at the door")

    asyncio.run(main())


def test_an_abort_from_within_reaches_only_the_scope():
    async def main():
        signal = Signal()
        with interruptible(signal):
            signal.abort()
        await asyncio.sleep(0.001)
        with pytest.raises(Aborted), interruptible(signal, grace=0.001):
            await asyncio.Event().wait()

    asyncio.run(main())


def test_nested_scopes_of_one_signal_and_of_two():
    async def main():
        outer, inner = Signal(), Signal()
        asyncio.get_running_loop().call_soon(inner.abort)
        with interruptible(outer):
            with pytest.raises(Aborted), interruptible(inner):
                await asyncio.Event().wait()
            await asyncio.sleep(0)
        asyncio.get_running_loop().call_soon(outer.abort)
        with pytest.raises(Aborted), interruptible(outer), interruptible(outer):
            await asyncio.Event().wait()
        assert asyncio.current_task().cancelling() == 0

    asyncio.run(main())


def test_a_cancel_from_elsewhere_stays_a_cancel():
    async def main():
        signal = Signal()

        async def work():
            with interruptible(signal):
                await asyncio.Event().wait()

        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        signal.abort()
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

        async def limited():
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.001):
                    with interruptible(Signal()):
                        await asyncio.Event().wait()

        await limited()

    asyncio.run(main())


def test_a_body_that_fails_on_the_way_out_keeps_its_error():
    async def main():
        signal = Signal()
        asyncio.get_running_loop().call_soon(signal.abort)
        with pytest.raises(KeyError), interruptible(signal):
            try:
                await asyncio.Event().wait()
            finally:
                raise KeyError("cleanup")
        assert asyncio.current_task().cancelling() == 0

    asyncio.run(main())


def test_queues_keep_order_and_give_back_what_was_typed():
    changes = []
    queues = Queues(on_change=lambda: changes.append(1))
    one, two, three, four = user("1"), user("2"), user("3"), user("4")
    queues.put("steer", one)
    queues.put("steer", two)
    queues.put("follow_up", three)
    queues.put("next_turn", four)
    assert queues
    assert queues.take("steer") is one
    assert queues.give_back() == (two, three)
    assert not queues
    assert queues.take("follow_up") is None
    assert queues.take_all("next_turn") == (four,)
    assert len(changes) == 8

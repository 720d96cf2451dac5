"""Dialogs are dismissed by the asker's signal, and an ephemeral one is told to nobody and never leaves this machine."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from zot_core.agent.cancel import Signal
from zot_core.ctx.null_ui import NullUi
from zot_core.ctx.plugin_ui import PluginUi, PromptSpan


class Waiting(NullUi):
    """Dialogs wait until they are answered."""

    def __init__(self) -> None:
        super().__init__(lambda note: None, "repl")
        self.asked: list[str] = []
        self.dismissed: list[str] = []

    async def confirm(self, title: str, message: str = "", *, timeout: float | None = None) -> bool:
        self.asked.append(title)
        try:
            await asyncio.sleep(0 if title == "quick" else 3600)
        except asyncio.CancelledError:
            self.dismissed.append(title)
            raise
        return True


def desk(mode: str = "repl") -> tuple[PluginUi, Waiting, list[str]]:
    ui, told = Waiting(), list[str]()
    span = PromptSpan(lambda event: told.append(event.hook))
    bus = SimpleNamespace(emit=lambda channel, payload: None)
    front = SimpleNamespace(ui=ui)
    runtime: Any = SimpleNamespace(front=front, mode=mode, has_ui=True, prompt_span=span.around, bus=bus)
    return PluginUi(lambda: runtime, "asker"), ui, told


def test_an_aborted_signal_dismisses() -> None:
    async def main() -> None:
        asker, ui, told = desk()
        signal = Signal()
        asyncio.get_running_loop().call_later(0.02, signal.abort)
        assert await asker.confirm("slow", signal=signal) is False
        assert ui.dismissed == ["slow"]
        assert told == ["ui_prompt_start", "ui_prompt_end"]
        assert await asker.confirm("never shown", signal=signal) is False
        assert ui.asked == ["slow"]
        soon = Signal()
        asyncio.get_running_loop().call_soon(soon.abort)
        assert await asker.confirm("too late", signal=soon) is False

    asyncio.run(main())


def test_an_answer_comes_through_a_signal() -> None:
    asker, _, told = desk()
    assert asyncio.run(asker.confirm("quick", signal=Signal())) is True
    assert told == ["ui_prompt_start", "ui_prompt_end"]


def test_a_cancelled_asker_dismisses_and_stays_cancelled() -> None:
    async def main() -> None:
        asker, ui, _ = desk()
        task = asyncio.ensure_future(asker.confirm("slow", signal=Signal()))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ui.dismissed == ["slow"]

    asyncio.run(main())


def test_ephemeral() -> None:
    asker, ui, told = desk()
    assert asyncio.run(asker.confirm("quick", ephemeral=True)) is True
    assert told == []
    asker, ui, told = desk("rpc")
    assert asyncio.run(asker.confirm("quick", ephemeral=True)) is False
    assert ui.asked == told == []


def test_where_nobody_is_asked_the_options_do_no_harm() -> None:
    runtime: Any = SimpleNamespace(
        front=SimpleNamespace(ui=NullUi(lambda note: None, "json")),
        mode="json",
        has_ui=False,
        bus=SimpleNamespace(emit=lambda channel, payload: None),
    )
    asker = PluginUi(lambda: runtime, "asker")
    assert asyncio.run(asker.select("which", ["a"], signal=Signal(), ephemeral=True)) is None
    assert asyncio.run(asker.question([{"question": "why"}], signal=Signal()))["outcome"] == "unavailable"
    assert asyncio.run(asker.custom(lambda *_: None, overlay=True)) is None

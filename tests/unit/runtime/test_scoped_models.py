"""`--models` and `enabled_models`: what a session's person goes through, step by step, and what plugins see of it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from zot_core import ModelSpec, ProviderSpec, UsageError, hookimpl
from zot_core.testing import RecordingFrontEnd
from zot_core.types.specs import Prices
from zot_core.types.stream import Done, StreamPart, TextDelta

Open = Callable[..., Any]


async def stream(request: Any) -> AsyncIterator[StreamPart]:
    yield TextDelta(f"I am {request.model.id}.")
    yield Done("end_turn")


class Models:
    def __init__(self) -> None:
        self.selected: list[Any] = []
        self.seen: list[Any] = []

    @hookimpl
    def providers(self) -> list[ProviderSpec]:
        prices = Prices(input=3, output=15)
        one = ModelSpec(id="one", provider="p", reasoning=True, prices=prices, context_window=200_000, name="The One")
        rest = [ModelSpec(id=name, provider="p", reasoning=True) for name in ("three", "two")]
        locked = ModelSpec(id="locked", provider="q")
        return [
            ProviderSpec(id="p", keyless=True, models=(one, *rest), stream=stream),
            ProviderSpec(id="q", env=("Q_KEY",), models=(locked,), base_url="http://127.0.0.1:9"),
        ]

    @hookimpl
    def model_select(self, event: Any, ctx: Any) -> None:
        self.selected.append((event.source, event.model.id, event.previous_model.id))

    @hookimpl
    def agent_start(self, event: Any, ctx: Any) -> None:
        self.seen.append([(one.model.id, one.level) for one in ctx.scoped_models])


def play(runtime: Open, *steps: Any, front: Any = None, **how: Any) -> tuple[Models, Any, list[str]]:
    """Steps: a number cycles, a text is sent; gives the plugin, the front, and the model after each step."""
    plugin, front = Models(), front or RecordingFrontEnd("rpc")
    after: list[str] = []

    async def story() -> None:
        async with runtime(plugins=[plugin], front=front, **{"provider": "p", "model": "one", **how}) as app:
            for step in steps:
                if isinstance(step, int):
                    taken = await app.runtime.scoping.cycle(step)
                    assert taken is None or taken.model == app.runtime.choice.model
                else:
                    await app.prompt(step)
                after.append(f"{app.runtime.choice.model.id}:{app.runtime.choice.thinking}")

    asyncio.run(story())
    return plugin, front, after


def notes(front: Any) -> list[str]:
    return [note.text for note in front.notes if note.kind == "diagnostic"]


def test_without_patterns_all_that_can_be_used_is_gone_through(runtime: Open) -> None:
    plugin, _, after = play(runtime, 1, 1, 1, -1, "Hi")
    assert [one.partition(":")[0] for one in after] == ["three", "two", "one", "two", "two"]
    assert plugin.selected[0] == ("cycle", "three", "one")
    assert plugin.seen == [[]]


def test_patterns_say_which_and_how_much_they_think(runtime: Open) -> None:
    plugin, _, after = play(runtime, 1, 1, 1, "Hi", models=("two:high", "p/one"))
    assert after == ["two:high", "one:off", "two:high", "two:high"]
    assert plugin.seen == [[("two", "high"), ("one", None)]]


def test_a_level_that_a_pattern_pins_is_not_remembered_for_the_model(runtime: Open) -> None:
    play(runtime, 1, "Hi", models=("two:high",), no_session=False)
    _, _, after = play(runtime, "Hi", model="two", no_session=False)
    assert after == ["two:off"]


def test_the_setting_is_the_same_and_the_line_wins(runtime: Open, world: Any) -> None:
    (world.home / "settings.json").write_text(json.dumps({"enabled_models": ["t*"]}))
    assert play(runtime, "Hi")[0].seen == [[("three", None), ("two", None)]]
    assert play(runtime, "Hi", models=("one",))[0].seen == [[("one", None)]]


@pytest.mark.parametrize("how", ["line", "settings"])
def test_a_pattern_that_means_nothing_is_said_once_and_stops_nothing(runtime: Open, world: Any, how: str) -> None:
    if how == "settings":
        (world.home / "settings.json").write_text(json.dumps({"enabled_models": ["two", "thre"]}))
    plugin, front, _ = play(runtime, "Hi", **({"models": ("two", "thre")} if how == "line" else {}))
    (said,) = notes(front)
    where = "--models" if how == "line" else "the setting enabled_models"
    assert said.startswith(f"{where}: no model fits 'thre'; did you mean three")
    assert plugin.seen == [[("two", None)]]


def test_what_there_is_no_key_for_is_no_part_of_it(runtime: Open) -> None:
    plugin, front, after = play(runtime, "Hi", 1, 1, models=("q/*", "two"))
    assert plugin.seen == [[("two", None)]]
    assert after == ["one:off", "two:off", "two:off"]
    assert notes(front) == ["--models: there is no key for what fits 'q/*' (q), so it is left out"]


def test_where_none_of_them_can_be_used_all_others_are_gone_through(runtime: Open) -> None:
    plugin, _, after = play(runtime, "Hi", 1, models=("q/*",))
    assert plugin.seen == [[]] and after == ["one:off", "three:off"]


def test_steps_that_come_fast_are_taken_one_after_another(runtime: Open) -> None:
    async def story() -> list[str]:
        async with runtime(plugins=[Models()], front=RecordingFrontEnd("rpc"), provider="p", model="one") as app:
            await asyncio.gather(*(app.runtime.scoping.cycle(1) for _ in range(5)))
            return [app.runtime.choice.model.id]

    assert asyncio.run(story()) == ["two"], "5 steps of 3"


def test_a_step_in_the_middle_of_a_run_holds_from_the_next_call(runtime: Open) -> None:
    class Steps(Models):
        @hookimpl
        async def turn_end(self, event: Any, ctx: Any) -> Any:
            if len(self.selected) == 0:
                await self.app.runtime.scoping.cycle(1)
                return event.replace(continue_run=True)
            return None

    plugin = Steps()

    async def story() -> list[str]:
        async with runtime(plugins=[plugin], front=RecordingFrontEnd("rpc"), provider="p", model="one") as app:
            plugin.app = app  # type: ignore[attr-defined]
            await app.prompt("Hi")
            return [m.text for m in app.runtime.state.messages if m.role == "assistant"]

    assert asyncio.run(story()) == ["I am one.", "I am three."]


# --- commands -------------------------------------------------------------------------------------------------------


def answers(front: Any) -> list[str]:
    return [note.text for note in front.notes if note.kind == "answer"]


class Picking(RecordingFrontEnd):
    """Keeps what is offered; picks what begins with the next of `picks`, None for nothing."""

    def __init__(self, mode: Any, *picks: str | None) -> None:
        super().__init__(mode)
        self.offered: list[list[str]] = []
        self.picks = list(picks)
        self.ui.select = self._select  # type: ignore[method-assign]

    async def _select(self, title: str, options: Any, *, timeout: float | None = None) -> str | None:
        self.offered.append(list(options))
        pick = self.picks.pop(0) if self.picks else None
        return None if pick is None else next(one for one in options if one.startswith(pick))


def test_the_picker_marks_the_current_one_and_tells_window_and_price(runtime: Open) -> None:
    front = Picking("repl", "p/two")
    _, _, after = play(runtime, "/model", front=front)
    assert front.offered[0][0] == "p/one (in use)  The One  200k  $3/$15"
    usable = [row for row in front.offered[0] if "no key" not in row]
    assert front.offered[0][: len(usable)] == usable, "what there is no key for comes last"
    assert "q/locked  128k  no key found" in front.offered[0]
    assert after == ["two:off"]


def test_the_picker_begins_with_the_scope_and_leads_to_all(runtime: Open) -> None:
    front = Picking("repl", "All", "p/three")
    _, _, after = play(runtime, "/model", front=front, models=("two:low", "one"))
    scope, everything = front.offered
    assert [row.split()[-1] for row in scope] == ["low", "$3/$15", "…"]
    assert len(everything) > len(scope)
    assert after == ["three:off"]
    _, _, after = play(runtime, "/model", front=Picking("repl", "p/two"), models=("two:low", "one"))
    assert after == ["two:low"]


def test_scoped_models_says_what_is_gone_through(runtime: Open) -> None:
    _, front, _ = play(runtime, "/scoped-models", models=("two:low", "one"))
    (said,) = answers(front)
    assert said.splitlines()[0].startswith("- p/two") and "thinking: low" in said.splitlines()[0]
    _, front, _ = play(runtime, "/scoped-models")
    assert "models that can be used" in answers(front)[0]
    with pytest.raises(UsageError, match="takes no words"):
        play(runtime, "/scoped-models p/*")


def test_names_complete_after_model(runtime: Open) -> None:
    from zot_plugins.commands.models import names

    async def story() -> list[str]:
        async with runtime(plugins=[Models()], provider="p", model="one", models=("two",)) as app:
            return [one.value for one in names("p/t", app.runtime.context("commands"))]

    assert asyncio.run(story()) == ["p/two", "p/three"]


@pytest.mark.parametrize("mode", ["-p", "--json"])
def test_the_flag_is_known_in_every_mode(world: Any, mode: str) -> None:
    line = [sys.executable, "-m", "zot_cli", mode, "--provider", "scripted", "--models", "scripted/*,nothing*", "Hi"]
    done = subprocess.run(line, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=Path(world.project))
    assert done.returncode == 0, done.stderr
    assert "no model fits 'nothing*'" in done.stderr

"""Fallback chains: who answers when a model fails, for how long, and what the person is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from zot_core import ModelSpec, ProviderSpec, hookimpl
from zot_core.testing import RecordingFrontEnd
from zot_core.types.failure import Failure, UsageError
from zot_core.types.stream import Done, Failed, TextDelta
from zot_plugins.model_fallback import chains
from zot_plugins.model_fallback.cooldowns import Cooldowns, may_fall_back, seconds_for

Run = Callable[..., RecordingFrontEnd]
Open = Callable[..., Any]
CHAIN = {"lab/one": ["lab/two:low", "lab/three"]}
SPENT = Failure(kind="rate_limit", message="no credit")
BUSY = Failure(kind="overloaded", message="busy")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """Cooldowns of this test alone, on a clock that stands."""
    one = Clock()
    monkeypatch.setattr(chains.Chains.__init__, "__defaults__", (Cooldowns(one),))
    yield one


class Lab:
    """Three models; those in `down` fail with that failure."""

    def __init__(self, **down: Failure) -> None:
        self.down = down
        self.sent: list[tuple[str, str]] = []
        self.heard: list[Any] = []

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        self.sent.append((request.model.id, request.thinking))
        if failure := self.down.get(request.model.id):
            yield Failed(failure)
        else:
            yield TextDelta(f"I am {request.model.id}")
            yield Done("end_turn")

    @hookimpl
    def providers(self) -> ProviderSpec:
        names = ("one", "two", "three")
        models = tuple(ModelSpec(id=name, provider="lab", reasoning=True) for name in names)
        return ProviderSpec(id="lab", keyless=True, models=models, stream=self.stream)

    @hookimpl
    def session_start(self, event: Any, ctx: Any) -> None:
        ctx.bus.on("model_fallback", self.heard.append)

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.sent]


@pytest.fixture
def settings(world: Any) -> Callable[..., None]:
    """Writes the plugin's section."""

    def write(chains: Any = CHAIN, **section: Any) -> None:
        value = {"plugins": {"model_fallback": {"chains": chains, **section}}}
        (world.home / "settings.json").write_text(json.dumps(value), encoding="utf-8")

    return write


def notes(ran: RecordingFrontEnd) -> list[str]:
    return [note.text for note in ran.notes if note.source == "model_fallback"]


def test_the_next_of_the_chain_answers_and_the_person_and_plugins_are_told(run_prompt: Run, settings: Any) -> None:
    settings()
    lab = Lab(one=BUSY)
    ran = run_prompt("Hi", plugins=[lab], provider="", model="lab/one", reasoning="high")
    assert ran.answer == "I am two"
    assert lab.sent == [("one", "high"), ("two", "low")], "an explicit level holds"
    assert notes(ran) == ["lab/one cannot answer (overloaded); lab/two:low does instead"]
    assert lab.heard == [{"target": "lab/one", "failed": "lab/one", "model": "lab/two:low", "kind": "overloaded"}]
    assert ran.messages[-1].model == "two"  # type: ignore[union-attr]


def test_a_level_that_is_not_named_is_inherited(run_prompt: Run, settings: Any) -> None:
    settings()
    lab = Lab(one=BUSY, two=BUSY)
    run_prompt("Hi", plugins=[lab], provider="", model="lab/one", reasoning="high")
    assert lab.sent[-1] == ("three", "high")


def test_without_a_chain_nothing_changes(run_prompt: Run, settings: Any) -> None:
    settings({})
    lab = Lab(one=BUSY)
    end = run_prompt("Hi", plugins=[lab], provider="", model="lab/one").end
    assert end is not None and end.failure is not None
    assert lab.names == ["one"] and end.failure.message.startswith("lab: busy")


def test_a_chain_at_its_end_says_so_and_keeps_the_kind(run_prompt: Run, settings: Any) -> None:
    settings()
    lab = Lab(one=BUSY, two=SPENT, three=BUSY)
    ran = run_prompt("Hi", plugins=[lab], provider="", model="lab/one")
    assert lab.names == ["one", "two", "three"]
    assert ran.end is not None and ran.end.failure is not None
    assert ran.end.failure.kind == "overloaded"
    assert "chain of lab/one is at its end: lab/one (overloaded), lab/two (rate limit), lab/three (overloaded)" in (
        ran.end.failure.message
    )
    assert lab.heard[-1]["model"] == ""


@pytest.mark.parametrize("kind", ["bad_request", "context_overflow", "internal"])
def test_what_another_model_cannot_mend_is_no_reason(run_prompt: Run, settings: Any, kind: Any) -> None:
    settings()
    lab = Lab(one=Failure(kind=kind, message="no"))
    run_prompt("Hi", plugins=[lab], provider="", model="lab/one")
    assert lab.names == ["one"]


def prompts(runtime: Open, lab: Lab, *steps: Callable[[], None] | str, **options: Any) -> RecordingFrontEnd:
    """Prompts and commands (texts) and changes of the world (functions), in one session."""

    async def run() -> RecordingFrontEnd:
        async with runtime(plugins=[lab], provider="", model="lab/one", **options) as app:
            for step in steps:
                if isinstance(step, str):
                    await app.prompt(step)
                else:
                    step()
            return app.front  # type: ignore[no-any-return]

    return asyncio.run(run())


def test_a_model_that_failed_is_left_alone_until_its_cooldown_is_over(
    runtime: Open, settings: Any, clock: Clock
) -> None:
    settings()
    lab = Lab(one=BUSY)

    def later() -> None:
        clock.now += 31
        lab.down.clear()

    front = prompts(runtime, lab, "a", "b", later, "c")
    assert lab.names == ["one", "two", "two", "one"]
    assert notes(front)[1:] == ["lab/one answers again"], "said once, not for each request"


def test_a_cooldown_holds_in_the_next_session_too(run_prompt: Run, settings: Any) -> None:
    settings()
    lab = Lab(one=BUSY)
    run_prompt("Hi", plugins=[lab], provider="", model="lab/one")
    run_prompt("Hi", plugins=[lab], provider="", model="lab/one")
    assert lab.names == ["one", "two", "two"]


def test_never_stays_with_the_fallback_until_the_person_chooses(runtime: Open, settings: Any, clock: Clock) -> None:
    settings(revert="never")
    lab = Lab(one=BUSY)

    def later() -> None:
        clock.now += 10_000
        lab.down.clear()

    async def run() -> None:
        async with runtime(plugins=[lab], provider="", model="lab/one", no_session=False) as app:
            await app.prompt("a")
            later()
            await app.prompt("b")
        async with runtime(plugins=[lab], provider="", model="lab/one", no_session=False, continue_session=True) as app:
            await app.prompt("c")
            await app.runtime.choice.set_model("lab/one")
            await app.prompt("d")

    asyncio.run(run())
    assert lab.names == ["one", "two", "two", "two", "one"]


def test_when_all_are_left_alone_the_target_is_asked(runtime: Open, settings: Any) -> None:
    settings()
    lab = Lab(one=BUSY, two=BUSY, three=BUSY)
    prompts(runtime, lab, "a", "b")
    assert lab.names == ["one", "two", "three", "one"]


@pytest.mark.parametrize("how", ["flag", "variable", "setting"])
def test_it_can_be_switched_off(run_prompt: Run, settings: Any, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    settings(**({"enabled": False} if how == "setting" else {}))
    if how == "variable":
        monkeypatch.setenv("ZOT_NO_FALLBACK", "1")
    lab = Lab(one=BUSY)
    flags = {"no-model-fallback": True} if how == "flag" else {}
    run_prompt("Hi", plugins=[lab], provider="", model="lab/one", flags=flags)
    assert lab.names == ["one"]


# --- /fallback ----------------------------------------------------------------------------------------------------


def stored(world: Any) -> Any:
    text = (world.home / "settings.json").read_text(encoding="utf-8")
    return json.loads(text)["plugins"]["model_fallback"]


def test_the_command_saves_a_chain_that_holds_at_once(runtime: Open, world: Any) -> None:
    lab = Lab(one=BUSY)
    front = prompts(runtime, lab, "/fallback lab/one two:max lab/three", "Hi")
    assert stored(world)["chains"] == {"lab/one": ["lab/two:max", "lab/three"]}
    assert lab.names == ["one", "two"]
    assert "lab/one -> lab/two:max -> lab/three" in notes(front)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("lab/one", "at least one fallback"),
        ("lab/one lab/nope", "'lab/nope' is no known model"),
        ("lab/one lab/two:loud", "its level, one of off"),
        ("lab/none lab/two", "'lab/none'"),
        ("lab/one:high lab/two", "cannot name a thinking level"),
        ("lab/one lab/one:low", "itself"),
        ("lab/one lab/two lab/two:low", "twice"),
        ("--revert tomorrow", "--revert"),
        ("--remove lab/one", "no chain"),
    ],
)
def test_nothing_is_saved_that_cannot_be_meant(runtime: Open, world: Any, words: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        prompts(runtime, Lab(), f"/fallback {words}")
    assert not (world.home / "settings.json").exists()


def test_alone_it_shows_the_chains_and_how_they_stand(runtime: Open, settings: Any) -> None:
    settings()
    front = prompts(runtime, Lab(one=BUSY), "Hi", "/fallback")
    shown = notes(front)[-1]
    assert "lab/one [overloaded, left alone for 30 s more] -> lab/two:low -> lab/three" in shown
    assert "cooldown-expiry" in shown


def test_chains_are_removed_switched_and_their_policy_is_set(runtime: Open, settings: Any, world: Any) -> None:
    settings()
    lab = Lab(one=BUSY)
    front = prompts(runtime, lab, "/fallback --revert never", "/fallback --off", "a", "/fallback --on", "b")
    assert lab.names == ["one", "one", "two"]
    assert (stored(world)["revert"], stored(world)["enabled"]) == ("never", True)
    assert any("Off: plugins.model_fallback.enabled" in note for note in notes(front))
    prompts(runtime, lab, "/fallback --remove lab/one")
    assert stored(world)["chains"] == {}


def test_how_long_depends_on_the_failure() -> None:
    assert seconds_for(Failure(kind="rate_limit", message="", retryable=True, retry_after=600)) == 600
    assert seconds_for(Failure(kind="rate_limit", message="", retryable=True)) == 60
    assert seconds_for(Failure(kind="rate_limit", message="")) == 3600, "an account without credit"
    assert seconds_for(Failure(kind="bad_request", message="", status=404)) == 3600, "a model that is not there"
    assert seconds_for(Failure(kind="refused", message="")) == 0 and may_fall_back(Failure(kind="refused", message=""))
    assert not may_fall_back(Failure(kind="bad_request", message="", status=400))


def test_a_broken_section_is_passed_by(run_prompt: Run, world: Any, settings: Any) -> None:
    settings({"lab/one": "lab/two", "lab/two": []})
    lab = Lab(one=BUSY)
    run_prompt("Hi", plugins=[lab], provider="", model="lab/one")
    assert lab.names == ["one"]
    assert Path(world.home / "settings.json").exists()

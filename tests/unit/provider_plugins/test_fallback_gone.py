"""Fallback chains whose models do not all exist, and the example that their page gives."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from zot_core import ModelSpec, ProviderSpec, hookimpl
from zot_core.models.registry import ModelRegistry
from zot_core.testing import RecordingFrontEnd
from zot_core.types.failure import Failure
from zot_core.types.stream import Done, Failed, TextDelta
from zot_plugins.model_fallback import chains
from zot_plugins.model_fallback.cooldowns import Cooldowns
from zot_plugins.providers.plugin import providers

Run = Callable[..., RecordingFrontEnd]
BUSY = Failure(kind="overloaded", message="busy")
SPENT = Failure(kind="rate_limit", message="no credit")
PAGE = Path(__file__).parents[3] / "docs" / "providers" / "fallback.md"


@pytest.fixture(autouse=True)
def own_cooldowns(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(chains.Chains.__init__, "__defaults__", (Cooldowns(),))
    yield


class Acme:
    """Two models, `a` and `b`; those in `down` fail with that failure."""

    def __init__(self, **down: Failure) -> None:
        self.down = down
        self.sent: list[str] = []

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        self.sent.append(request.model.id)
        if failure := self.down.get(request.model.id):
            yield Failed(failure)
        else:
            yield TextDelta(f"I am {request.model.id}")
            yield Done("end_turn")

    @hookimpl
    def providers(self) -> ProviderSpec:
        models = tuple(ModelSpec(id=name, provider="acme") for name in ("a", "b"))
        return ProviderSpec(id="acme", keyless=True, models=models, stream=self.stream)


@pytest.fixture
def ask(run_prompt: Run, world: Any) -> Run:
    """A prompt to acme/a, which has this chain."""

    def call(acme: Acme, *chain: str) -> RecordingFrontEnd:
        section = {"plugins": {"model_fallback": {"chains": {"acme/a": list(chain)}}}}
        (world.home / "settings.json").write_text(json.dumps(section), encoding="utf-8")
        return run_prompt("Hi", plugins=[acme], provider="", model="acme/a")

    return call


def notes(ran: RecordingFrontEnd) -> list[str]:
    return [note.text for note in ran.notes if note.source == "model_fallback"]


@pytest.mark.parametrize("gone", ["acme/gone", "acme/gone:high", "nobody/x"])
def test_a_fallback_that_does_not_exist_is_skipped_with_a_notice(ask: Run, gone: str) -> None:
    acme = Acme(a=BUSY)
    ran = ask(acme, gone, "acme/b")
    assert ran.answer == "I am b" and acme.sent == ["a", "b"]
    assert notes(ran) == [
        f"{gone} in the chain of acme/a is no known model: it is skipped",
        "acme/a cannot answer (overloaded); acme/b does instead",
    ]


@pytest.mark.parametrize("chain", [("acme/gone", "acme/b"), ("acme/b", "acme/gone")])
def test_at_its_end_the_chain_lists_it_and_keeps_the_failures_of_the_others(ask: Run, chain: tuple[str, ...]) -> None:
    end = ask(Acme(a=BUSY, b=SPENT), *chain).end
    assert end is not None and end.failure is not None
    assert end.failure.kind == "rate_limit" and "no credit" in end.failure.message
    assert "at its end: acme/a (overloaded), acme/b (rate limit), acme/gone (unknown model)" in end.failure.message


def test_a_chain_of_unknown_models_alone_fails_as_its_first_model_did(ask: Run) -> None:
    end = ask(Acme(a=BUSY), "acme/gone").end
    assert end is not None and end.failure is not None
    assert end.failure.kind == "overloaded" and "busy" in end.failure.message


def test_without_a_failure_nothing_is_said_of_it(ask: Run) -> None:
    ran = ask(Acme(), "acme/gone", "acme/b")
    assert ran.answer == "I am a" and notes(ran) == []


def test_the_models_of_the_example_exist() -> None:
    registry = ModelRegistry()
    registry.add_providers(("providers", spec) for spec in providers())
    line = re.search(r"^/fallback (\S+/.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert line is not None
    for word in line[1].split():
        assert registry.resolve("", word).model.id == word.partition("/")[2].partition(":")[0]

"""Fallback chains with real servers, in print and JSON: the second one answers, and its format is not the first's."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mock_provider import replies_google as google
from mock_provider.server import MockServer, error, text

RETRY = {"attempts": 1}


@pytest.fixture
def two(zot_home: Path) -> Any:
    """Two servers, `first` of Chat Completions and `second` of Gemini, and a chain from one to the other."""

    def write(first: MockServer, second: MockServer) -> None:
        providers = {
            "first": {"api": "openai-completions", "baseUrl": first.url, "models": [{"id": "m"}]},
            "second": {
                "api": "google-generative-ai",
                "baseUrl": second.url.removesuffix("/v1"),
                "models": [{"id": "g"}],
            },
        }
        (zot_home / "models.json").write_text(json.dumps({"providers": providers}), encoding="utf-8")
        chains = {"chains": {"first/m": ["second/g"]}}
        settings = {"retry": RETRY, "plugins": {"model_fallback": chains}}
        (zot_home / "settings.json").write_text(json.dumps(settings), encoding="utf-8")

    return write


def test_print_answers_with_the_second_and_says_so_on_stderr(zot: Any, two: Any) -> None:
    with (
        MockServer([error(503, "overloaded")]) as first,
        MockServer([google.answer(google.text("Second."), model="g")]) as second,
    ):
        two(first, second)
        done = zot("--provider", "first", "--model", "m", "-p", "Hi")
    assert (done.code, done.out) == (0, "Second.\n"), done.err
    assert "second/g does instead" in done.err
    assert not first.refusals and not second.refusals


def test_json_has_the_notice_the_retry_and_the_cost_of_one_run(zot: Any, two: Any) -> None:
    with (
        MockServer([error(503, "overloaded")]) as first,
        MockServer([google.answer(google.text("Second."), model="g")]) as second,
    ):
        two(first, second)
        done = zot("--provider", "first", "--model", "m", "--json", "Hi")
    assert done.code == 0
    assert "ext_notify" in done.types and "retry" in done.types
    assert done.types.count("assistant_message") == 1 and done.types[-1] == "done"


def test_at_its_end_the_run_fails_with_the_last_kind(zot: Any, two: Any) -> None:
    with MockServer([error(503, "overloaded")]) as first, MockServer([error(503, "overloaded")]) as second:
        two(first, second)
        done = zot("--provider", "first", "--model", "m", "-p", "Hi")
    assert done.code == 75 and done.out == ""
    assert "chain of first/m is at its end" in done.err


def test_the_flag_switches_it_off(zot: Any, two: Any) -> None:
    with MockServer([error(503, "overloaded")]) as first, MockServer([text("never")]) as second:
        two(first, second)
        done = zot("--provider", "first", "--model", "m", "--no-model-fallback", "-p", "Hi")
    assert done.code == 75 and not second.requests


def test_the_command_works_without_a_screen(zot: Any, two: Any, zot_home: Path) -> None:
    with MockServer() as first, MockServer() as second:
        two(first, second)
        done = zot("-p", "/fallback second/g first/m:low")
    assert (done.code, done.out) == (0, "second/g -> first/m:low\n"), done.err
    chains = json.loads((zot_home / "settings.json").read_text())["plugins"]["model_fallback"]["chains"]
    assert chains == {"first/m": ["second/g"], "second/g": ["first/m:low"]}


def test_a_run_without_chains_does_not_load_them() -> None:
    import subprocess

    code = (
        "import sys, zot_plugins.model_fallback.plugin\n"
        "assert 'zot_plugins.model_fallback.chains' not in sys.modules and 'pydantic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

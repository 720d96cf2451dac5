"""Thinking levels that are remembered across sessions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zot_core.config.levels import MOST, keep_level, kept_level
from zot_core.config.paths import Paths
from zot_core.config.problems import SaveRefused


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    found = Paths(tmp_path / "home")
    found.ensure()
    return found


def test_each_model_has_its_own(paths: Paths) -> None:
    assert kept_level(paths, "p/one", None) == (None, [])
    keep_level(paths, "p/one", "high", None)
    keep_level(paths, "p/two", "off", None)
    keep_level(paths, "p/one", "low", None)
    assert kept_level(paths, "p/one", None) == ("low", [])
    assert kept_level(paths, "p/two", None) == ("off", [])
    assert paths.thinking.stat().st_mode & 0o777 == 0o600


def test_settings_that_changed_since_are_the_last_word(paths: Paths) -> None:
    keep_level(paths, "p/one", "high", "medium")
    assert kept_level(paths, "p/one", "medium") == ("high", [])
    assert kept_level(paths, "p/one", "low") == (None, [])
    assert kept_level(paths, "p/one", None) == (None, [])


@pytest.mark.parametrize("text", ["{", "[]", '{"p/one": 3}', '{"p/one": {"level": "huge", "settings": null}}'])
def test_a_file_that_is_not_ours_is_reported_or_passed_over_and_never_lost(paths: Paths, text: str) -> None:
    paths.thinking.write_text(text, encoding="utf-8")
    level, problems = kept_level(paths, "p/one", None)
    assert level is None
    broken = not text.startswith('{"')
    assert bool(problems) is broken
    if broken:
        with pytest.raises(SaveRefused, match=r"thinking\.json"):
            keep_level(paths, "p/one", "high", None)
        assert paths.thinking.read_text(encoding="utf-8") == text


def test_it_does_not_grow_for_ever(paths: Paths) -> None:
    rows = {f"p/{number}": {"level": "low", "settings": None} for number in range(MOST)}
    paths.thinking.write_text(json.dumps(rows), encoding="utf-8")
    keep_level(paths, "p/new", "high", None)
    found = json.loads(paths.thinking.read_text(encoding="utf-8"))
    assert len(found) == MOST and "p/0" not in found and found["p/new"]["level"] == "high"

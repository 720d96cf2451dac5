"""models.json: what can be meant is kept, what cannot is named and left out; a bad file costs nothing but itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zot_core.config.models_json import read_models_json


def test_a_missing_file_is_no_models(tmp_path: Path) -> None:
    assert read_models_json(tmp_path / "models.json") == ({}, [])


def test_providers_and_models_come_as_written(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    provider = {"api": "openai-completions", "baseUrl": "http://h/v1", "apiKey": "$K", "headers": {"a": "b"},
                "compat": {"x": True}, "models": [{"id": "m", "contextWindow": 1000, "extra": 1}]}  # fmt: skip
    file.write_text(json.dumps({"providers": {"acme": provider}}))
    assert read_models_json(file) == ({"acme": provider}, [])


def test_the_go_zots_names_of_formats_are_understood(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    file.write_text('{"providers": {"a": {"api": "openai", "models": [{"id": "m", "api": "anthropic"}]}}} // mine')
    found, problems = read_models_json(file)
    assert problems == []
    assert found["a"]["api"] == "openai-completions"
    assert found["a"]["models"][0]["api"] == "anthropic-messages"


@pytest.mark.parametrize("text", ["{", "[]", '{"providers": []}', '{"providers": {"a": 1}'])
def test_a_bad_file_is_named_and_ignored(tmp_path: Path, text: str) -> None:
    file = tmp_path / "models.json"
    file.write_text(text)
    found, (problem,) = read_models_json(file)
    assert found == {}
    assert (problem.level, problem.file, problem.line) == ("error", str(file), 1)
    assert file.read_text() == text


def test_a_bad_entry_costs_only_itself(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    file.write_text(
        '{"providers": {\n"bad": 3,\n"good": {"baseUrl": 5,\n"models": [{"name": "no id"}, {"id": "m"}, 7]}\n}}'
    )
    found, problems = read_models_json(file)
    assert found == {"good": {"models": [{"id": "m"}]}}
    assert [problem.line for problem in problems] == [2, 3, 4, 4]

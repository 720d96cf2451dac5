"""Misspelt keys of models.json are named with their line; wrong kinds of settings are said in plain words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from zot_core.config import schema
from zot_core.config.models_json import read_models_json


def test_misspelt_keys_of_models_json_are_named(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    file.write_text(
        '{"provders": {},\n"providers": {"p": {\n"modls": [],\n"baseURL": "http://h",\n"models": [\n'
        '{"id": "m", "contextwindow": 5, "theirs": 1}],\n"modelOverrides": {"o": {\n"maxToken": 3}}}}}'
    )
    found, problems = read_models_json(file)
    assert found["p"]["models"] == [{"id": "m", "contextwindow": 5, "theirs": 1}]
    assert [(p.level, p.line, p.message) for p in problems] == [
        ("warning", 1, "unknown key 'provders'; did you mean 'providers'? It is ignored"),
        ("warning", 3, "p: unknown key 'modls'; did you mean 'models'? It is ignored"),
        ("warning", 4, "p: unknown key 'baseURL'; did you mean 'baseUrl'? It is ignored"),
        ("warning", 5, "p/m: unknown key 'contextwindow'; did you mean 'contextWindow'? It is ignored"),
        ("warning", 8, "p/o: unknown key 'maxToken'; did you mean 'maxTokens'? It is ignored"),
    ]


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("theme", 3, "'theme': must be a text"),
        ("max_steps", "many", "'max_steps': must be a whole number"),
        ("max_steps", 0, "'max_steps': must be greater than or equal to 1"),
        ("disabled_plugins", "x", "'disabled_plugins': must be a list"),
        ("disabled_plugins", ["x", 2], "'disabled_plugins': item 2 must be a text"),
        ("http", 3, "'http': must be an object"),
        ("http", {"verify_tls": "no"}, "'http.verify_tls': must be true or false"),
        ("reasoning", "hgih", "'reasoning': must be 'off', "),
    ],
)
def test_a_wrong_kind_is_said_in_plain_words(key: str, value: Any, says: str) -> None:
    said = schema.why_wrong((key,), value)
    assert said is not None
    assert said.startswith(says)

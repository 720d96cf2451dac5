"""A model belongs to the provider that it was named with: a layer that names another provider leaves it behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zot_core.config.paths import Paths
from zot_core.config.settings import load_settings


@pytest.mark.parametrize(
    ("home", "project", "expected"),
    [
        ({"provider": "a", "model": "m"}, {"provider": "b"}, ("b", "")),
        ({"provider": "a", "model": "m"}, {"provider": "a"}, ("a", "m")),
        ({"provider": "a", "model": "m"}, {"provider": "b", "model": "n"}, ("b", "n")),
        ({"provider": "a", "model": "m"}, {"model": "n"}, ("a", "n")),
        ({"model": "m"}, {"provider": "b"}, ("b", "")),
    ],
)
def test_which_model_is_meant(
    isolated: Path, tmp_path: Path, home: dict[str, str], project: dict[str, str], expected: tuple[str, str]
) -> None:
    paths = Paths.find()
    paths.ensure()
    paths.settings.write_text(json.dumps(home))
    (tmp_path / ".zot").mkdir()
    (tmp_path / ".zot/settings.json").write_text(json.dumps(project))
    values = load_settings(paths, tmp_path).values
    assert (values.provider, values.model) == expected

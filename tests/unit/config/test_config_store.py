"""CF-01, saving: nothing is lost, whatever the file looks like, whoever else writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from zot_core.config import files
from zot_core.config.paths import Paths
from zot_core.config.problems import SaveRefused
from zot_core.config.settings import load_settings
from zot_core.config.store import SettingsStore
from zot_core.types.failure import UsageError

COMMENTED = """\
{
  // my settings
  "model": "old", // for now
  "modle": "typo, but mine",
  "plugins": {"x": {"deep": [1, 2,],},},
}
"""


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "home")


@pytest.fixture
def store(paths: Paths) -> SettingsStore:
    paths.ensure()
    return SettingsStore(paths)


def test_comments_unknown_keys_and_layout_are_kept(paths: Paths, store: SettingsStore) -> None:
    paths.settings.write_text(COMMENTED)
    store.set("model", "new")
    assert paths.settings.read_text() == COMMENTED.replace('"old"', '"new"')
    store.set("theme", "dark")
    store.set("plugins.x.on", True)
    text = paths.settings.read_text()
    assert "// my settings" in text
    assert '"modle": "typo, but mine"' in text
    loaded = load_settings(paths)
    assert loaded.values.theme == "dark"
    assert loaded.section("x") == {"deep": [1, 2], "on": True}


@pytest.mark.parametrize(
    "text", ['{"model": "x" "theme": "y"}', "[1, 2]", '"text"', "{", '{"a": 1}}', "null", "{'model': 'x'}"]
)
def test_a_file_that_does_not_parse_is_never_overwritten(paths: Paths, store: SettingsStore, text: str) -> None:
    paths.settings.write_text(text)
    with pytest.raises(SaveRefused, match="nothing was saved") as caught:
        store.set("model", "new")
    assert str(paths.settings) in str(caught.value)
    with pytest.raises(SaveRefused):
        store.unset("model")
    assert paths.settings.read_text() == text
    assert [p.name for p in paths.home.iterdir() if p.name.startswith(".")] == []


def test_bytes_that_are_no_text_are_kept(paths: Paths, store: SettingsStore) -> None:
    paths.settings.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(SaveRefused, match="UTF-8"):
        store.set("model", "new")
    assert paths.settings.read_bytes() == b'{"a": "\xff"}'


@pytest.mark.parametrize("text", ["", "// later\n", "{}", "\ufeff{}", "\ufeff"])
def test_an_empty_file_can_be_saved_to(paths: Paths, store: SettingsStore, text: str) -> None:
    paths.settings.write_text(text)
    store.set("model", "new")
    assert load_settings(paths).values.model == "new"
    assert paths.settings.read_text().startswith(text.rstrip("{}\n"))


def test_a_missing_file_and_home_are_made_private(paths: Paths) -> None:
    SettingsStore(paths).set("model", "new")
    assert json.loads(paths.settings.read_text()) == {"model": "new"}
    assert paths.settings.stat().st_mode & 0o777 == 0o600
    assert paths.home.stat().st_mode & 0o777 == 0o700


def test_a_link_stays_a_link_and_the_mode_stays(paths: Paths, store: SettingsStore, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "zot.json"
    real.parent.mkdir()
    real.write_text(COMMENTED)
    real.chmod(0o640)
    paths.settings.symlink_to(real)
    store.set("model", "new")
    assert paths.settings.is_symlink()
    assert real.read_text() == COMMENTED.replace('"old"', '"new"')
    assert real.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in real.parent.iterdir()] == ["zot.json"]


def test_unset_uncovers_the_layer_below(paths: Paths, store: SettingsStore) -> None:
    paths.go_config.write_text('{"model": "below"}')
    paths.settings.write_text(COMMENTED)
    store.unset("model")
    assert load_settings(paths).values.model == "below"
    assert "// my settings" in paths.settings.read_text()


def test_the_project_has_its_own_file(paths: Paths, store: SettingsStore, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    store.set("model", "here", "project", project)
    assert not paths.settings.exists()
    assert json.loads((project / ".zot/settings.json").read_text()) == {"model": "here"}
    assert [p.name for p in (project / ".zot").iterdir()] == ["settings.json"]
    with pytest.raises(UsageError, match="home settings"):
        store.set("allow_replacing", ["read"], "project", project)


def test_the_spelling_of_the_file_is_used(paths: Paths, store: SettingsStore) -> None:
    paths.settings.write_text('{"thinking": "low"}')
    store.set("reasoning", "high")
    assert paths.settings.read_text() == '{"thinking": "high"}'


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("modle", "x", "did you mean 'model'"),
        ("max_steps", "x", "whole number"),
        ("retry.attempts", 0, "greater than or equal to 1"),
        ("retry", 3, "object"),
        ("model", {1, 2}, "not JSON"),
        ("", 1, "not the name"),
        ("a..b", 1, "not the name"),
    ],
)
def test_a_wrong_value_is_refused_before_anything_is_touched(
    paths: Paths, store: SettingsStore, key: str, value: object, says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        store.set(key, value)
    assert not paths.settings.exists()


def test_two_processes_that_change_different_keys_lose_nothing(paths: Paths, store: SettingsStore) -> None:
    paths.settings.write_text(COMMENTED)
    script = (
        "import sys; from pathlib import Path\n"
        "from zot_core.config.paths import Paths; from zot_core.config.store import SettingsStore\n"
        "store = SettingsStore(Paths(Path(sys.argv[1])))\n"
        "for n in range(20): store.set(('plugins', sys.argv[2], f'k{n}'), n)\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", script, str(paths.home), name]) for name in ("one", "two")]
    assert [process.wait(60) for process in running] == [0, 0]
    loaded = load_settings(paths)
    wanted = {f"k{n}": n for n in range(20)}
    assert loaded.section("one") == wanted
    assert loaded.section("two") == wanted
    assert "// my settings" in paths.settings.read_text()


def test_a_lock_that_somebody_keeps_is_named_and_the_file_stays(
    paths: Paths, store: SettingsStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths.settings.write_text(COMMENTED)
    monkeypatch.setattr(files, "LOCK_TIMEOUT", 0.0)
    with files.locked(paths.settings, paths.cache / "locks"), pytest.raises(SaveRefused, match="another zot"):
        store.set("model", "new")
    assert paths.settings.read_text() == COMMENTED


def test_a_write_that_fails_leaves_the_old_file_and_no_rest(
    paths: Paths, store: SettingsStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths.settings.write_text(COMMENTED)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SaveRefused, match="No space left"):
        store.set("model", "new")
    assert paths.settings.read_text() == COMMENTED
    assert sorted(p.name for p in paths.home.iterdir()) == ["cache", "settings.json"]


def test_a_home_that_cannot_be_written_refuses_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SaveRefused, match="not saved"):
        SettingsStore(Paths(tmp_path / "file" / "home")).set("model", "x")

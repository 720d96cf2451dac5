"""Where the home is, for every platform and environment that cli.md names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from zot_core.config.paths import Paths, expand_path, find_home
from zot_core.types.failure import ZotError

HOME = {"HOME": "/home/ada"}


@pytest.mark.parametrize(
    ("env", "platform", "expected"),
    [
        ({**HOME}, "linux", "/home/ada/.local/state/zot"),
        ({**HOME}, "darwin", "/home/ada/Library/Application Support/zot"),
        ({**HOME, "LOCALAPPDATA": "/c/Local"}, "win32", "/c/Local/zot"),
        ({**HOME, "XDG_STATE_HOME": "/state"}, "linux", "/state/zot"),
        ({**HOME, "XDG_STATE_HOME": "/state"}, "darwin", "/state/zot"),
        ({**HOME, "XDG_STATE_HOME": "/state", "LOCALAPPDATA": "/c/Local"}, "win32", "/state/zot"),
        ({**HOME, "XDG_STATE_HOME": "/state", "ZOT_HOME": "/z"}, "linux", "/z"),
        ({**HOME, "ZOT_HOME": "~/z"}, "linux", "/home/ada/z"),
        ({**HOME, "ZOT_HOME": "~"}, "linux", "/home/ada"),
        ({**HOME, "ZOT_HOME": "$HOME/z"}, "linux", "/home/ada/z"),
        ({**HOME, "ZOT_HOME": "${HOME}/z\n"}, "linux", "/home/ada/z"),
        ({**HOME, "ZOT_HOME": "", "XDG_STATE_HOME": " "}, "linux", "/home/ada/.local/state/zot"),
        ({**HOME, "ZOT_HOME": " \n"}, "darwin", "/home/ada/Library/Application Support/zot"),
    ],
)
def test_home_follows_environment_and_platform(env: dict[str, str], platform: str, expected: str) -> None:
    assert find_home(env, platform) == Path(expected)


def test_a_relative_home_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_home({"ZOT_HOME": "z"}, "linux") == tmp_path / "z"


def test_a_variable_that_is_not_set_is_refused_by_name() -> None:
    with pytest.raises(ZotError, match=r"\$NOWHERE, which is not set"):
        find_home({**HOME, "ZOT_HOME": "$NOWHERE/z"}, "linux")


def test_an_unknown_user_is_refused() -> None:
    with pytest.raises(ZotError, match="no-such-user-at-all"):
        expand_path("~no-such-user-at-all/x", HOME)


def test_every_name_is_below_the_home(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    assert {p.relative_to(tmp_path).as_posix() for p in _all(paths)} == {
        "settings.json", "config.json", "auth.json", "models.json", "trust.json", "sessions", "extensions", "plugins",
        "skills", "prompts", "themes", "thinking.json", "logs", "cache", "cache/boot.json", "SYSTEM.md",
    }  # fmt: skip


def _all(paths: Paths) -> list[Path]:
    return [getattr(paths, name) for name in dir(Paths) if isinstance(getattr(Paths, name), property)]


def test_a_new_home_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert Paths(tmp_path / "a" / "zot").ensure() == []
    finally:
        os.umask(before)
    assert (tmp_path / "a" / "zot").stat().st_mode & 0o777 == 0o700


def test_a_home_that_is_there_keeps_its_mode_and_is_reported(tmp_path: Path) -> None:
    home = tmp_path / "zot"
    home.mkdir()
    home.chmod(0o755)
    (home / "auth.json").write_text("{}")
    (home / "auth.json").chmod(0o644)
    assert Paths(home).ensure() == []
    assert home.stat().st_mode & 0o777 == 0o755
    found = Paths(home).check_modes()
    assert [p.file for p in found] == [str(home), str(home / "auth.json")]
    assert "chmod 600" in found[1].message


def test_a_home_that_cannot_be_made_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (problem,) = Paths(tmp_path / "file" / "zot").ensure()
    assert problem.level == "warning"
    assert "cannot be created" in problem.message

"""Manifests and where they are found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from zot_core.plugins.rank import EXPLICIT, PROJECT, USER
from zot_plugins.extension_bridge.finding import Found, find_extensions
from zot_plugins.extension_bridge.manifest import ManifestError, check_name, read_manifest


def write(folder: Path, text: Any, *files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    data = text if isinstance(text, bytes) else (text if isinstance(text, str) else json.dumps(text)).encode()
    (folder / "extension.json").write_bytes(data)
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")
    return folder


def test_a_whole_manifest(tmp_path: Path) -> None:
    given = {
        "name": "weather",
        "version": "1.0.0",
        "exec": "./weather",
        "args": ["--mode", "daemon"],
        "language": "go",
        "description": "current weather",
        "skills": ["skills"],
        "enabled": False,
        "homepage": "x",
    }
    found = read_manifest(write(tmp_path / "w", b"\xef\xbb\xbf" + json.dumps(given).encode(), "themes/theme.json"))
    assert (found.name, found.version, found.exec, found.args) == (
        "weather",
        "1.0.0",
        "./weather",
        ("--mode", "daemon"),
    )
    assert (found.language, found.description, found.enabled) == ("go", "current weather", False)
    assert found.skill_paths == (tmp_path / "w" / "skills",)
    assert found.theme == tmp_path / "w" / "themes/theme.json"
    assert found.unknown == ("homepage",)
    assert found.runs


def test_what_is_left_out_or_null_has_its_default(tmp_path: Path) -> None:
    found = read_manifest(write(tmp_path, {"name": "a", "exec": "./a", "args": None, "enabled": None, "skills": None}))
    assert (found.version, found.args, found.enabled, found.skills, found.theme) == ("", (), True, (), None)


@pytest.mark.parametrize(
    ("files", "more"), [(("theme.json",), {}), (("themes/theme.json",), {}), ((), {"skills": ["s"]})]
)
def test_a_bundle_needs_no_program(tmp_path: Path, files: tuple[str, ...], more: dict[str, Any]) -> None:
    assert not read_manifest(write(tmp_path, {"name": "a", **more}, *files)).runs


@pytest.mark.parametrize(
    ("text", "field", "words"),
    [
        ("{", "", "is not JSON"),
        ("[" * 100_000, "", "is not JSON"),
        (b"\xff", "", "is not UTF-8"),
        ("[]", "", "must hold a JSON object"),
        ("{}", "name", "is required"),
        ({"name": 7}, "name", "must be text, not a number"),
        ({"name": " "}, "name", "must not be empty"),
        ({"name": "a/../b"}, "name", "cannot be part of a file's name"),
        ({"name": "..", "exec": "x"}, "name", "cannot be part of a file's name"),
        ({"name": "a\nb"}, "name", "cannot be shown"),
        ({"name": "x" * 65}, "name", "longer than 64"),
        ({"name": "a"}, "exec", "is required"),
        ({"name": "a", "exec": ["x"]}, "exec", "must be text, not a list"),
        ({"name": "a", "exec": "x\0"}, "exec", "NUL"),
        ({"name": "a", "exec": "x", "args": "y"}, "args", "must be a list of texts, not text"),
        ({"name": "a", "exec": "x", "args": ["y", 1]}, "args[1]", "must be text, not a number"),
        ({"name": "a", "skills": [""]}, "skills[0]", "must not be empty"),
        ({"name": "a", "exec": "x", "enabled": "no"}, "enabled", "must be true or false, not text"),
        ({"name": "a", "exec": "x", "version": 1}, "version", "must be text, not a number"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_field(tmp_path: Path, text: Any, field: str, words: str) -> None:
    with pytest.raises(ManifestError, match=r".") as caught:
        read_manifest(write(tmp_path, text))
    assert caught.value.field == field
    assert words in caught.value.problem
    where = f"{tmp_path / 'extension.json'}: " + (f"{field}: " if field else "")
    assert str(caught.value).startswith(where)


def test_a_folder_without_one_says_so(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"there is no extension\.json"):
        read_manifest(tmp_path)
    with pytest.raises(ManifestError, match="there is no such folder"):
        read_manifest(tmp_path / "none")


@pytest.mark.parametrize("name", ["a", "hello-py", "Über 2", "a.b", "日本"])
def test_names_that_are_fine(name: str) -> None:
    assert check_name(name) is None


def brief(found: list[Found], root: Path) -> list[tuple[str, str, int, str]]:
    return [(str(one.folder.relative_to(root)), one.name, one.tier, one.skipped) for one in found]


@pytest.fixture
def places(tmp_path: Path) -> Path:
    run = {"exec": "./x"}
    write(tmp_path / "work/one", {"name": "one", **run})
    write(tmp_path / "work/two", {"name": "both", "enabled": False, **run})
    write(tmp_path / "work/.zot/extensions/b", {"name": "both", **run})
    write(tmp_path / "work/.zot/extensions/off", {"name": "off", "enabled": False, **run})
    write(tmp_path / "work/.zot/extensions/p", {"name": "shared", **run})
    write(tmp_path / "home/extensions/off", {"name": "off", **run})
    write(tmp_path / "home/extensions/s", {"name": "shared", **run})
    write(tmp_path / "home/extensions/broken", "{")
    write(tmp_path / "home/extensions/_left", {"name": "left", **run})
    write(tmp_path / "home/extensions/.git", {"name": "git", **run})
    (tmp_path / "home/extensions/empty").mkdir()
    (tmp_path / "home/extensions/file").write_text("x")
    return tmp_path


def test_the_line_then_the_project_then_the_home(places: Path) -> None:
    found = find_extensions(((3, "two"), (1, "./one/extension.json")), places / "work", True, places / "home")
    assert brief(found, places) == [
        ("work/one", "one", EXPLICIT, ""),
        ("work/two", "both", EXPLICIT, ""),
        ("work/.zot/extensions/b", "both", PROJECT, "shadowed"),
        ("work/.zot/extensions/off", "off", PROJECT, "disabled"),
        ("work/.zot/extensions/p", "shared", PROJECT, ""),
        ("home/extensions/broken", "broken", USER, ""),
        ("home/extensions/off", "off", USER, "shadowed"),
        ("home/extensions/s", "shared", USER, "shadowed"),
    ]
    assert [one.position for one in found[:2]] == [1, 3]
    assert found[2].shadowed_by == places / "work/two"
    assert found[5].error is not None and found[5].manifest is None
    assert [one.enabled for one in found] == [True, False, True, False, True, True, True, True]


def test_without_trust_the_project_counts_for_nothing(places: Path) -> None:
    found = find_extensions((), places / "work", False, places / "home")
    assert brief(found, places) == [
        ("work/.zot/extensions/b", "both", PROJECT, "untrusted"),
        ("work/.zot/extensions/off", "off", PROJECT, "untrusted"),
        ("work/.zot/extensions/p", "shared", PROJECT, "untrusted"),
        ("home/extensions/broken", "broken", USER, ""),
        ("home/extensions/off", "off", USER, ""),
        ("home/extensions/s", "shared", USER, ""),
    ]


def test_only_those_of_the_line(places: Path) -> None:
    found = find_extensions(((0, str(places / "work/one")), (1, "gone")), places / "work", True, places / "home", True)
    assert brief(found, places) == [("work/one", "one", EXPLICIT, ""), ("work/gone", "gone", EXPLICIT, "")]
    assert "there is no such folder" in str(found[1].error)


def test_a_home_that_is_the_projects_folder_is_looked_at_once(places: Path) -> None:
    found = find_extensions((), places / "work", True, places / "work" / ".zot")
    assert brief(found, places) == [
        ("work/.zot/extensions/b", "both", USER, ""),
        ("work/.zot/extensions/off", "off", USER, "disabled"),
        ("work/.zot/extensions/p", "shared", USER, ""),
    ]

"""The boot snapshot is never wrong: fresh it saves the work, and every change of a source is seen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from zot_core.config.boot import BootCache, entry_points
from zot_core.config.paths import Paths
from zot_core.config.settings import load_settings


def later() -> int:
    """A clock that is ahead, so that files written just now are not young any more."""
    return time.time_ns() + 60_000_000_000


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    found = Paths(tmp_path / "home")
    found.ensure()
    return found


def cache(paths: Paths, version: str = "1") -> BootCache:
    return BootCache(paths.boot, version, later)


class Count:
    def __init__(self, value: object = "made") -> None:
        self.value, self.calls = value, 0

    def __call__(self) -> object:
        self.calls += 1
        return self.value


def started(paths: Paths, source: Path, version: str = "1") -> int:
    """How often a new process would have to build."""
    build = Count()
    kept = cache(paths, version)
    assert kept.cached("x", [source], build) == "made"
    assert kept.save() == []
    return build.calls


def replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_text("two")
    os.utime(other, ns=(0, path.stat().st_mtime_ns))
    other.replace(path)


def backdated(path: Path) -> None:
    before = path.stat().st_mtime_ns
    path.write_text("two")
    os.utime(path, ns=(before, before))


CHANGES: dict[str, Callable[[Path], object]] = {
    "other text": lambda path: path.write_text("three"),
    "same size": lambda path: path.write_text("two"),
    "touched": lambda path: os.utime(path),
    "deleted": lambda path: path.unlink(),
    "replaced, same time and size": replace,
    "same time and size": backdated,
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_source_that_changed_is_read_again(paths: Paths, tmp_path: Path, change: str) -> None:
    source = tmp_path / "source"
    source.write_text("one")
    assert started(paths, source) == 1
    assert started(paths, source) == 0
    CHANGES[change](source)
    assert started(paths, source) == 1
    assert started(paths, source) == 0


def test_a_source_that_appears_is_seen(paths: Paths, tmp_path: Path) -> None:
    source = tmp_path / "source"
    assert [started(paths, source), started(paths, source)] == [1, 0]
    source.write_text("one")
    assert started(paths, source) == 1


def test_a_source_behind_a_link_is_followed(paths: Paths, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    (tmp_path / "b").write_text("one")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "a")
    assert [started(paths, link), started(paths, link)] == [1, 0]
    link.unlink()
    link.symlink_to(tmp_path / "b")
    assert started(paths, link) == 1


def test_another_version_believes_nothing(paths: Paths, tmp_path: Path) -> None:
    assert started(paths, tmp_path / "s", "1") == 1
    assert started(paths, tmp_path / "s", "2") == 1
    assert started(paths, tmp_path / "s", "2") == 0


def test_a_file_changed_just_now_is_not_believed_yet(paths: Paths, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_text("one")
    young = BootCache(paths.boot, "1", lambda: source.stat().st_mtime_ns + 1)
    young.cached("x", [source], Count())
    assert not young.dirty


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff\xfe", b'{"made_by": 1}', b"[" * 100_000, b"null"])
def test_a_broken_snapshot_is_made_anew_without_a_word(paths: Paths, tmp_path: Path, text: bytes) -> None:
    paths.cache.mkdir(parents=True)
    paths.boot.write_bytes(text)
    assert [started(paths, tmp_path / "s"), started(paths, tmp_path / "s")] == [1, 0]


def test_broken_sections_are_made_anew(paths: Paths) -> None:
    paths.settings.write_text('{"model": "x", "modle": "y"}')
    first = cache(paths)
    assert load_settings(paths, cache=first).values.model == "x"
    first.save()
    whole = json.loads(paths.boot.read_text())
    for bad in (3, {"sources": 1}, None, [], "x"):
        for value in (True, False):
            broken = json.loads(json.dumps(whole))
            for name, section in broken["sections"].items():
                broken["sections"][name] = {**section, "value": bad} if value else bad
            paths.boot.write_text(json.dumps(broken))
            loaded = load_settings(paths, cache=cache(paths))
            assert loaded.values.model == "x"
            assert len(loaded.problems) == 1
            assert entry_points(cache(paths), path=[]) == []


def test_settings_from_the_snapshot_are_the_same_and_their_problems_too(paths: Paths, tmp_path: Path) -> None:
    (tmp_path / "p/.zot").mkdir(parents=True)
    (tmp_path / "p/.zot/settings.json").write_text('{"theme": "t", "max_steps": "x"}')
    paths.settings.write_text('{"model": "x", "modle": 1, "disabled_plugins": ["a"], "plugins": {"p": {"q": [1]}}}')
    paths.go_config.write_text('{"reasoning": "low"}')
    first = cache(paths)
    before = load_settings(paths, tmp_path / "p", cache=first)
    first.save()
    after = load_settings(paths, tmp_path / "p", cache=cache(paths))
    assert after == before == load_settings(paths, tmp_path / "p")
    paths.settings.write_text("{}")
    assert load_settings(paths, tmp_path / "p", cache=cache(paths)).values.model == ""


def test_the_snapshot_is_private_and_leaves_nothing_beside_it(paths: Paths, tmp_path: Path) -> None:
    started(paths, tmp_path / "s")
    assert paths.boot.stat().st_mode & 0o777 == 0o600
    assert paths.cache.stat().st_mode & 0o777 == 0o700
    assert [p.name for p in paths.cache.iterdir()] == ["boot.json"]


def test_writers_at_once_keep_each_others_sections(paths: Paths, tmp_path: Path) -> None:
    one, two = cache(paths), cache(paths)
    one.cached("one", [tmp_path / "s"], Count())
    two.cached("two", [tmp_path / "s"], Count())
    one.save()
    two.save()
    build = Count()
    reader = cache(paths)
    reader.cached("one", [tmp_path / "s"], build)
    reader.cached("two", [tmp_path / "s"], build)
    assert build.calls == 0


def test_many_writers_at_once_leave_a_whole_file(paths: Paths) -> None:
    script = (
        "import sys; from pathlib import Path; from zot_core.config.boot import BootCache\n"
        "for n in range(30):\n"
        "    c = BootCache(Path(sys.argv[1])); c.cached(f'{sys.argv[2]}{n}', [], lambda: 'x' * 5000)\n"
        "    assert not c.save()\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", script, str(paths.boot), name]) for name in ("a", "b")]
    while any(process.poll() is None for process in running):
        if paths.boot.exists():
            json.loads(paths.boot.read_text())
    assert [process.returncode for process in running] == [0, 0]


def test_a_home_that_cannot_be_written_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    paths = Paths(tmp_path / "file" / "home")
    kept = cache(paths)
    assert kept.cached("x", [], Count()) == "made"
    (problem,) = kept.save()
    assert problem.level == "warning"
    assert load_settings(paths, cache=cache(paths)).values.model == ""


def test_the_number_of_sections_is_bounded(paths: Paths) -> None:
    kept = cache(paths)
    for n in range(200):
        kept.cached(f"s{n}", [], Count())
    kept.save()
    names = list(json.loads(paths.boot.read_text())["sections"])
    assert len(names) == 64
    assert names[-1] == "s199"


def install(site: Path, name: str, points: str) -> None:
    folder = site / f"{name}-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(points)


def test_an_installed_package_is_found_and_a_removed_one_forgotten(paths: Paths, tmp_path: Path) -> None:
    site, other = tmp_path / "site", tmp_path / "other"
    install(site, "one", "[zot]\nguard = one:plugin\n[other]\nx = y\n")
    other.mkdir()
    path = [str(site), str(other)]

    def now() -> list[tuple[str, str, str]]:
        kept = cache(paths)
        found = entry_points(kept, path=path)
        kept.save()
        return found

    assert now() == now() == [("guard", "one:plugin", "one")]
    install(other, "two", "[zot]\nmore = two\n")
    assert now() == [("guard", "one:plugin", "one"), ("more", "two", "two")]
    install(other, "one", "[zot]\nguard = shadowed\n")
    assert ("guard", "shadowed", "one") not in now()
    (other / "two-1.0.dist-info/METADATA").unlink()
    (other / "two-1.0.dist-info/entry_points.txt").unlink()
    (other / "two-1.0.dist-info").rmdir()
    assert now() == [("guard", "one:plugin", "one")]


def test_two_ways_of_starting_keep_each_other_s_entry_points(paths: Paths, tmp_path: Path) -> None:
    site, extra = tmp_path / "site", tmp_path / "extra"
    install(site, "one", "[zot]\nguard = one:plugin\n")
    extra.mkdir()
    for path in ([str(site)], [str(extra), str(site)]):
        kept = cache(paths)
        entry_points(kept, path=path)
        kept.save()
    for path in ([str(site)], [str(extra), str(site)]):
        kept = cache(paths)
        assert entry_points(kept, path=path) == [("guard", "one:plugin", "one")]
        assert not kept.dirty, "it was scanned again"

"""Context files: which are found, in which order, once each, and what a bad one does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from zot_core.types.specs import SessionFacts
from zot_plugins.context_files import plugin
from zot_plugins.context_files.reader import MAX_BYTES, ContextFiles


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "above/repo/.git").mkdir(parents=True)
    (tmp_path / "above/repo/pkg/deep").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    return tmp_path / "above/repo"


def texts(cwd: Path, home: Path | str = "") -> list[str]:
    return [section.text for section in ContextFiles(cwd, home).sections()]


def test_from_the_home_and_the_root_down_to_the_cwd(repo: Path) -> None:
    home = repo.parent.parent / "home"
    for folder, name in (
        (home, "AGENTS.md"),
        (repo.parent, "AGENTS.md"),
        (repo, "CLAUDE.md"),
        (repo / "pkg/deep", "AGENTS.md"),
    ):
        (folder / name).write_text(f"{folder.name}\n")
    sections = ContextFiles(repo / "pkg/deep", home).sections()
    assert [s.text for s in sections] == ["home", "repo", "deep"]
    assert [s.path for s in sections][1] == str(repo / "CLAUDE.md")
    assert {s.kind for s in sections} == {"context_file"}


def test_agents_wins_over_claude_in_one_folder(repo: Path) -> None:
    (repo / "CLAUDE.md").write_text("claude")
    assert texts(repo) == ["claude"]
    (repo / "AGENTS.md").write_text("agents")
    assert texts(repo) == ["agents"]


def test_outside_of_a_repository_only_the_cwd_counts(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/AGENTS.md").write_text("above")
    (tmp_path / "a/b/AGENTS.md").write_text("here")
    assert texts(tmp_path / "a/b") == ["here"]


def test_a_worktrees_git_file_is_a_root(tmp_path: Path) -> None:
    (tmp_path / "tree/sub").mkdir(parents=True)
    (tmp_path / "tree/.git").write_text("gitdir: elsewhere")
    (tmp_path / "tree/AGENTS.md").write_text("root")
    assert texts(tmp_path / "tree/sub") == ["root"]


def test_one_file_by_several_ways_is_there_once(repo: Path) -> None:
    home = repo.parent.parent / "home"
    (repo / "AGENTS.md").write_text("once")
    (repo / "pkg/AGENTS.md").symlink_to(repo / "AGENTS.md")
    (home / "AGENTS.md").symlink_to(repo / "AGENTS.md")
    assert texts(repo / "pkg", home) == ["once"]
    assert texts(repo, repo) == ["once"]


def test_a_link_that_leads_nowhere_and_a_folder_are_passed_over(repo: Path) -> None:
    (repo / "AGENTS.md").symlink_to(repo / "gone")
    (repo / "CLAUDE.md").write_text("claude")
    (repo / "pkg/AGENTS.md").mkdir()
    assert texts(repo / "pkg") == ["claude"]


def test_an_empty_file_says_nothing(repo: Path) -> None:
    (repo / "AGENTS.md").write_text(" \n")
    assert texts(repo) == []


def test_a_large_file_is_cut_with_a_notice(repo: Path) -> None:
    (repo / "AGENTS.md").write_text("é" * MAX_BYTES)
    (text,) = texts(repo)
    assert len(text.encode()) < MAX_BYTES + 200
    assert text.endswith("[Cut here: these are the first 64 KiB of 128; read the file for the rest]")
    (repo / "AGENTS.md").write_text("x" + "é" * MAX_BYTES)
    (text,) = texts(repo)
    assert "\ufffd" not in text
    (repo / "AGENTS.md").write_text("x" * MAX_BYTES)
    assert texts(repo) == ["x" * MAX_BYTES]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("\ufeffüber\r\nzwei\r\n".encode(), "über\nzwei"),
        ("über".encode("utf-16"), "über"),
        (b"caf\xe9", "caf\ufffd\n[Some bytes of this file are not UTF-8; \ufffd stands for them]"),
        ("fine \ufffd".encode(), "fine \ufffd"),
        (b"\x7fELF\0\0\1", "[This file was left out: it is not text]"),
    ],
)
def test_every_encoding_gives_text_or_says_why_not(repo: Path, data: bytes, text: str) -> None:
    (repo / "AGENTS.md").write_bytes(data)
    assert texts(repo) == [text]


def test_what_is_no_regular_file_is_not_waited_for(repo: Path) -> None:
    os.mkfifo(repo / "AGENTS.md")
    assert texts(repo) == ["[This file could not be read: it is not a regular file]"]


def test_a_file_that_cannot_be_read_says_so(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / "AGENTS.md").write_text("x")

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    assert texts(repo) == ["[This file could not be read: Permission denied]"]


def test_a_change_is_seen_and_an_unchanged_file_is_not_read_again(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / "AGENTS.md").write_text("one")
    files = ContextFiles(repo)
    first = files.sections()
    opened: list[Path] = []
    real = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *a, **k: opened.append(self) or real(self, *a, **k))
    assert files.sections() == first
    assert opened == []
    (repo / "AGENTS.md").write_text("other")
    assert [s.text for s in files.sections()] == ["other"]
    (repo / "AGENTS.md").unlink()
    assert files.sections() == []


@pytest.mark.parametrize("trusted", [True, False])
def test_they_load_whether_or_not_the_project_is_trusted(repo: Path, trusted: bool) -> None:
    (repo / "AGENTS.md").write_text("rules")
    (source,) = plugin.prompt_sources(SessionFacts(cwd=str(repo), mode="print", trusted=trusted))
    assert [section.text for section in source.read()] == ["rules"]

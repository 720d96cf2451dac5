"""Lists cost by what they show, and every session is found (faults SE-05, SE-07)."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import pytest

from zot_core.session.errors import SessionLocked, SessionNotFound
from zot_core.session.find import find_session, plan_prune, remove_session
from zot_core.session.listing import SessionInfo, latest, list_sessions, read_info
from zot_core.session.naming import file_name, project_slug
from zot_core.session.session import Session
from zot_core.types.content import Image, Text
from zot_core.types.messages import AssistantMessage, UserMessage


def made(root: Path, cwd: str, *said: str, at: float = 0.0, name: str | None = None) -> Path:
    """A session with these prompts, last used at `at`."""
    with Session.create(root, cwd) as session:
        for text in said:
            message = UserMessage(content=(Text(text),), time=at) if at else UserMessage(content=(Text(text),))
            session.append_message(message)
        if name is not None:
            session.append("session_info", {"name": name, "messages": len(said)}, time=at or None)
        assert session.path is not None
        return session.path


def test_a_row_tells_what_a_person_looks_for(tmp_path: Path) -> None:
    path = made(tmp_path, "/proj", 'find "the"\nbug', "more", at=5000.0, name="bugs")
    (row,) = list_sessions(tmp_path)
    assert (row.path, row.cwd, row.name, row.preview) == (path, "/proj", "bugs", 'find "the"\nbug')
    assert row.updated == 5000.0 and row.messages == 2 and not row.estimated and not row.problem
    assert row.size == path.stat().st_size and row.created > 0 and row.id in path.name
    assert row.title == "bugs"
    made(tmp_path, "/proj", "no\nname", at=6000.0)
    assert list_sessions(tmp_path)[0].title == "no name"


def test_the_last_used_comes_first_and_projects_are_told_apart(tmp_path: Path) -> None:
    old, new, other = (
        made(tmp_path, "/a", "x", at=10.0),
        made(tmp_path, "/a", "y", at=30.0),
        made(tmp_path, "/b", "z", at=20.0),
    )
    assert [row.path for row in list_sessions(tmp_path)] == [new, other, old]
    assert [row.path for row in list_sessions(tmp_path, "/a")] == [new, old]
    found = latest(tmp_path, "/a")
    assert found is not None and found.path == new
    assert latest(tmp_path, "/c") is None and list_sessions(tmp_path / "nowhere") == []


def test_a_session_whose_directory_is_gone_is_listed_and_opens(tmp_path: Path) -> None:
    project = tmp_path / "with blank\nand newline"
    project.mkdir()
    path = made(tmp_path / "sessions", str(project), "hello")
    project.rmdir()
    (row,) = list_sessions(tmp_path / "sessions")
    assert row.cwd == str(project) and not row.problem
    with Session.open(row.path) as session:
        assert session.cwd == str(project) and session.path == path
    found = latest(tmp_path / "sessions", str(project))
    assert found is not None and found.path == path


def test_name_and_count_are_found_in_a_long_session_wherever_they_were_set(tmp_path: Path) -> None:
    with Session.create(tmp_path, "/proj") as session:
        for number in range(400):
            session.append_message(UserMessage(content=(Text(f"{number} " + "x" * 300),)))
            if number == 200:
                session.set_name("named in the middle")
        path = session.path
        assert path is not None and path.stat().st_size > 100_000
        row = read_info(path)  # while it is still open, as after a crash
    assert row is not None
    assert (row.name, row.messages, row.estimated) == ("named in the middle", 400, False)
    assert row.preview.startswith("0 x")


def test_a_long_foreign_session_gets_an_estimate(tmp_path: Path) -> None:
    path = made(tmp_path, "/proj", "first")
    line = path.read_bytes().splitlines()[-1]
    body = b"".join(line.replace(b'"id":"', b'"id":"%d-' % number) + b"\n" for number in range(2000))
    path.write_bytes(path.read_bytes() + body)
    row = read_info(path)
    assert row is not None and row.estimated and 1000 < row.messages < 3000


def test_the_preview_of_a_huge_first_prompt_is_its_beginning(tmp_path: Path) -> None:
    row = read_info(made(tmp_path, "/proj", 'begin "é€" \\ ' + "é\n" * 100_000))
    assert row is not None and row.preview.startswith('begin "é€" \\ é\né') and len(row.preview) == 200
    with Session.create(tmp_path, "/proj") as session:
        session.append_message(UserMessage(content=(Image("image/png", "A" * 100_000), Text("see"))))
        assert session.path is not None
        row = read_info(session.path)
    assert row is not None and row.preview == "" and row.title == row.id


def test_bad_files_are_listed_with_what_is_wrong_and_hide_no_other(tmp_path: Path) -> None:
    good = made(tmp_path, "/proj", "good")
    folder = good.parent
    broken = folder / file_name("broken", 0.0)
    broken.write_bytes(b"\x00" * 100)
    newer = folder / file_name("newer", 0.0)
    newer.write_bytes(good.read_bytes().replace(b'"version":1', b'"version":9'))
    (folder / file_name("empty", 0.0)).touch()
    (folder / file_name("folder", 0.0)).mkdir()
    (folder / "notes.txt").write_text("x")
    (tmp_path / "stray").write_text("x")
    problems = {row.path: row.problem for row in list_sessions(tmp_path)}
    assert problems[good] == "" and "damaged" in problems[broken] and "newer" in problems[newer]
    assert len(problems) == 4
    found = latest(tmp_path, "/proj")
    assert found is not None and found.path == good


def test_a_list_of_thousands_with_a_giant_is_quick_and_small(tmp_path: Path) -> None:
    template = made(tmp_path, "/proj", "hello", "again").read_bytes()
    folder = tmp_path / project_slug("/many")
    folder.mkdir()
    for number in range(3000):
        (folder / file_name(f"{number:012x}", float(number))).write_bytes(template)
    giant = folder / file_name("giant", 0.0)
    giant.write_bytes(template)
    with giant.open("r+b") as file:
        file.seek(300_000_000)  # a hole: no line of it ends within 300 MB
        file.write(b"\n" + template)
    tracemalloc.start()
    begin = time.process_time()
    rows = list_sessions(tmp_path)
    took = time.process_time() - begin
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(rows) == 3002 and all(not row.problem for row in rows)
    assert peak < 20_000_000
    assert took < 5  # about 0.3 s without tracemalloc on the project's machine; this only catches reading it all


def test_the_name_of_a_project_folder_is_readable_safe_and_its_own() -> None:
    assert project_slug("/home/me/zot").startswith("home-me-zot-")
    paths = [
        "/a/b",
        "/a-b",
        "/a b",
        "/a\nb",
        "/a/b/",
        "/a\udcff",
        "/a\ud800",
        "/-a",
        "/",
        "/" + "x" * 5000,
        "/ü",
        "/..",
        "/.",
    ]
    slugs = [project_slug(path) for path in paths]
    assert len(set(slugs)) == len(paths)
    for slug in slugs:
        assert len(slug) <= 80 and slug.isascii() and slug.isprintable()
        assert slug[0] not in "-." and not set(slug) & set('/\\ :*?"<>|')


def test_a_session_is_found_by_path_id_and_beginning_of_id(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    paths = {id: folder / file_name(id, 0.0) for id in ("abc111", "abc222", "abc", "fff999")}
    source = made(tmp_path, "/proj", "the prompt")
    for path in paths.values():
        path.write_bytes(source.read_bytes())
    assert find_session(tmp_path, "fff") == paths["fff999"]
    assert find_session(tmp_path, "abc") == paths["abc"]
    assert find_session(tmp_path, str(source)) == source
    assert find_session(tmp_path, f"./p/{paths['abc'].name}", cwd=tmp_path) == paths["abc"]
    assert find_session(tmp_path, paths["abc"].name, cwd=folder) == paths["abc"]
    with pytest.raises(SessionNotFound, match=r"more than one.*\n  abc1?.*the prompt"):
        find_session(tmp_path, "ab")
    with pytest.raises(SessionNotFound, match=r"near ones:\n  fff999"):
        find_session(tmp_path, "fff998")
    with pytest.raises(SessionNotFound, match="the newest ones"):
        find_session(tmp_path, "qqqqqq")
    with pytest.raises(SessionNotFound, match="no session file"):
        find_session(tmp_path, "/nowhere.jsonl")
    with pytest.raises(SessionNotFound, match="no sessions yet"):
        find_session(tmp_path / "none", "abc")
    with pytest.raises(SessionNotFound):
        find_session(tmp_path, "")


def row(id: str, updated: float, cwd: str = "/a", name: str | None = None, problem: str = "") -> SessionInfo:
    return SessionInfo(path=Path(id), id=id, cwd=cwd, updated=updated, name=name, problem=problem, size=10)


def test_pruning_is_planned_before_anything_goes() -> None:
    rows = [
        row("new", 1000),
        row("old", 100),
        row("older", 50),
        row("named", 10, name="keep me"),
        row("odd", 10, problem="damaged"),
        row("other", 100, cwd="/b"),
    ]

    def gone(**limits: float | int | bool) -> list[str]:
        return [info.id for info in plan_prune(rows, now=1000.0, **limits).remove]  # type: ignore[arg-type]

    assert gone() == []
    assert gone(older_than=500) == ["old", "other", "older"]
    assert gone(keep_last=1) == ["old", "older"]
    assert gone(older_than=500, keep_last=2) == ["older"]
    assert gone(older_than=500, named=True) == ["old", "other", "older", "named"]
    plan = plan_prune(rows, now=1000.0, older_than=500)
    assert plan.size == 30 and len(plan.keep) == 3


def test_an_open_session_is_not_removed(tmp_path: Path) -> None:
    path = made(tmp_path, "/proj", "x")
    with Session.open(path), pytest.raises(SessionLocked):
        remove_session(path)
    assert path.exists()
    path.with_name(path.name + ".torn").write_bytes(b"x")
    remove_session(path)
    assert list(path.parent.iterdir()) == []


def test_a_fork_is_listed_with_where_it_came_from(tmp_path: Path) -> None:
    with Session.create(tmp_path, "/proj") as session:
        session.append_message(UserMessage(content=(Text("a"),)))
        session.append_message(AssistantMessage(content=(Text("b"),)))
        session.fork(None, "at").close()
        assert {row.parent_session for row in list_sessions(tmp_path)} == {None, session.id}

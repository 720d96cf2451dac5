"""Damaged files: all that can be read is there, it is told once, and what comes after is whole (faults SE-01)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zot_core.session.errors import SessionError, SessionTooNew
from zot_core.session.session import Session
from zot_core.types.content import Text
from zot_core.types.messages import UserMessage


def said(text: str) -> UserMessage:
    return UserMessage(content=(Text(text),))


def texts(session: Session) -> list[str]:
    return [block.text for message in session.messages() for block in message.content if isinstance(block, Text)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A session of four messages in a chain; the last one ends in characters of several bytes."""
    with Session.create(tmp_path, "/proj") as session:
        for text in ("one", "two", "three", "four €€€€"):
            session.append_message(said(text))
        assert session.path is not None
        return session.path


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def assert_whole(path: Path, expected: list[str]) -> None:
    """Resume, say one thing, quit, resume again: old and new are there in one chain, and nothing is told any more."""
    with Session.open(path) as session:
        assert texts(session) == expected
        assert session.repair is None and session.notices() == []
        session.append_message(said("after"))
    with Session.open(path) as session:
        assert texts(session) == [*expected, "after"]
        chain = [entry for entry in session.branch() if entry.kind == "message"]
        assert [entry.parent_id for entry in chain] == [None, *(entry.id for entry in chain[:-1])]
    for line in path.read_bytes().splitlines():
        json.loads(line)


@pytest.mark.parametrize("cut", [20, 9], ids=["in-json", "in-a-character"])
def test_a_torn_last_line_is_cut_off_and_kept_aside(path: Path, cut: int) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    torn = lines(path)[-1]
    with Session.open(path) as session:
        assert texts(session) == ["one", "two", "three"]
        assert session.repair is not None and session.repair.cut == len(torn)
        assert session.notices() == [session.repair.message] and session.notices() == []
        aside = path.with_name(session.repair.kept_in)
        assert aside.read_bytes() == torn + b"\n" and aside.stat().st_mode & 0o777 == 0o600
        assert aside.name in session.repair.message
    assert_whole(path, ["one", "two", "three"])


def test_a_missing_newline_loses_nothing(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])
    assert_whole(path, ["one", "two", "three", "four €€€€"])
    assert not list(path.parent.glob("*.torn"))


@pytest.mark.parametrize("blanks", [b"   ", b"\n", b"\n  \n\t", b" \n"])
def test_trailing_blanks_lose_nothing(path: Path, blanks: bytes) -> None:
    path.write_bytes(path.read_bytes() + blanks)
    with Session.open(path) as session:
        session.append_message(said("next"))
        assert session.repair is None
    kept = [line for line in path.read_bytes().splitlines() if line.strip()]
    assert len(kept) == 6 and all(json.loads(line) for line in kept)
    with Session.open(path) as session:
        assert texts(session)[-2:] == ["four €€€€", "next"]


def test_a_damaged_line_in_the_middle_is_left_out_and_told_once(path: Path) -> None:
    parts = lines(path)
    parts[2] = parts[2][:-30] + b"\x00\xff" * 10 + b"\n"
    path.write_bytes(b"".join(parts))
    with Session.open(path) as session:
        assert texts(session) == ["one", "three", "four €€€€"]
        assert session.repair is not None and session.repair.skipped == (len(parts[0]) + len(parts[1]),)
        assert len(session.notices()) == 1
        first, third, *_ = session.branch()
        assert third.parent_id == first.id
    with Session.open(path) as session:
        assert session.repair is None and session.notices() == []
        assert texts(session) == ["one", "three", "four €€€€"]
    assert parts[2] in path.read_bytes()


def test_children_of_an_unreadable_line_follow_what_stood_before_it(path: Path) -> None:
    parts = lines(path)
    parts[2] = b"\x00" * len(parts[2][:-1]) + b"\n"
    path.write_bytes(b"".join(parts))
    with Session.open(path) as session:
        assert texts(session) == ["one", "three", "four €€€€"]


def test_a_branch_whose_start_is_lost_hangs_at_the_right_place(tmp_path: Path) -> None:
    with Session.create(tmp_path, "/proj") as session:
        root = session.append_message(said("root"))
        session.append_message(said("left"))
        session.append_message(said("left end"))
        session.navigate(root.id)
        session.append_message(said("right"))
        session.append_message(said("right end"))
        path = session.path
    assert path is not None
    parts = lines(path)
    index = next(i for i, part in enumerate(parts) if b'"right"' in part)
    parts[index] = parts[index][:-20] + b"\n"
    path.write_bytes(b"".join(parts))
    with Session.open(path) as session:
        assert texts(session) == ["root", "right end"]


def test_a_record_that_was_glued_to_a_torn_one_is_read(path: Path) -> None:
    parts = lines(path)
    path.write_bytes(b"".join([*parts[:2], parts[2][:-15] + parts[3], parts[4]]))
    with Session.open(path) as session:
        assert texts(session) == ["one", "three", "four €€€€"]
        assert session.repair is not None
        for entry in session.entries():
            assert entry.data
    with Session.open(path) as session:
        assert session.repair is None and texts(session) == ["one", "three", "four €€€€"]


def test_a_fork_of_a_damaged_session_is_whole(path: Path) -> None:
    parts = lines(path)
    path.write_bytes(b"".join([*parts[:2], b"garbage\n", *parts[3:]]))
    with Session.open(path) as session, session.fork(None, "at") as fork:
        assert texts(fork) == ["one", "three", "four €€€€"]
        assert fork.repair is None


def test_a_damaged_header_costs_only_the_header(path: Path) -> None:
    parts = lines(path)
    path.write_bytes(b"".join([b"\x00" * 40 + b"\n", *parts[1:]]))
    with Session.open(path) as session:
        assert session.id == path.stem.split("_")[1] and session.cwd == ""
        assert texts(session) == ["one", "two", "three", "four €€€€"]
        assert session.repair is not None


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"hello\n", b'{"a": 1}\n{"b": 2}\n', b'{"kind":"sess', b"\xff\xfe\x00"]
)
def test_a_file_that_is_no_session_is_refused_and_not_touched(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(SessionError, match=r"x\.jsonl") as caught:
        Session.open(path)
    assert caught.value.failure.kind == "session"
    assert path.read_bytes() == content and [item.name for item in tmp_path.iterdir()] == ["x.jsonl"]


def test_a_missing_file_and_a_folder_are_named_with_the_systems_words(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match=r"nowhere\.jsonl.*No such file"):
        Session.open(tmp_path / "nowhere.jsonl")
    with pytest.raises(SessionError, match="Is a directory"):
        Session.open(tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [(b'"version":1', b'"version":2'), (b'"parent_id":null,', b'"parent_id":null,"v":2,')],
    ids=["header", "record"],
)
def test_what_a_newer_zot_wrote_is_refused_and_left_alone(path: Path, old: bytes, new: bytes) -> None:
    path.write_bytes(path.read_bytes().replace(old, new, 1) + b'{"torn')
    before = path.read_bytes()
    with pytest.raises(SessionTooNew, match=r"newer zot.*update zot"):
        Session.open(path)
    assert path.read_bytes() == before
    assert not list(path.parent.glob("*.lock"))


def test_unknown_kinds_are_kept_and_are_steps(path: Path) -> None:
    with Session.open(path) as session:
        odd = session.append("session-hold", {"key": "k", "v2": [1]})
        session.append_message(said("five"))
    with Session.open(path) as session:
        entry = session.entry(odd.id)
        assert entry is not None and entry.kind == "session-hold" and dict(entry.data) == {"key": "k", "v2": [1]}
        assert texts(session)[-1] == "five" and entry in session.branch()
        with session.fork(None, "at") as fork:
            copy = fork.entry(odd.id)
            assert copy is not None and copy.data == entry.data


def test_a_message_of_an_unknown_shape_is_left_out_and_told(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"type":"text","text":"two"', b'"type":"film","text":"two"'))
    with Session.open(path) as session:
        assert texts(session) == ["one", "three", "four €€€€"]
        assert len(session.notices()) == 1


def test_a_second_header_in_the_file_hides_nothing(path: Path) -> None:
    parts = lines(path)
    path.write_bytes(b"".join([*parts, parts[0]]))
    with Session.open(path) as session:
        assert texts(session) == ["one", "two", "three", "four €€€€"]


def test_a_file_that_goes_away_or_changes_while_it_is_open_is_noticed(path: Path) -> None:
    with Session.open(path) as session:
        with path.open("ab") as other:
            other.write(b"no newline")
        session.append_message(said("five"))
        assert len(session.notices()) == 1 and session.notices() == []
        assert texts(session)[-1] == "five"
        path.unlink()
        with pytest.raises(SessionError, match="deleted"):
            session.append_message(said("six"))

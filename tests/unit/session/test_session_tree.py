"""A session as its users see it: entries, branches, messages, names, labels, models, forks; in a file and in memory."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zot_core.session.errors import SessionError
from zot_core.session.session import Session
from zot_core.types.content import Text
from zot_core.types.failure import UsageError
from zot_core.types.messages import AssistantMessage, CustomMessage, UserMessage


def user(text: str) -> UserMessage:
    return UserMessage(content=(Text(text),))


def answer(text: str, **fields: Any) -> AssistantMessage:
    return AssistantMessage(content=(Text(text),), **fields)


def texts(session: Session) -> list[str]:
    return [
        "".join(block.text for block in message.content if isinstance(block, Text)) for message in session.messages()
    ]


def lines(session: Session) -> list[dict[str, Any]]:
    assert session.path is not None
    return [json.loads(line) for line in session.path.read_bytes().splitlines()]


def again(session: Session) -> Session:
    """The same session after a restart; one in memory as it is."""
    if session.path is None or not session.is_stored:
        return session
    session.close()
    return Session.open(session.path)


@pytest.fixture(params=["file", "memory"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Session]:
    made = Session.create(tmp_path / "sessions", "/proj") if request.param == "file" else Session.memory("/proj")
    yield made
    made.close()


def test_a_session_in_which_nothing_was_said_leaves_no_file(tmp_path: Path) -> None:
    with Session.create(tmp_path / "sessions", "/proj") as session:
        session.append_model("openai", "gpt")
        session.append_thinking("high")
        session.set_name("name")
        session.append_custom("state", {}, bookkeeping=True)
        assert not session.is_stored and session.path is not None and session.id in session.path.name
        session.sync()
    assert not (tmp_path / "sessions").exists()


def test_the_first_prompt_makes_the_file_with_all_that_came_before(tmp_path: Path) -> None:
    with Session.create(tmp_path / "home" / "sessions", "/proj") as session:
        session.append_model("openai", "gpt")
        session.append_message(user("hello"))
        assert [line["kind"] for line in lines(session)] == ["session", "model_change", "message"]
        assert session.path is not None
        assert stat.S_IMODE(session.path.stat().st_mode) == 0o600
        for folder in session.path.parents[:3]:
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert lines(session)[0] == {
            "kind": "session",
            "version": 1,
            "id": session.id,
            "cwd": "/proj",
            "created": session.created,
        }


def test_an_entry_is_in_the_file_when_append_returns(tmp_path: Path) -> None:
    with Session.create(tmp_path, "/proj") as session:
        for number in range(3):
            entry = session.append_message(user(str(number)))
            assert lines(session)[-1]["id"] == entry.id
            assert lines(session)[-1]["message"]["content"][0]["text"] == str(number)


def test_entries_form_a_chain(session: Session) -> None:
    first = session.append_message(user("a"))
    second = session.append_message(answer("b"))
    third = session.append_custom("mine", {"x": 1})
    session = again(session)
    assert [entry.id for entry in session.branch()] == [first.id, second.id, third.id]
    assert [entry.parent_id for entry in session.branch()] == [None, first.id, second.id]
    assert session.leaf_id == third.id and session.entry(third.id) is not None
    assert dict(session.branch()[-1].data) == {"custom_type": "mine", "data": {"x": 1}}
    assert texts(session) == ["a", "b"]
    session.close()


def test_an_id_is_used_once(session: Session) -> None:
    message = user("a")
    session.append_message(message)
    with pytest.raises(ValueError, match=message.id):
        session.append_message(message)


def test_navigating_leaves_the_other_branch_and_is_remembered(session: Session) -> None:
    root = session.append_message(user("a"))
    left = session.append_message(answer("left"))
    session.navigate(root.id)
    assert texts(session) == ["a"]
    session = again(session)
    assert session.leaf_id == root.id
    right = session.append_message(answer("right"))
    session = again(session)
    assert texts(session) == ["a", "right"]
    assert [entry.id for entry in session.children()[root.id]] == [left.id, right.id]
    assert [entry.id for entry in session.branch(left.id)] == [root.id, left.id]
    session.navigate(None)
    assert session.leaf_id is None and session.messages() == []
    session.append_message(user("anew"))
    assert texts(session) == ["anew"]
    with pytest.raises(UsageError, match="nowhere"):
        session.navigate("nowhere")
    session.close()


def test_names_and_labels_last_and_are_no_steps(session: Session) -> None:
    entry = session.append_message(user("a"))
    session.set_name("first")
    session.set_name("second")
    label = session.set_label(entry.id, "here")
    other = session.append_message(answer("b"))
    session.set_label(other.id, "gone")
    session.set_label(other.id, None)
    session = again(session)
    assert session.name == "second"
    assert session.labels == {entry.id: "here"}
    assert session.leaf_id == other.id and session.branch()[-1].parent_id == entry.id
    with pytest.raises(UsageError):
        session.navigate(label.id)
    with pytest.raises(UsageError):
        session.set_label("nowhere", "x")
    session.set_name("")
    assert again(session).name is None


def test_model_and_thinking_are_those_of_the_branch(session: Session) -> None:
    assert session.last_model() is None and session.last_thinking() is None
    root = session.append_message(user("a"))
    session.append_message(answer("b", provider="p", model="answered"))
    assert session.last_model() == ("p", "answered")
    session.append_model("openai", "gpt")
    session.append_thinking("high")
    session = again(session)
    assert session.last_model() == ("openai", "gpt") and session.last_thinking() == "high"
    session.navigate(root.id)
    assert session.last_model() is None and session.last_thinking() is None
    session.close()


def test_people_see_display_and_models_the_message(session: Session) -> None:
    plain = session.append_message(answer("same"), display="same")
    changed = session.append_message(answer("key=sk-1"), display="key=***")
    withheld = session.append_message(answer("secret"), display=None)
    asked = session.append_message(user("question"), display="question")
    session = again(session)
    assert [session.display_of(entry.id) for entry in (plain, changed, withheld, asked)] == [
        "same",
        "key=***",
        None,
        "question",
    ]
    assert [entry.withheld for entry in session.branch()] == [False, False, True, False]
    assert texts(session) == ["same", "key=sk-1", "secret", "question"]
    assert "display" not in session.branch()[0].data and "display" in session.branch()[2].data
    assert session.display_of("nowhere") is None
    session.close()


def test_custom_messages_are_read_by_models(session: Session) -> None:
    message = session.append_custom_message("note", [Text("n")], display=False, details={"a": 1})
    session.append_custom("state", {"b": 2})
    session = again(session)
    assert session.messages() == [message] and isinstance(message, CustomMessage)
    assert session.branch()[0].kind == "custom_message"
    session.close()


def test_a_compaction_stands_for_what_was_before(session: Session) -> None:
    session.append_message(user("old"))
    kept = session.append_message(user("kept"))
    session.append("compaction", {"summary": "sum", "first_kept_entry_id": kept.id, "tokens_before": 9})
    session.append_message(answer("new"))
    assert texts(session) == ["sum", "kept", "new"]
    session = again(session)
    assert texts(session) == ["sum", "kept", "new"]
    assert [entry.kind for entry in session.context_entries()] == ["compaction", "message", "message"]
    assert len(session.branch()) == 4
    session.append("compaction", {"summary": "all", "first_kept_entry_id": "unknown", "tokens_before": 9})
    assert texts(session) == ["all"]
    session.close()


def test_messages_are_the_same_objects_until_they_have_to_be_read_again(session: Session) -> None:
    message = user("a")
    session.append_message(message)
    assert session.messages()[0] is message
    session.messages().clear()
    assert session.messages()[0] is message


@pytest.mark.parametrize("position", ["before", "at"])
def test_a_fork_begins_with_the_branch(session: Session, position: Any) -> None:
    session.append_model("openai", "gpt")
    first = session.append_message(user("a"))
    session.append_message(answer("elsewhere"))
    session.navigate(first.id)
    second = session.append_message(answer("b", usage=None))
    session.set_label(first.id, "here")
    session.append_message(user("c"))
    fork = session.fork(second.id, position)
    with fork:
        assert texts(fork) == (["a"] if position == "before" else ["a", "b"])
        assert fork.id != session.id and fork.cwd == "/proj" and fork.labels == {first.id: "here"}
        assert fork.parent_session == {"id": session.id, "path": session.file, "entry_id": second.id}
        assert fork.last_model() == ("openai", "gpt")
        fork.append_message(user("other way"))
        if session.path is not None:
            assert fork.path is not None and fork.path.parent == session.path.parent
            assert not list(fork.path.parent.glob("*.new"))
    assert texts(session) == ["a", "b", "c"]


def test_a_fork_before_the_first_prompt_is_empty_and_has_no_file_yet(tmp_path: Path) -> None:
    with Session.create(tmp_path, "/proj") as session:
        first = session.append_message(user("a"))
        fork = session.fork(first.id)
        assert not fork.is_stored and fork.messages() == []
        fork.append_message(user("b"))
        assert lines(fork)[0]["parent_session"]["entry_id"] == first.id
        fork.close()
        with pytest.raises(UsageError):
            session.fork("nowhere")


def test_a_fork_may_live_elsewhere(tmp_path: Path) -> None:
    with Session.create(tmp_path / "one", "/proj") as session:
        session.append_message(user("a"))
        assert session.path is not None
        with (
            Session.open(session.path, readonly=True) as reading,
            reading.fork(None, "at", root=tmp_path / "two") as fork,
        ):
            assert fork.path is not None and fork.path.is_relative_to(tmp_path / "two")
            assert texts(fork) == ["a"]
        with session.fork(None, "at", cwd="/other") as moved:
            assert moved.path is not None and moved.path.parent.parent == tmp_path / "one" and moved.cwd == "/other"
        with Session.memory("/m") as memory:
            memory.append_message(user("m"))
            with memory.fork(None, "at", root=tmp_path / "two") as saved:
                assert saved.is_stored and texts(saved) == ["m"]


def test_a_session_may_have_a_file_of_its_own_name(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "mine.jsonl"
    with Session.create(tmp_path, "/proj", path=path) as session:
        session.append_message(user("a"))
    with Session.open(path) as session:
        assert texts(session) == ["a"]
    with Session.create(tmp_path, "/proj", path=path) as session, pytest.raises(SessionError, match="file already"):
        session.append_message(user("b"))
    assert b'"b"' not in path.read_bytes()


def test_a_session_that_is_read_or_closed_takes_nothing(tmp_path: Path) -> None:
    with Session.create(tmp_path, "/proj") as session:
        session.append_message(user("a"))
        assert session.path is not None
        with Session.open(session.path, readonly=True) as reading:
            assert texts(reading) == ["a"]
            with pytest.raises(SessionError, match="reading only"):
                reading.append_message(user("b"))
            assert not reading.is_stored or reading.readonly
    session.close()
    with pytest.raises(SessionError, match="closed"):
        session.append_message(user("b"))
    assert not list(session.path.parent.glob("*.lock"))


def test_reading_follows_a_session_that_another_one_writes(tmp_path: Path) -> None:
    with Session.create(tmp_path, "/proj") as session:
        session.append_message(user("a"))
        assert session.path is not None
        with session.path.open("ab") as other:
            other.write(b'{"kind":"message","id":"half')  # a line that is being written right now
        before = session.path.read_bytes()
        with Session.open(session.path, readonly=True) as reading:
            assert texts(reading) == ["a"] and reading.repair is None and reading.notices() == []
        assert session.path.read_bytes() == before


@pytest.mark.parametrize("cwd", ["/with blank", "/with\nnewline", "/bytes\udcff", "/-dash", "/" + "long" * 900, "/"])
def test_every_directory_can_have_sessions(tmp_path: Path, cwd: str) -> None:
    with Session.create(tmp_path, cwd) as session:
        session.append_message(user("a"))
    assert session.path is not None
    assert len(session.path.parent.name) < 100 and session.path.parent.name.isprintable()
    assert not session.path.parent.name.startswith(("-", "."))
    with Session.open(session.path) as opened:
        assert opened.cwd == cwd

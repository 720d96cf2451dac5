"""What was typed before: whole entries, shared by several zots, bounded, private, and read without trust."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.typist import Typist

from zot_cli.repl import history as module
from zot_cli.repl.chips import Chips
from zot_cli.repl.history import MOST, TypedBefore
from zot_core.types.content import Image


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the history is."""
    return tmp_path / "history"


@pytest.fixture
def hands(path: Path) -> Iterator[Typist]:
    """Hands on an editor with two entries before it."""
    history = TypedBefore(path, Chips())
    history.append_string("first")
    history.append_string("second\nof two lines\n\nand more")
    typist = Typist(path)
    yield typist
    typist.close()


UP, DOWN = "\x1b[A", "\x1b[B"


def test_up_goes_back_from_the_first_row_and_down_brings_the_draft_again(hands: Typist) -> None:
    hands.type("a draft")
    assert hands.type(UP).marked == "second\nof two lines\n\nand more|", "an entry of several lines comes whole"
    assert hands.type(UP * 3).marked == "second|\nof two lines\n\nand more"
    assert hands.type(UP).marked == "first|"
    assert hands.type(UP).marked == "first|"
    hands.type(DOWN)
    assert hands.editor.shown.startswith("second")
    hands.type(DOWN * 4)
    assert hands.editor.shown == "a draft"
    assert hands.type(DOWN).editor.shown == "a draft"


def test_a_changed_entry_is_kept_while_one_looks_further(hands: Typist) -> None:
    hands.type("draft" + UP + "!" + "\x1b[1;5A" + "\x1b[1;5B")
    assert hands.editor.shown.endswith("and more!")
    assert hands.type("\x1b[1;5B").editor.shown == "draft"


def test_what_was_just_sent_is_there_before_the_next_frame(hands: Typist) -> None:
    hands.type("sent")
    hands.editor.take()
    assert hands.type(UP).editor.shown == "sent"
    assert hands.type(UP).editor.shown.startswith("second")


def test_a_row_that_was_wrapped_is_a_row(hands: Typist) -> None:
    hands.type("x" * 60)
    hands.type(UP)
    assert hands.editor.shown == "x" * 60
    assert hands.type(UP).editor.shown.startswith("second")


def test_control_with_up_goes_back_from_anywhere(hands: Typist) -> None:
    hands.start("one\ntwo|").type("\x1b[1;5A")
    assert hands.editor.shown.startswith("second")
    assert hands.type("\x1b[1;5B").editor.shown == "one\ntwo"


def test_what_was_cleared_comes_back_in_this_zot_alone(hands: Typist, path: Path) -> None:
    hands.type("cleared words")
    hands.editor.clear()
    assert hands.draw().type("\x1f").editor.shown == "cleared words"
    hands.editor.clear()
    assert "cleared" not in path.read_text()
    assert hands.editor.history.entries()[0] == "cleared words"


def test_two_zots_share_it(path: Path) -> None:
    one, two = TypedBefore(path, Chips()), TypedBefore(path, Chips())
    one.append_string("of one")
    two.append_string("of two")
    one.append_string("of one again")
    assert one.entries() == two.entries() == ["of one again", "of two", "of one"]


def test_many_writers_lose_nothing(path: Path) -> None:
    def write(name: str) -> None:
        own = TypedBefore(path, Chips())
        for number in range(50):
            own.append_string(f"{name} {number}\nwith a second line")

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = TypedBefore(path, Chips()).entries()
    assert sorted(found) == sorted(f"{name} {n}\nwith a second line" for name in "abcd" for n in range(50))


def test_it_is_private_and_stays_so(path: Path) -> None:
    path.write_text("\n# then\n+old\n")
    path.chmod(0o644)
    history = TypedBefore(path, Chips())
    history.append_string("new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert history.entries() == ["new", "old"]


def test_a_line_that_begins_with_a_blank_is_not_written(path: Path) -> None:
    history = TypedBefore(path, Chips())
    history.append_string(" secret words")
    history.append_string("said")
    assert "secret" not in path.read_text()
    assert history.entries() == ["said", " secret words"], "here it can be looked back at"


def test_the_same_twice_is_one_entry(path: Path) -> None:
    history = TypedBefore(path, Chips())
    for text in ("same", "same", "other", "   "):
        history.append_string(text)
    assert path.read_text().count("+same") == 1
    assert history.entries() == ["other", "same"]


def test_a_paste_is_whole_in_the_file_and_a_picture_is_words(path: Path) -> None:
    chips = Chips()
    history = TypedBefore(path, chips)
    long = "\n".join(map(str, range(30)))
    text = f"{chips.paste(long)} {chips.picture(Image(mime_type='image/png', data='AAAA'), 'x.png')}"
    history.append_string(text)
    assert history.entries() == [text], "here it has its chips"
    assert TypedBefore(path, Chips()).entries() == [f"{long} (x.png: not kept)"]


def test_it_does_not_grow_beyond_its_bound(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 4000)
    history = TypedBefore(path, Chips())
    for number in range(500):
        history.append_string(f"entry number {number}")
        assert path.stat().st_size <= 4100
    assert history.entries()[0] == "entry number 499"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    monkeypatch.setattr(module, "LONGEST", 100)
    history.append_string("x" * 200)
    assert history.entries()[0] == "x" * 200
    assert "x" * 200 not in path.read_text()


@pytest.mark.parametrize(
    "torn",
    [
        b"\n# then\n+cut of",
        b"\x00" * 5000,
        b"\n+\xff\xfe\n",
        b"\x1b[2J+\x1b]52;c;AAAA\x07\n",
        b"# only\n",
        b"\n" * 9999,
    ],
)
def test_a_torn_or_hostile_file_is_read_as_far_as_it_goes(path: Path, torn: bytes) -> None:
    path.write_bytes(b"\n# then\n+good\n" + torn + b"\n# then\n+\x1b[31mred\x00\x1b[0m\n+second\n")
    found = TypedBefore(path, Chips()).entries()
    assert found[0] == "red\nsecond"
    assert found[-1] == "good"
    assert not any(control in entry for entry in found for control in "\x00\x1b\x07")


def test_a_hundred_megabytes_do_not_slow_it(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(100 << 20)
        file.seek(0, os.SEEK_END)
        file.write(b"\n# then\n+last\n")
    began = time.process_time()
    history = TypedBefore(path, Chips())
    assert history.entries() == ["last"]
    history.append_string("new")
    assert time.process_time() - began < 1.0, "a reading of the whole takes several seconds"
    assert path.stat().st_size <= MOST
    assert history.entries() == ["new", "last"]


def test_what_is_no_file_is_not_waited_for(path: Path) -> None:
    os.mkfifo(path)
    history = TypedBefore(path, Chips())
    history.append_string("words")
    assert history.entries() == ["words"]
    assert "not kept for other sessions" in history.failed


def test_a_home_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    history = TypedBefore(tmp_path / "gone" / "history", Chips())
    history.append_string("words")
    assert "not kept for other sessions" in history.failed
    assert history.entries() == ["words"]

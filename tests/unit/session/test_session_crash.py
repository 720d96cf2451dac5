"""Killed processes, full disks, two writers: real processes, no sleeps (faults SE-03)."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from zot_core.session import lock as lock_module
from zot_core.session.errors import SessionError, SessionLocked
from zot_core.session.lock import SessionLock, holder_of
from zot_core.session.session import Session
from zot_core.types.content import Text
from zot_core.types.messages import UserMessage

ROOT = str(Path(__file__).parents[3])
PRELUDE = f"""
import sys
sys.path.insert(0, {ROOT!r})
from zot_core.session.session import Session
from zot_core.types.content import Text
from zot_core.types.messages import UserMessage
"""
WRITER = (
    PRELUDE
    + """
session = Session.open(sys.argv[1]) if sys.argv[1].endswith(".jsonl") else Session.create(sys.argv[1], "/proj")
number = 0
while True:
    entry = session.append_message(UserMessage(content=(Text(str(number) + " €" * (number % 3000)),)))
    print(entry.id, session.path, flush=True)
    number += 1
"""
)
HOLDER = (
    PRELUDE
    + """
session = Session.open(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
session.append_message(UserMessage(content=(Text("TWO"),)))
session.close()
"""
)


def start(code: str, argument: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, str(argument)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def said(text: str) -> UserMessage:
    return UserMessage(content=(Text(text),))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Session.create(tmp_path, "/proj") as session:
        session.append_message(said("ONE"))
        assert session.path is not None
        return session.path


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_what_was_appended_survives_a_kill_at_any_moment(tmp_path: Path) -> None:
    chance = random.Random(7)
    told: list[str] = []
    where = tmp_path
    for _ in range(6):
        with start(WRITER, where) as child:
            assert child.stdout is not None
            for _ in range(chance.randrange(1, 300)):
                id, path = child.stdout.readline().split()
                told.append(id)
                where = Path(path)
            child.send_signal(signal.SIGKILL)
            # What it managed to tell before it died was in the file before it was told.
            told += [line.split()[0] for line in child.stdout.read().splitlines() if line.endswith(".jsonl")]
    with Session.open(where) as session:
        chain = [entry.id for entry in session.branch() if entry.kind == "message"]
        assert set(told) <= set(chain) and [id for id in chain if id in set(told)] == told
        assert len(chain) - len(told) <= 6
        assert len(session.messages()) == len(chain)
    assert not where.with_name(where.name + ".lock").exists()


def test_a_second_writer_is_refused_and_told_who_holds_it(path: Path) -> None:
    with start(HOLDER, path) as child:
        assert child.stdout is not None and child.stdin is not None
        assert child.stdout.readline() == "open\n"
        with pytest.raises(SessionLocked, match=f"process {child.pid}.*--fork") as caught:
            Session.open(path)
        assert caught.value.holder.pid == child.pid and caught.value.holder.since > 0
        assert holder_of(path) == caught.value.holder
        with Session.open(path, readonly=True) as reading, reading.fork(None, "at") as fork:
            fork.append_message(said("mine"))
        child.stdin.close()
        assert child.wait() == 0
    assert holder_of(path) is None
    with Session.open(path) as session:
        assert len(session.messages()) == 2
    for line in path.read_bytes().splitlines():
        json.loads(line)


def test_the_lock_of_a_killed_process_blocks_nobody(path: Path) -> None:
    with start(HOLDER, path) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.kill()
    assert path.with_name(path.name + ".lock").exists()
    assert holder_of(path) is None
    with Session.open(path) as session:
        session.append_message(said("on"))


def test_one_process_cannot_write_a_session_twice(path: Path) -> None:
    with Session.open(path), pytest.raises(SessionLocked, match="this process"):
        Session.open(path)
    with Session.open(path):
        pass


def test_a_lock_file_that_was_removed_under_a_waiting_opener_is_made_anew(path: Path) -> None:
    first, second = SessionLock(path), SessionLock(path)
    first.acquire()
    with pytest.raises(SessionLocked):
        second.acquire()
    first.release()
    first.release()
    second.acquire()
    with pytest.raises(SessionLocked):
        first.acquire()
    second.release()
    assert not path.with_name(path.name + ".lock").exists()


def test_where_the_system_has_no_locks_filelock_does_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SessionLock, "_acquire_native", lambda self: False)
    with Session.open(path) as session:
        with pytest.raises(SessionLocked, match="this process"):
            Session.open(path)
        session.append_message(said("on"))
    monkeypatch.setattr(lock_module, "fcntl", None)
    with Session.open(path) as session, pytest.raises(SessionLocked):
        Session.open(path)
    assert sorted(item.suffix for item in path.parent.iterdir() if not item.name.endswith(".soft")) == [".jsonl"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    options = ["-t", "tmpfs", "-o", "size=64k", "none", str(place)]
    if mount is None or os.geteuid() != 0 or subprocess.run([mount, *options], capture_output=True).returncode:
        pytest.skip("mounting a small file system needs root")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_told_at_once_and_leaves_a_whole_file(small_disk: Path) -> None:
    session = Session.create(small_disk, "/proj")
    session.append_message(said("first"))
    before = session.leaf_id
    with pytest.raises(SessionError, match="No space left on device") as caught:
        session.append_message(said("x" * 100_000))
    assert caught.value.failure.kind == "session" and str(session.path) in caught.value.failure.message
    assert session.leaf_id == before and len(session.messages()) == 1
    session.append_message(said("small again"))
    session.close()
    assert session.path is not None
    for line in session.path.read_bytes().splitlines():
        json.loads(line)
    with Session.open(session.path) as session:
        assert len(session.messages()) == 2 and session.repair is None


def test_a_disk_that_is_full_from_the_start_leaves_nothing_half(small_disk: Path, tmp_path: Path) -> None:
    session = Session.create(small_disk / "sessions", "/proj")
    session.append_model("p", "m")
    with pytest.raises(SessionError, match="No space left on device"):
        session.append_message(said("x" * 100_000))
    assert not session.is_stored and not [item for item in small_disk.rglob("*") if item.is_file()]
    assert session.messages() == [] and [entry.kind for entry in session.entries()] == ["model_change"]
    with session.fork(None, "at", root=tmp_path / "elsewhere") as rescued:
        rescued.append_message(said("x" * 100_000))
        assert rescued.last_model() == ("p", "m")
    session.append_message(said("small"))
    session.close()
    with pytest.raises(SessionError, match="No space left on device"):
        rescued_back = Session.open(str(rescued.path), readonly=True)
        with rescued_back:
            rescued_back.fork(None, "at", root=small_disk)
    assert not list(small_disk.rglob("*.new"))


LIMITED = (
    PRELUDE
    + """
import resource
from zot_core.session.errors import SessionError
session = Session.open(sys.argv[1])
size = session.path.stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 5000, resource.RLIM_INFINITY))
try:
    session.append_message(UserMessage(content=(Text("x" * 20000),)))
except SessionError as error:
    print(error)
print(session.path.stat().st_size - size)
session.append_message(UserMessage(content=(Text("small"),)))
"""
)


@pytest.mark.skipif(os.name == "nt", reason="needs limits of file size")
def test_a_write_that_breaks_off_is_cut_back(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, check=True)
    error, grown = done.stdout.splitlines()
    assert "File too large" in error and str(path) in error and grown == "0"
    with Session.open(path) as session:
        assert len(session.messages()) == 2 and session.repair is None


def test_a_torn_write_that_cannot_be_cut_back_spoils_only_itself(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_write, real_cut = os.write, os.ftruncate

    def half(fd: int, data: bytes) -> int:
        if len(data) > 50:
            return real_write(fd, data[:50])
        raise OSError(28, "full")

    def no_cut(fd: int, size: int) -> None:
        raise OSError(5, "no")

    with Session.open(path) as session:
        monkeypatch.setattr(os, "write", half)
        monkeypatch.setattr(os, "ftruncate", no_cut)
        with pytest.raises(SessionError, match="No space left"):
            session.append_message(said("lost"))
        monkeypatch.setattr(os, "write", real_write)
        session.append_message(said("after"))
        monkeypatch.setattr(os, "ftruncate", real_cut)
        session.append_message(said("more"))
        assert session.notices() == []
    with Session.open(path) as session:
        assert len(session.messages()) == 3 and session.repair is not None and session.repair.skipped


def test_a_session_that_may_not_be_written_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def refuse(target: Path, flags: int, *rest: int) -> int:
        if flags & os.O_RDWR:
            raise PermissionError(13, "no")
        return real(target, flags, *rest)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(SessionError, match="Permission denied"):
        Session.open(path)
    with Session.open(path, readonly=True) as session:
        assert len(session.messages()) == 1


def test_closing_waits_for_a_sync_in_another_thread(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, release = threading.Event(), threading.Event()
    states: list[bool] = []

    def slow(fd: int) -> None:
        inside.set()
        release.wait(10)
        states.append(os.fstat(fd).st_size > 0)  # raises if it was closed under the sync

    monkeypatch.setattr(os, "fsync", slow)
    session = Session.open(path)
    syncing = threading.Thread(target=session.sync)
    closing = threading.Thread(target=session.close)
    syncing.start()
    assert inside.wait(10)
    closing.start()
    release.set()
    syncing.join()
    closing.join()
    session.sync()
    assert states == [True]

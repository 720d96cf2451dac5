"""Sessions of 10,000 entries: appended against plain writes of the same bytes, opened against reading them as JSON."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from zot_core.session.session import Session
from zot_core.types.content import Text
from zot_core.types.messages import UserMessage

COUNT = 10_000


def messages() -> list[UserMessage]:
    return [UserMessage(content=(Text(f"message {number} " + "word " * 20),)) for number in range(COUNT)]


@pytest.mark.time_limit(120)
def test_append(compare: Any, tmp_path: Path) -> None:
    prepared = messages()

    def append() -> float:
        session = Session.create(tmp_path / "sessions", tmp_path)
        start = time.perf_counter()
        for message in prepared:
            session.append_message(message)
        spent = time.perf_counter() - start
        session.close()
        return spent / COUNT * 1e6

    line = json.dumps({"type": "message", "text": "message 1 " + "word " * 20}).encode() + b"\n"

    def floor() -> float:
        start = time.perf_counter()
        with (tmp_path / "plain").open("ab", buffering=0) as file:
            for _ in range(COUNT):
                file.write(line)
        return (time.perf_counter() - start) / COUNT * 1e6

    compare("session: append, an entry", append, floor, rounds=3, unit="us")


@pytest.mark.time_limit(120)
def test_open(compare: Any, tmp_path: Path) -> None:
    session = Session.create(tmp_path / "sessions", tmp_path)
    for message in messages():
        session.append_message(message)
    path = session.path
    session.close()
    assert path is not None

    def opened() -> None:
        again = Session.open(path)
        assert len(again.messages()) == COUNT
        again.close()

    def floor() -> None:
        with Path(path).open("rb") as file:
            assert len([json.loads(line) for line in file]) > COUNT

    compare("session: open 10,000 entries, messages included", opened, floor, rounds=5, at_most=300)

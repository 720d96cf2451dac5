"""Work and memory per entry do not grow with the session (faults PF-03)."""

from __future__ import annotations

import os
import time
import tracemalloc
from pathlib import Path

import pytest

from zot_core.session.session import Session
from zot_core.types.content import Text, ToolCall
from zot_core.types.messages import AssistantMessage, ToolResultMessage, UserMessage

BODY = "x" * 5000


def turn(session: Session, number: int) -> None:
    call = ToolCall(f"c{number}", "read", {"path": "/a"}, '{"path":"/a"}')
    session.append_message(AssistantMessage(content=(call,), stop="tool_use"))
    session.append_message(ToolResultMessage(call_id=call.id, tool_name="read", content=(Text(BODY),)))
    session.messages()


def test_an_entry_is_one_write_of_its_own_size_however_long_the_session_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[int] = []
    real = os.write

    def counted(fd: int, data: bytes) -> int:
        writes.append(len(data))
        return real(fd, data)

    def reading(*_: object) -> bytes:
        raise AssertionError("an append read the file")

    with Session.create(tmp_path, "/proj") as session:
        session.append_message(UserMessage(content=(Text("go"),)))
        monkeypatch.setattr(os, "write", counted)
        monkeypatch.setattr(os, "pread", reading)
        costs = []
        for number in range(2000):
            before = len(writes)
            turn(session, number)
            costs.append((len(writes) - before, sum(writes[before:])))
        assert max(count for count, _ in costs) <= 3  # two entries, and now and then name and count
        early, late = costs[100:200], costs[1900:2000]
        assert sum(size for _, size in late) <= 1.05 * sum(size for _, size in early)


def test_memory_grows_by_the_index_and_what_the_model_still_sees(tmp_path: Path) -> None:
    with Session.create(tmp_path, "/proj") as session:
        session.append_message(UserMessage(content=(Text("go"),)))
        tracemalloc.start()
        for number in range(300):
            # Every result is a text of its own, as those of real tools are.
            call = ToolCall(f"c{number}", "read", {"path": "/a"})
            session.append_message(AssistantMessage(content=(call,), stop="tool_use"))
            text = f"{number}" * 2000
            session.append_message(ToolResultMessage(call_id=call.id, tool_name="read", content=(Text(text),)))
        kept, _ = tracemalloc.get_traced_memory()
        leaf = session.leaf_id
        session.append("compaction", {"summary": "s", "first_kept_entry_id": leaf, "tokens_before": 1})
        assert len(session.messages()) == 2
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert kept > 1_500_000 and after < 0.4 * kept


def test_opening_ten_thousand_entries_is_quick(tmp_path: Path) -> None:
    with Session.create(tmp_path, "/proj") as session:
        for number in range(10_000):
            session.append_message(UserMessage(content=(Text(f"entry {number}"),)))
        path = session.path
    assert path is not None
    begin = time.process_time()
    with Session.open(path) as session:
        took = time.process_time() - begin
        assert session.message_count == 10_000
    assert took < 0.9  # the budget is 0.3 s, about 0.1 s is usual; this leaves room for a busy machine

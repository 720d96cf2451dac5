"""The clocks of the protocol as they are, with programs that make zot sit them out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.chaos import TOOL, Chaos, Run, finish, needs_proc, on_ask, start

from zot_core.testing import Script

pytestmark = needs_proc

SAID = Script().text("Done.")
EVENTS = ("before_agent_start", "turn_start", "tool_call", "assistant_message")
DEAF = f"hello(); emit('subscribe', intercept=[EVENT]); {TOOL}; emit('ready')\ntime.sleep(600)"
SLOW_READER = (
    "import select\nhello(); emit('subscribe', intercept=[EVENT]); emit('ready')\n"
    "select.select([0], [], []); time.sleep(3)\n"
    "for frame in frames():\n"
    "    time.sleep(2.5)\n"
    "    emit('event_intercept_response', id=frame['id'], replace_text='Late.', system_prompt='Late.')\n"
)
LONG = "d" * 300_000
"""More than a pipe holds."""
CLOCKS = [
    Chaos(
        "never says hello, and is given up while the model answers",
        "time.sleep(600)",
        replies=Script().delay(8.5).text("Done."),
        log=["it did not say hello within 10 s"],
        err=["could not be loaded: it did not say hello within 10 s (log: {log})"],
        clocks=10.0,
    ),
    Chaos(
        "never answers a command",
        "hello(); emit('register_command', name='go'); emit('ready')\nfor frame in frames(): pass",
        prompt="/go",
        code=1,
        answer="",
        log=["/go: it did not answer within 30 s"],
        err=["/go: the extension wild did not answer within 30 s", "{log}"],
        clocks=30.0,
    ),
    *(
        Chaos(
            f"never answers {event}",
            on_ask(event, "pass"),
            replies=Script().tool_call("ls", path=".").then().text("Done.") if event == "tool_call" else SAID,
            log=["did not answer within 5 s"],
            err=[f"no answer to {event}: it did not answer within 5 s; it went on unchanged", "{log}"],
            clocks=5.0,
        )
        for event in EVENTS
    ),
    *(
        Chaos(
            f"never reads, and is asked about {event}",
            f"EVENT = {event!r}\n{DEAF}",
            replies=Script().text(LONG),
            answer=LONG,
            argv=["--append-system-prompt", "@long"],
            log=["it has not read for 5 s"],
            err=["it has not read for 5 s; it went on unchanged", "is told and asked nothing more", "{log}"],
            clocks=5.0,
        )
        for event in ("before_agent_start", "assistant_message")
    ),
    Chaos(
        "reads after 3 s, answers after 5.5: too late for the prompt, whose time includes the write",
        f"EVENT = 'before_agent_start'\n{SLOW_READER}",
        replies=SAID,
        argv=["--append-system-prompt", "@long"],
        log=["did not answer within 5 s"],
        err=["no answer to before_agent_start: it did not answer within 5 s"],
        clocks=5.0,
    ),
    Chaos(
        "reads after 3 s, answers after 5.5: in time for a message, whose time begins after the write",
        f"EVENT = 'assistant_message'\n{SLOW_READER}",
        replies=Script().text(LONG),
        answer="Late.",
        clocks=5.5,
    ),
]


@pytest.mark.time_limit(90)
def test_the_clocks_of_the_protocol(zot: Any, tmp_path: Path, project: Path) -> None:
    """Side by side, because each is to be sat out."""
    (project / "long").write_text("y" * 300_000)
    runs = [start(zot, row, tmp_path / str(number)) for number, row in enumerate(CLOCKS)]

    def problem(run: Run) -> str:
        try:
            finish(run)
        except AssertionError as error:
            return f"{run.row.name}: {error}"
        return ""

    with ThreadPoolExecutor(len(runs)) as pool:
        assert [text for text in pool.map(problem, runs) if text] == []

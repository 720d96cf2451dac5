"""The front ends without a process: how JSON lines leave, what a broken output does, how a question is answered."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import pytest

from zot_cli.modes.front import note_text
from zot_cli.modes.json import JsonFront
from zot_cli.modes.line_ui import LineUi
from zot_cli.modes.print import PrintFront
from zot_cli.stdio import Output, OutputGone
from zot_core.agent.sink import Stored
from zot_core.events.message import MessageUpdateEvent
from zot_core.frontend import Note
from zot_core.types.content import Text
from zot_core.types.messages import AssistantMessage
from zot_core.types.stream import TextDelta


class FakeOutput:
    """Keeps what is written; breaks when told to."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.gone = False

    def write(self, data: bytes) -> None:
        if self.gone:
            raise OutputGone
        self.writes.append(data)


class FakeApp:
    """As much of an App as a front end looks at."""

    class runtime:
        cwd = "/project"

        class session:
            id, path, cwd = "s1", "/home/s1.jsonl", "/project"


def delta(text: str) -> MessageUpdateEvent:
    return MessageUpdateEvent(message_id="m", part=TextDelta(text))


def answer(text: str | None, **fields: Any) -> Stored:
    return Stored(message=AssistantMessage(content=(Text("raw"),)), display=text, **fields)


def begun(out: FakeOutput) -> JsonFront:
    front = JsonFront(cast(Output, out))
    front.begin(cast(Any, FakeApp))
    return front


def test_lines_of_one_step_of_the_loop_leave_in_one_write() -> None:
    out = FakeOutput()

    async def run() -> None:
        front = begun(out)
        for _ in range(3):
            for _ in range(100):
                front.event(delta("x"))
            await asyncio.sleep(0)
        front.end("end_turn", None)

    asyncio.run(run())
    sizes = [data.count(b"\n") for data in out.writes]
    assert sizes == [1, 100, 100, 100, 1]


def test_a_flood_does_not_wait_for_the_loop() -> None:
    out = FakeOutput()

    async def run() -> None:
        begun(out).event(delta("x" * 100_000))
        assert len(out.writes) == 2

    asyncio.run(run())


def test_what_comes_early_waits_behind_the_session_line() -> None:
    out = FakeOutput()

    async def run() -> None:
        front = JsonFront(cast(Output, out))
        front.note(Note(source="x", text="early"))
        await asyncio.sleep(0)
        assert out.writes == []
        front.begin(cast(Any, FakeApp))

    asyncio.run(run())
    lines = [json.loads(line)["type"] for line in b"".join(out.writes).splitlines()]
    assert lines == ["session", "ext_notify"]


def test_nothing_follows_done(capsys: pytest.CaptureFixture[str]) -> None:
    out = FakeOutput()

    async def run() -> None:
        front = begun(out)
        front.end("end_turn", None)
        front.note(Note(source="x", text="late"))

    asyncio.run(run())
    assert json.loads(out.writes[-1])["type"] == "done"
    assert capsys.readouterr().err == "[x] late\n"


def test_an_output_that_is_gone_aborts_the_run_once() -> None:
    out = FakeOutput()
    aborted: list[int] = []

    async def run() -> JsonFront:
        front = begun(out)
        front.abort = lambda: aborted.append(1)
        out.gone = True
        for _ in range(3):
            front.event(delta("x"))
            await asyncio.sleep(0)
        return front

    assert isinstance(asyncio.run(run()).broken, OutputGone)
    assert aborted == [1]


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ([answer("one"), answer("two\n")], b"two\n"),
        ([answer("one"), answer("")], b""),
        ([answer("one"), answer(None, withheld=True, plugin="p")], b""),
        ([answer("\x1b[2Jx")], b"x\n"),
        ([], b""),
    ],
)
def test_print_mode_shows_the_last_answers_visible_text(stored: list[Stored], shown: bytes) -> None:
    out = FakeOutput()
    front = PrintFront(cast(Output, out))
    for one in stored:
        front.stored(one)
    front.end("end_turn", None)
    assert b"".join(out.writes) == shown


def test_without_a_terminal_print_mode_wants_only_to_know_of_retries() -> None:
    assert PrintFront(cast(Output, FakeOutput())).wants == {"message_update"}


@pytest.mark.parametrize(
    ("note", "text"),
    [
        (Note(source="x", text="hi"), "[x] hi"),
        (Note(source="x", text="a\x1b[2J\nb", level="error"), "[x] error: a\nb"),
        (Note(source="", text="odd\nfile", level="warning", kind="diagnostic"), "zot: warning: odd file"),
        (Note(source="p", text="odd", level="warning", kind="diagnostic"), "zot: warning: p: odd"),
        (Note(source="", text="fyi", kind="diagnostic"), ""),
        (
            Note(source="p", text="boom", level="error", kind="plugin_error", hook="input"),
            "zot: plugin p failed in input: boom",
        ),
        (Note(source="p", kind="clear"), ""),
    ],
)
def test_notes_as_lines(note: Note, text: str) -> None:
    assert note_text(note, verbose=False) == text


def test_questions_are_answered_by_lines_one_at_a_time() -> None:
    said: list[str] = []

    async def run() -> list[Any]:
        ui = LineUi(lambda note: None, said.append)
        asked = asyncio.gather(
            ui.confirm("Sure"),
            ui.select("Which", ["red", "green"]),
            ui.select("Which", ["red", "green"]),
            ui.input("Name"),
            ui.editor("Text", "before"),
            ui.approve("c", "bash", "rm -rf x"),
            ui.confirm("Dismissed"),
            ui.input("Late", timeout=0.01),
        )
        for line in ("y", "2", "red", "Ada", "", "a", None):
            while not ui.asking:
                await asyncio.sleep(0)
            ui.answer(line)
            await asyncio.sleep(0)
        return list(await asked)

    *answers, approved, dismissed, late = asyncio.run(run())
    assert answers == [True, "green", "red", "Ada", "before"]
    assert (approved.allowed, approved.remember) == (True, "tool")
    assert (dismissed, late) == (False, None)
    assert said[0] == "Sure [y/N] "


def answered(ask: Any, *lines: str) -> tuple[Any, list[str]]:
    """What a question came to when these lines were typed, and what was said."""
    said: list[str] = []

    async def typed() -> Any:
        ui = LineUi(lambda note: None, said.append)
        asked = asyncio.ensure_future(ask(ui))
        for line in lines:
            while not ui.asking:
                await asyncio.sleep(0)
            ui.answer(line)
            await asyncio.sleep(0)
        return await asked

    return asyncio.run(typed()), said


@pytest.mark.parametrize(
    ("lines", "chosen"), [([""], "red"), (["Green"], "green"), (["3", "blue", "2"], "green"), (["0", "1"], "red")]
)
def test_a_choice_is_asked_for_until_it_is_one(lines: list[str], chosen: str) -> None:
    answer, said = answered(lambda ui: ui.select("Which", ["red", "green"]), *lines)
    assert answer == chosen
    assert said[0].endswith("Which? [1] ")
    assert len(said) == len(lines) and all("not understood; a number from 1 to 2" in text for text in said[1:])


@pytest.mark.parametrize(("lines", "agreed"), [(["maybe", "y"], True), (["1", "no"], False), ([""], False)])
def test_yes_or_no_is_asked_for_until_it_is_one(lines: list[str], agreed: bool) -> None:
    answer, said = answered(lambda ui: ui.confirm("Sure"), *lines)
    assert answer is agreed and len(said) == len(lines)


@pytest.mark.parametrize(
    ("title", "message", "asked"),
    [
        ("May it write?", "new.txt", "May it write? new.txt [y/N] "),
        ("Dangerous", "Allow rm?", "Dangerous: Allow rm? [y/N] "),
        ("Sure?", "", "Sure? [y/N] "),
    ],
)
def test_a_title_that_is_a_sentence_gets_no_colon(title: str, message: str, asked: str) -> None:
    assert answered(lambda ui: ui.confirm(title, message), "y")[1] == [asked]

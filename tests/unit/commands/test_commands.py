"""Zot's own slash commands, over the App: each does what its line says, in every mode that it has."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zot_core import UsageError
from zot_core.testing import Script
from zot_core.testing.front import RecordingFrontEnd

Open = Callable[..., Any]


def talk(runtime: Open, *prompts: str, script: Script | None = None, front: Any = None, **how: Any) -> Any:
    front = front or RecordingFrontEnd("repl")

    async def story() -> None:
        async with runtime(script=script or Script().text("Hi."), front=front, **how) as app:
            front.app = app
            for prompt in prompts:
                await app.prompt(prompt)
            front.messages_left = list(app.runtime.state.messages)
            front.session_name = app.runtime.session.name

    asyncio.run(story())
    return front


def answers(front: Any) -> list[str]:
    return [note.text for note in front.notes if note.kind == "answer"]


def test_help_lists_every_command_of_this_mode(runtime: Open) -> None:
    (text,) = answers(talk(runtime, "/help"))
    for name in ("/model", "/resume", "/compact", "/yolo", "/btw", "/reload-ext"):
        assert f"`{name}" in text


def test_model_is_chosen_from_a_list_or_by_name(runtime: Open) -> None:
    front = RecordingFrontEnd("rpc")
    front.ui.answer("select", "scripted/scripted (in use)  No model: a script or a demonstration  1M")
    front = talk(runtime, "/model", "/model scripted/scripted", "/model nothing-like-it", front=front)
    assert answers(front) == ["scripted/scripted answers from now on."] * 2
    assert any("nothing-like-it" in note.text and note.level == "error" for note in front.notes)


def test_model_lists_where_nobody_can_choose(runtime: Open) -> None:
    (text,) = answers(talk(runtime, "/model", front=RecordingFrontEnd("print")))
    assert text.startswith("- scripted/scripted")


def test_a_level_that_there_is_not_is_named(runtime: Open) -> None:
    with pytest.raises(UsageError, match="there is no level 'lots'"):
        talk(runtime, "/reasoning lots")


def test_new_begins_an_empty_session_and_keeps_the_old_file(runtime: Open) -> None:
    front = talk(runtime, "Hello", "/new", script=Script().text("Hi."), no_session=False)
    assert front.messages_left == []


def test_resume_goes_on_with_the_session_that_was_chosen(runtime: Open, world: Any) -> None:
    talk(runtime, "The first one", script=Script().text("One."), no_session=False)
    front = RecordingFrontEnd("repl")
    offered: list[list[str]] = []

    async def select(title: str, options: Any, *, timeout: float | None = None) -> str:
        offered.append(list(options))
        return str(options[0])

    front.ui.select = select  # type: ignore[method-assign]
    front = talk(runtime, "Another", "/resume", script=Script().text("Two."), front=front, no_session=False)
    assert offered[0][0].startswith("The first one  just now, 2 messages")
    assert [m.content[0].text for m in front.messages_left] == ["The first one", "One."]


def test_a_name_is_kept_and_said(runtime: Open) -> None:
    front = talk(runtime, "/name", "/name  Spring cleaning ", "/rename", no_session=False)
    assert answers(front) == [
        "This session has no name.",
        "This session is called Spring cleaning.",
        "This session is called Spring cleaning.",
    ]


def test_session_says_what_it_holds(runtime: Open) -> None:
    script = Script().tool_call("ls", path=".").then().text("Nothing.")
    text = answers(talk(runtime, "Look", "/session", script=script))[0]
    assert "- Prompts: 1\n- Tool calls: 1" in text
    assert "- File: not kept" in text


@pytest.mark.parametrize("ending", [".md", ".jsonl"])
def test_export_writes_a_new_file_and_never_over_one(runtime: Open, world: Any, ending: str) -> None:
    front = talk(runtime, "Hello there", f"/export out{ending}", script=Script().text("Hi."))
    path = world.project / f"out{ending}"
    assert answers(front) == [f"Written: {path}"]
    assert "Hello there" in path.read_text()
    with pytest.raises(UsageError, match="exists and is left as it is"):
        talk(runtime, f"/export out{ending}")


def test_a_side_question_is_answered_and_not_kept(runtime: Open) -> None:
    script = Script().text("Hi.").then().text("Because of the rain.")
    front = talk(runtime, "Hello", "/btw why is it wet?", script=script)
    assert answers(front) == ["Because of the rain."]
    assert [m.role for m in front.messages_left] == ["user", "assistant"]


def test_tools_are_taken_away_and_offered_again(runtime: Open) -> None:
    front = talk(runtime, "/tools off bash write", "/tools on write")
    assert "○ `bash`" in answers(front)[0]
    assert "○ `write`" in answers(front)[0]
    assert "● `write`" in answers(front)[1]


def test_plugins_and_settings_say_where_they_come_from(runtime: Open, world: Any) -> None:
    (world.home / "settings.json").write_text('{"max_steps": 7}')
    front = talk(runtime, "/plugins", "/settings", "/settings max_steps", "/settings zzz")
    assert "| `commands` | built-in |" in answers(front)[0]
    assert "| `max_steps` | 7 |" in answers(front)[1]
    assert "| `max_steps` | 7 |" in answers(front)[2]
    assert answers(front)[3] == "No setting has that name."


def test_trust_is_kept_for_the_next_start(runtime: Open, world: Any) -> None:
    front = talk(runtime, "/trust", "/trust yes", "/trust")
    assert "is not trusted (nothing is kept about it)" in answers(front)[0]
    assert "kept: yes" in answers(front)[2]
    assert str(world.project) in (world.home / "trust.json").read_text()


def test_reload_loads_what_has_changed(runtime: Open, world: Any) -> None:
    folder = world.home / "plugins"
    folder.mkdir()
    source = (
        "from zot_core import hookimpl, CommandSpec\n\nasync def say(args, ctx):\n    return {!r}\n\n"
        "@hookimpl\ndef commands():\n    return CommandSpec(name='say', handler=say)\n"
    )
    (folder / "says.py").write_text(source.format("old"))
    front = RecordingFrontEnd("rpc")

    async def story() -> None:
        async with runtime(script=Script().text("Hi."), front=front, no_plugins=False) as app:
            await app.prompt("/say")
            Path(folder / "says.py").write_text(source.format("new"))
            await app.prompt("/reload")
            await app.prompt("/say")

    asyncio.run(story())
    first, loaded, last = answers(front)
    assert (first, last) == ("old", "new")
    assert loaded.startswith("Loaded anew: ")

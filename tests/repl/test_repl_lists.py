"""Lists in a terminal: sessions that are searched, renamed and deleted, skills, what a session holds, extensions."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from zot_core.session.naming import project_slug
from zot_core.session.session import Session
from zot_core.types.content import Text
from zot_core.types.messages import UserMessage


def kept(desk: Any, *said: str, cwd: Path | None = None) -> Path:
    with Session.create(desk.home / "sessions", cwd or desk.project) as session:
        for text in said:
            session.append_message(UserMessage(content=(Text(text),)))
        assert session.path is not None
        return session.path


def run(zot: Any, command: str) -> None:
    zot.type(command)
    zot.wait(f"› {command}")
    zot.press("esc", "enter")


def test_sessions_are_searched_renamed_and_deleted_in_one_list_and_one_goes_on(desk: Any) -> None:
    goes, stays = kept(desk, "an old question"), kept(desk, "another 漢字 question")
    desk.script(["Hello."])
    zot = desk.zot(rows=20)
    run(zot, "/resume")
    zot.wait("Which session? 2 of this project")
    zot.type("old")
    zot.wait(lambda screen: "› an old question" in screen.text and "漢字" not in screen.text)
    zot.press("ctrl+d")
    zot.wait(lambda screen: "for good?" in screen.text and goes.name in screen.text.replace("\n", ""))
    zot.press("down", "enter")
    zot.wait(lambda screen: "Deleted for good" in screen.text and "nothing matches" in screen.text)
    zot.press("backspace", "backspace", "backspace")
    zot.wait("› another 漢字 question")
    zot.press("ctrl+r")
    zot.wait("A name for: another 漢字 question")
    zot.type("Ä name")
    zot.wait("› Ä name")
    zot.press("enter")
    zot.wait("It is called Ä name now.")
    zot.press("enter")
    zot.wait(lambda screen: "› another 漢字 question" in screen.text and "Ä name" in screen.text.split("\n")[-1])
    assert not goes.exists() and stays.exists()
    assert list(goes.parent.glob("*.jsonl")) == [stays]


def test_a_session_that_another_zot_has_is_neither_deleted_nor_opened(desk: Any) -> None:
    desk.script(["Hello."])
    other = desk.zot()
    other.type("mine")
    other.press("enter")
    other.wait("Hello.")
    zot = desk.zot()
    run(zot, "/resume")
    zot.wait("› mine")
    zot.press("ctrl+d")
    zot.wait(f"It is open in process {other.pid}")
    zot.press("enter")
    zot.wait(f"is open in process {other.pid}")
    zot.wait(lambda screen: screen.text.split("\n")[-2].strip() == "›")
    (path,) = (desk.home / "sessions").rglob("*.jsonl")
    assert path.is_file()


def test_sessions_of_other_projects_come_by_tab_and_go_on_in_their_folder(desk: Any, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    kept(desk, "far away", cwd=there)
    desk.script(["Hello."])
    zot = desk.zot()
    run(zot, "/sessions")
    zot.wait("there are no sessions here")
    zot.press("tab")
    zot.wait("› far away")
    zot.press("enter")
    zot.wait(lambda screen: "the session goes on in" in screen.text and "there ·" in screen.text.split("\n")[-1])


def test_ten_thousand_sessions_are_listed_at_once_and_searched(desk: Any) -> None:
    one = kept(desk, "the same words")
    text, id = one.read_text(), one.stem.rpartition("_")[2]
    folder = desk.home / "sessions" / project_slug(str(desk.project))
    for number in range(9_998):
        new = f"{number:012x}"
        (folder / one.name.replace(id, new)).write_text(text.replace(id, new))
    oldest = kept(desk, "a needle in it")
    os.utime(oldest, (1, 1))
    desk.script(["Hello."])
    zot = desk.zot()
    run(zot, "/resume")
    zot.wait("10000 of this project")
    zot.type("needle")
    zot.wait("› a needle in it")
    zot.press("enter")
    zot.wait(lambda screen: "› a needle in it" in screen.text and "Which session" not in screen.text)


def test_a_skill_that_is_chosen_stands_where_one_types(desk: Any) -> None:
    folder = desk.home / "skills" / "tidy"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: tidy\ndescription: Tidies up.\n---\nTidy.\n")
    (desk.home / "skills" / "bad").mkdir()
    (desk.home / "skills" / "bad" / "SKILL.md").write_text("no fields at all\n")
    desk.script(["Hello."])
    zot = desk.zot()
    run(zot, "/skills")
    zot.wait("with problems")
    zot.type("tid")
    zot.wait(lambda screen: "› tidy  Tidies up." in screen.text and "home: " in screen.text)
    zot.press("enter")
    zot.wait(lambda screen: "› /skill:tidy" in screen.text and "bad/SKILL.md" in screen.everything.replace("\n", ""))
    zot.press("ctrl+c")
    run(zot, "/skills nothing-like-it")
    zot.wait("no skill has 'nothing-like-it' in it; there are: tidy")


def test_what_a_session_holds_is_said_and_what_can_be_done_with_it(desk: Any) -> None:
    desk.script(["Hello."])
    zot = desk.zot(rows=30)
    zot.type("first")
    zot.press("enter")
    zot.wait("Hello.")
    run(zot, "/session")
    zot.wait(lambda screen: "Prompts: 1" in screen.text and "give it a name" in screen.text)
    zot.press("down", "enter")
    zot.wait("Name of this session")
    zot.type("Attic")
    zot.press("enter")
    zot.wait("This session is called Attic.")
    run(zot, "/session")
    zot.wait("give it a name")
    zot.press("esc")
    zot.wait(lambda screen: "• Name: Attic" in screen.text and "give it a name" not in screen.text)
    run(zot, "/session frob")
    zot.wait("there are name, fork, export")


def test_extensions_are_listed_switched_and_looked_into(desk: Any, pytestconfig: Any) -> None:
    examples = pytestconfig.rootpath / "examples" / "extensions"
    folder = desk.home / "extensions"
    shutil.copytree(examples / "hello", folder / "hello")
    shutil.copytree(examples / "todo", folder / "todo")
    (folder / "broken").mkdir()
    (folder / "broken" / "extension.json").write_text('{"name": "broken", "exec": "./nope"}')
    desk.script(["Hello."])
    zot = desk.zot(rows=40)
    run(zot, "/cwd")  # which waits until they are there
    zot.wait("[hello]")
    run(zot, "/ext")
    zot.wait(lambda screen: "todo       ready   /todo, todo" in screen.text and "broken     failed" in screen.text)
    run(zot, "/ext disable todo")
    zot.wait("todo is disabled")
    run(zot, "/ext todo")
    zot.wait("State: ready, disabled from /reload-ext on")
    run(zot, "/ext reload")
    zot.wait("Started anew: hello.")
    run(zot, "/todo")
    zot.wait("there is no command /todo")
    zot.wait("Hello.")
    run(zot, "/ext enable todo")
    zot.wait("/reload-ext starts it")
    run(zot, "/ext logs broken")
    zot.wait(lambda screen: "ext-broken.log" in screen.text and "there is no file" in screen.text)
    for wrong, said in (
        ("enable", "needs the name of one extension"),
        ("frob", "there is no extension 'frob'"),
        ("tod", "did you mean todo"),
        ("install x", "!zot ext install"),
    ):
        run(zot, f"/ext {wrong}")
        zot.wait(said)


def test_where_no_cursor_moves_sessions_are_numbered_and_each_command_says_its_piece_once(desk: Any) -> None:
    kept(desk, "an old question")
    desk.script(["Hello."])
    zot = desk.zot(TERM="dumb", rows=60)
    for typed, said in (
        ("/resume", "1  an old question"),
        ("1", "zot>"),
        ("/session", "- Prompts: 1"),
        ("/skills", "/skill:zot-plugins"),
        ("/ext", "There is no extension in"),
        ("/reload-ext", "Loaded anew: 0 extensions."),
        ("/resume zzz", "no session 'zzz'; the newest ones:"),
    ):
        before = zot.everything.count(said)
        zot.type(f"{typed}\r")
        zot.wait(lambda screen, said=said, before=before: screen.everything.count(said) > before)
    assert zot.everything.count("- Prompts: 1") == 1

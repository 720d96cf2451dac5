"""`/resume`, `/session` and `/help` over the App: the list is worked by its keys, as a screen would hand them on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from zot_core import UsageError
from zot_core.session.listing import SessionInfo, list_sessions, read_info
from zot_core.session.session import Session
from zot_core.testing import Script
from zot_core.testing.front import RecordingFrontEnd
from zot_core.types.content import Text
from zot_core.types.messages import AssistantMessage, UserMessage
from zot_core.types.usage import Usage
from zot_core.ui import Keybindings
from zot_core.ui.keys import LISTS

Open = Callable[..., Any]
KEYS = Keybindings(
    {
        **LISTS,
        "app.session.rename": ("ctrl+r",),
        "app.session.delete": ("ctrl+d",),
        "app.session.all": ("tab",),
    }
)


class Screen:
    """Hands keys to whatever component is on top; a callable among them is shown the component instead."""

    def __init__(self, *script: Any) -> None:
        self._script = iter(script)
        self.front = RecordingFrontEnd("repl")
        self.front.ui.custom = self.custom  # type: ignore[method-assign]

    async def custom(self, factory: Any, **options: Any) -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        tui = SimpleNamespace(rows=40, columns=80, request_render=lambda: None)
        theme = SimpleNamespace(fg=lambda token, text: text)
        component = factory(tui, theme, KEYS, lambda value=None: answer.done() or answer.set_result(value))
        component = await component if asyncio.iscoroutine(component) else component
        while not answer.done():
            step = next(self._script)
            if callable(step):
                step("\n".join(component.render(79)))
            elif (waits := component.handle_key(step)) is not None:
                await waits
        return answer.result()


def talk(runtime: Open, screen: Any, *prompts: str, script: Script | None = None, **how: Any) -> Any:
    front = screen.front if isinstance(screen, Screen) else screen

    async def story() -> None:
        async with runtime(script=script or Script().text("Hi."), front=front, no_session=False, **how) as app:
            for prompt in prompts:
                await app.prompt(prompt)
            front.messages_left = [message.text for message in app.runtime.state.messages if hasattr(message, "text")]
            front.session_left = app.runtime.session.name

    asyncio.run(story())
    return front


def kept(root: Path, cwd: Path | str, *said: str, name: str | None = None) -> Path:
    with Session.create(root, cwd) as session:
        for text in said:
            session.append_message(UserMessage(content=(Text(text),)))
        if name is not None:
            session.set_name(name)
        assert session.path is not None
        return session.path


def has(*words: str, without: tuple[str, ...] = ()) -> Callable[[str], None]:
    def look(lines: str) -> None:
        for word in words:
            assert word in lines, lines
        for word in without:
            assert word not in lines, lines

    return look


def answers(front: Any) -> list[str]:
    return [note.text for note in front.notes if note.kind == "answer"]


def test_typed_letters_find_a_session_by_name_and_prompt_and_enter_opens_it(runtime: Open, world: Any) -> None:
    root = world.home / "sessions"
    kept(root, world.project, "tidy the attic", name="Spring")
    kept(root, world.project, "paint the door")
    screen = Screen(has("Spring", "paint the door"), *"attic", has("› Spring", without=("paint",)), "enter")
    talk(runtime, screen, "/resume")
    assert screen.front.session_left == "Spring"


def test_a_session_is_renamed_in_the_list_which_stays_open_and_in_its_order(runtime: Open, world: Any) -> None:
    root = world.home / "sessions"
    old = kept(root, world.project, "old one")
    kept(root, world.project, "new one")
    before = read_info(old)
    screen = Screen(
        "down",
        has("› old one"),
        "ctrl+r",
        has("A name for: old one"),
        *"Attic",
        "enter",
        has("› Attic", "It is called Attic now."),
        "ctrl+r",
        *["backspace"] * 5,
        "enter",
        has("› old one", "It has no name now."),
        "ctrl+r",
        *"Cellar",
        "esc",
        has("› old one", without=("Cellar",)),
        "ctrl+r",
        *"Attic",
        "enter",
        "esc",
    )
    talk(runtime, screen, "/resume")
    after = read_info(old)
    assert before is not None and after is not None
    assert (after.name, after.updated) == ("Attic", before.updated)
    assert [one.title for one in list_sessions(root, world.project)] == ["new one", "Attic"]


def test_the_present_session_can_be_renamed_and_not_deleted(runtime: Open, world: Any) -> None:
    screen = Screen(
        has("Hello", "this one"),
        "ctrl+r",
        *"Mine",
        "enter",
        has("› Mine"),
        "ctrl+d",
        has("You are in this session; it cannot be deleted. /new begins another."),
        "enter",
    )
    front = talk(runtime, screen, "Hello", "/resume")
    assert front.session_left == "Mine"
    assert answers(front) == ["You are in that session."]


def test_deleting_names_what_goes_and_takes_that_and_what_lies_beside_it(runtime: Open, world: Any) -> None:
    root = world.home / "sessions"
    goes = kept(root, world.project, "goes away")
    stays = kept(root, world.project, "stays here")
    goes.with_name(goes.name + ".torn").write_bytes(b"x")
    screen = Screen("down", "ctrl+d", has("› goes away"), "ctrl+d", has("Deleted for good:\n", "stays"), "esc")
    screen.front.ui.answer("select", "Keep it", "Delete it")
    talk(runtime, screen, "/resume")
    (title,) = {title for method, title in screen.front.ui.asked if method == "select"}
    assert "'goes away'" in title and str(goes) in title and "1 messages" in title
    assert list(goes.parent.iterdir()) == [stays]


def test_a_session_that_is_open_elsewhere_is_not_deleted_and_its_holder_is_named(runtime: Open, world: Any) -> None:
    path = kept(world.home / "sessions", world.project, "busy")
    with Session.open(path):
        screen = Screen("ctrl+d", has("It is open in this process", "leave it there first"), "esc")
        talk(runtime, screen, "/resume")
    assert path.exists()


def test_deleting_a_link_takes_the_link_alone(runtime: Open, world: Any) -> None:
    root = world.home / "sessions"
    path = kept(root, world.project, "linked")
    target = world.project / "elsewhere.jsonl"
    path.rename(target)
    path.symlink_to(target)
    screen = Screen("ctrl+d", has("Deleted for good"), "esc")
    screen.front.ui.answer("select", "Delete it")
    talk(runtime, screen, "/resume")
    assert not path.is_symlink() and target.exists()


def test_damaged_ones_are_shown_with_their_problem(runtime: Open, world: Any) -> None:
    path = kept(world.home / "sessions", world.project, "fine")
    path.write_bytes(b"not a session\n")
    screen = Screen(has("its first line is damaged"), "ctrl+r", *"Name", "enter", has("Not renamed"), "esc")
    with_name = talk(runtime, screen, "/resume")
    assert with_name.session_left is None


def test_tab_shows_all_projects_and_a_session_goes_on_in_its_own(runtime: Open, world: Any, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    kept(world.home / "sessions", other, "far away")
    screen = Screen(
        has("Which session? 0 of this project", "there are no sessions here", "tab all projects"),
        "enter",
        "tab",
        has("› far away", "of all projects", "tab this project", "/other\n"),
        "enter",
    )
    front = talk(runtime, screen, "/resume")
    assert any(str(other) in note.text for note in front.notes)


def test_a_session_is_named_by_id_or_name_and_a_wrong_one_gets_near_ones(runtime: Open, world: Any) -> None:
    path = kept(world.home / "sessions", world.project, "the one", name="The One")
    front = talk(runtime, RecordingFrontEnd("rpc"), "/resume The One", "/sessions The One")
    assert (front.session_left, answers(front)) == ("The One", ["You are in that session."])
    with pytest.raises(UsageError, match=r"no session 'zzz'; the newest ones:\n  \S+  The One"):
        talk(runtime, RecordingFrontEnd("repl"), "/resume zzz")
    id = next(iter(list_sessions(world.home / "sessions"))).id
    assert talk(runtime, Screen(), f"/resume {id[:-2]}").session_left == "The One"
    assert path.exists()


def test_the_newest_are_shown_before_the_others_are_read(runtime: Open, world: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("zot_plugins.commands.session_list.FIRST", 2)
    monkeypatch.setattr("zot_plugins.commands.session_list.MORE", 2)
    for number in range(9):
        kept(world.home / "sessions", world.project, f"number {number}")
    counts: list[str] = []
    seen = asyncio.Event()

    async def until(component: Any) -> None:
        while " so far" in component.render(79)[0]:
            await asyncio.sleep(0.01)
        seen.set()

    class Patient(Screen):
        async def custom(self, factory: Any, **options: Any) -> Any:
            async def made(*args: Any) -> Any:
                component = await factory(*args)
                counts.append(component.render(79)[0])
                await until(component)
                counts.append(component.render(79)[0])
                return component

            return await super().custom(made, **options)

    screen = Patient(has("number 8", "number 0"), "esc")
    talk(runtime, screen, "/resume")
    assert counts == ["Which session? 2 so far of this project", "Which session? 9 of this project"]


def test_session_counts_what_each_model_cost(runtime: Open, world: Any) -> None:
    path = kept(world.home / "sessions", world.project, "count")
    with Session.open(path) as session:
        for model, cost in (("a", 0.25), ("b", 0.5)):
            usage = Usage(input=1000, output=10, cost=cost)
            session.append_message(AssistantMessage(content=(Text("x"),), provider="p", model=model, usage=usage))
    info: SessionInfo | None = read_info(path)
    assert info is not None
    text = answers(talk(runtime, RecordingFrontEnd("rpc"), f"/resume {info.id}", "/session"))[0]
    assert "- Tokens: 2,000 in, 0 from the cache, 20 out\n- Cost: $0.7500" in text
    assert "- Of it p/b: 1,000 in, 0 from the cache, 10 out, $0.5000" in text
    assert "- Answers: 2" in text


def test_session_offers_what_can_be_done_and_says_the_facts(runtime: Open, world: Any) -> None:
    screen = Screen(has("Go on", "give it a name"), "esc", "down", "enter")
    screen.front.ui.answer("input", "A name")
    front = talk(runtime, screen, "Hello", "/session", "/session")
    assert answers(front)[0].startswith("- Id: ") and answers(front)[1] == "This session is called A name."
    with pytest.raises(UsageError, match="/session frob: there are name, fork, export"):
        talk(runtime, Screen(), "/session frob")


def test_help_says_an_alias_beside_its_command_and_more_about_one(runtime: Open, world: Any) -> None:
    front = talk(runtime, RecordingFrontEnd("rpc"), "/help", "/help sessions", "/HELP /btw")
    text, about, btw = answers(front)
    assert "| **Conversation** | |" in text and "(also /sessions)" in text and "| `/sessions" not in text
    assert text.index("`/resume") < text.index("**Model**") < text.index("`/model") < text.index("**Plugins**")
    assert about.startswith("`/resume [ID]`: go on with another session") and "Also `/sessions`." in about
    assert "`/btw QUESTION`" in btw and "Of the plugin commands." in btw
    with pytest.raises(UsageError, match="there is no command /resmue; did you mean /resume"):
        talk(runtime, RecordingFrontEnd("rpc"), "/help resmue")

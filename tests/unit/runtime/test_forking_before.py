"""A fork before a prompt: the copy ends before it, and its text is what the editor holds then. Labels are read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from zot_core import CommandSpec, UsageError, hookimpl
from zot_core.testing import RecordingFrontEnd, Script
from zot_core.testing.front import AnsweringUi
from zot_core.types.content import text_of
from zot_core.types.messages import UserMessage

Open = Callable[..., Any]


class Ui(AnsweringUi):
    """A `ctx.ui` with an editor."""

    editor_text = ""

    def set_editor_text(self, text: str) -> None:
        self.editor_text = text

    def get_editor_text(self) -> str:
        return self.editor_text


class Forks:
    """Brings `/forks POSITION`: a fork at the last prompt."""

    @hookimpl
    def commands(self) -> CommandSpec:
        async def forks(args: str, ctx: Any) -> None:
            async def then(new: Any) -> None:
                new.append_entry("forked", {"editor": new.ui.get_editor_text()})

            entry = [one for one in ctx.session.branch() if isinstance(one.message, UserMessage)][-1]
            await ctx.fork(entry.id, position=args, with_session=then)

        return CommandSpec(name="forks", handler=forks)


def front() -> Any:
    made = RecordingFrontEnd("rpc")
    made.ui = Ui(made.note, "rpc")
    return made


def asked(app: Any) -> list[str]:
    return [text_of(one.content) for one in app.runtime.session.messages() if isinstance(one, UserMessage)]


def forked(runtime: Open, *commands: str, typed: str = "", choose: str | None = None) -> tuple[list[str], str, Any]:
    """The prompts of the session after the commands, the editor's text, and the front end."""
    shown = front()

    async def story() -> list[str]:
        script = Script().text("One.").then().text("Two.").then().text("Three.")
        async with runtime(script=script, plugins=[Forks()], front=shown, no_session=False) as app:
            for text in ("first prompt", "second\nprompt"):
                await app.prompt(text)
            shown.ui.editor_text = typed
            if choose is not None:
                shown.ui.answer("select", choose)
            for command in commands:
                await app.prompt(command)
            return asked(app)

    return asyncio.run(story()), shown.ui.editor_text, shown


def test_before_a_prompt_its_text_is_in_the_editor(runtime: Open) -> None:
    assert forked(runtime, "/forks before")[:2] == (["first prompt"], "second\nprompt")


def test_at_a_prompt_the_editor_stays_as_it_is(runtime: Open) -> None:
    assert forked(runtime, "/forks at", typed="mine")[:2] == (["first prompt", "second\nprompt"], "mine")


def test_what_is_typed_is_kept_below(runtime: Open) -> None:
    assert forked(runtime, "/forks before", typed="mine")[1] == "second\nprompt\nmine"


@pytest.mark.parametrize(
    ("command", "chosen", "prompts", "text"),
    [
        ("/fork", "2. second prompt", ["first prompt"], "second\nprompt"),
        ("/fork", "1. first prompt", [], "first prompt"),
        ("/fork", "Here: a copy of all of it", ["first prompt", "second\nprompt"], ""),
        ("/fork here", None, ["first prompt", "second\nprompt"], ""),
        ("/clone", None, ["first prompt", "second\nprompt"], ""),
        ("/fork FIRST", None, [], "first prompt"),
        ("/fork prompt", None, ["first prompt"], "second\nprompt"),
    ],
)
def test_the_command_offers_the_prompts_newest_first(
    runtime: Open, command: str, chosen: str | None, prompts: list[str], text: str
) -> None:
    found, editor, shown = forked(runtime, command, choose=chosen)
    assert (found, editor) == (prompts, text)
    assert bool(shown.ui.asked) == (chosen is not None)


def test_words_that_no_prompt_holds_are_said(runtime: Open) -> None:
    with pytest.raises(UsageError, match="no prompt of this session holds 'third'"):
        forked(runtime, "/fork third")


def test_labels_are_read_and_outlast_a_fork(runtime: Open) -> None:
    class Marks:
        read: Any = None

        @hookimpl
        def agent_settled(self, ctx: Any) -> None:
            ctx.session.set_label(ctx.session.leaf_id, "here")
            self.leaf = ctx.session.leaf_id

        @hookimpl
        def session_start(self, event: Any, ctx: Any) -> None:
            if event.reason == "fork":
                self.read = ctx.session.label(self.marked), ctx.session.label("nothing"), dict(ctx.session.labels())

    marks = Marks()

    async def story() -> None:
        async with runtime(script=Script().text("One."), plugins=[marks], no_session=False) as app:
            await app.prompt("x")
            (marked,) = app.runtime.session.labels
            marks.marked = marked
            await app.fork(app.runtime.session.leaf_id, "at")
            assert marks.read == ("here", None, {marked: "here"})

    asyncio.run(story())

"""What is typed, on its way to the session: prompts, commands, words to a run that goes on, commands of the shell.

What does not arrive comes back into the editor. Must not know how any of it is drawn.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from zot_cli import exits
from zot_cli.repl import rescue
from zot_cli.repl import state as st
from zot_cli.repl.state import Waiting
from zot_core.agent.cancel import Signal
from zot_core.types.content import Image, Text, text_of
from zot_core.types.messages import UserMessage

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl
    from zot_core.app import App


class Sending:
    """`early` is what was sent before the session was open; it goes out by `send_early`."""

    def __init__(self, repl: Repl) -> None:
        self._repl = repl
        self.early: list[tuple[str, Sequence[Image]]] = []
        self._shells: list[Signal] = []

    def send_early(self) -> None:
        """Sends what waited for the session."""
        early, self.early = self.early, []
        for text, pictures in early:
            self.send(text, pictures=pictures)

    def end_shell(self) -> bool:
        """Ends the person's own command that was begun last; False when none runs."""
        if self._shells:
            self._shells[-1].abort()
        return bool(self._shells)

    def submit(self, *, follow_up: bool = False) -> None:
        """Sends what is typed: a prompt, a command, or, while a run goes on, a word to it."""
        repl = self._repl
        if repl.menu.open and not follow_up and repl.menu.take() and not repl.editor.shown.startswith("/"):
            return
        repl.menu.close()
        pictures = repl.editor.pictures
        text = repl.editor.take().strip()
        if not text:
            return
        if repl.app is None and text in ("/exit", "/quit"):
            repl.leave()
            return
        repl.front.change(st.unflash(repl.front.state))
        self.send(text, follow_up=follow_up, pictures=pictures)

    def send(self, text: str, *, follow_up: bool = False, pictures: Sequence[Image] = ()) -> None:
        """Sends a text as if it had been typed."""
        repl = self._repl
        if repl.app is None:
            self.early.append((text, pictures))
        elif text.startswith("!") and text.strip("! "):
            repl.begin(self._shell(repl.app, text.lstrip("!").strip(), keep=not text.startswith("!!")), "shell")
        elif repl.app.is_idle or repl.app.is_command(text):
            repl.begin(self._prompt(repl.app, text, pictures), "prompt")
        else:
            kind: Any = "follow_up" if follow_up else "steer"
            waiting = (*repl.front.state.waiting, Waiting(kind=kind, text=text))
            repl.front.change(replace(repl.front.state, waiting=waiting))
            repl.begin(self._join(repl.app, text, kind, pictures), kind)

    def take_back(self) -> None:
        """What is queued comes back into the editor."""
        repl = self._repl
        if repl.app is None:
            return
        texts = []
        for message in repl.app.runtime.queues.give_back():
            if isinstance(message, UserMessage):
                texts.append(text_of(message.content))
            else:
                repl.app.runtime.queues.put("next_turn", message)
        known = [one.text for one in repl.front.state.waiting]
        repl.front.change(replace(repl.front.state, waiting=()))
        texts = texts or known
        if texts:
            repl.editor.prepend("\n".join(texts))

    async def _prompt(self, app: App, text: str, pictures: Sequence[Image]) -> None:
        repl = self._repl
        try:
            end = await app.prompt(text, pictures)
        except Exception:
            self._cut_off(app, text)
            raise
        said = exits.reason_of(end.stop, end.failure) if end is not None else ""
        if end is not None and end.stop == "aborted" and not end.messages:
            repl.editor.prepend(text)  # it never began: what was typed comes back
        repl.front.fold()
        repl.front.change(st.ended(repl.front.state))
        if said:
            if end is not None and end.failure is not None and end.failure.kind == "auth":
                said += " Here: `/login` stores a key, `/model` chooses another model."
            repl.tell(said, "warning" if end is not None and end.stop == "aborted" else "error")
        if end is not None and end.failure is not None and end.failure.kind == "session":
            self._cut_off(app, text)
        if app.is_idle and (app.runtime.queues or repl.front.state.waiting):
            self.take_back()
        while end is not None and end.failure is not None:
            end = await rescue.offered(repl, app, end.failure)
            if end is not None and (said := exits.reason_of(end.stop, end.failure)):
                repl.front.change(st.ended(repl.front.state))
                repl.tell(said, "error")

    def _cut_off(self, app: App, text: str) -> None:
        """The prompt's work failed, as on a full disk: what has not arrived in the session comes back."""
        repl = self._repl
        repl.front.fold()
        repl.front.change(st.ended(repl.front.state))
        self.take_back()
        arrived = any(isinstance(m, UserMessage) and text_of(m.content) == text for m in app.runtime.session.messages())
        if not arrived and not app.is_command(text):
            repl.editor.prepend(text)

    async def _shell(self, app: App, command: str, *, keep: bool) -> None:
        """The person's own command: a row like a tool's, and Esc ends it."""
        repl = self._repl
        signal, call_id, now = Signal(), f"user:{time.monotonic()}", time.monotonic()
        name = "you" if keep else "you, not for the model"
        self._shells.append(signal)

        def change(**changes: Any) -> None:
            repl.front.fold()
            repl.front.change(st.tool(repl.front.state, call_id, **changes))

        change(name=name, args={"command": command}, status="running", since=now)
        try:
            result = await app.user_bash(command, keep=keep, signal=signal, update=lambda text: change(progress=text))
        except BaseException:
            change(status="blocked")
            raise
        finally:
            self._shells.remove(signal)
        content = (Text(result.content),) if isinstance(result.content, str) else tuple(result.content)
        status: st.Status = "failed" if result.is_error else "done"
        change(status=status, result=content, took=time.monotonic() - now)

    async def _join(self, app: App, text: str, kind: str, pictures: Sequence[Image]) -> None:
        repl = self._repl
        lane = getattr(app.runtime.queues, kind)
        last = lane[-1] if lane else None
        try:
            await (app.follow_up(text, pictures) if kind == "follow_up" else app.steer(text, pictures))
        except Exception:
            self.take_back()
            raise
        if app.is_idle and repl.front.state.waiting:
            self.take_back()  # the run was over by then, and the prompt that it became failed
        else:
            waits = text_of(lane[-1].content) if lane and lane[-1] is not last else ""
            repl.front.change(st.requeued(repl.front.state, text, waits))

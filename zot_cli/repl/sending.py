"""What is typed, on its way to the session: prompts, commands, words to a run that goes on, commands of the shell.

What does not arrive comes back into the editor. Must not know how any of it is drawn.
"""

from __future__ import annotations

import re
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

_BARE = re.compile(r"/(\S+)\s*")
"""A command with nothing after it."""
_CD = re.compile(r"!+\s*(cd|pushd|popd)\b[^;&|\n]*$")
"""A command that only changes the folder of its own shell."""


class Sending:
    """`early` is what was sent before the session was open; it goes out by `send_early`."""

    def __init__(self, repl: Repl) -> None:
        self._repl = repl
        self.early: list[tuple[str, Sequence[Image]]] = []
        self._shells: list[Signal] = []
        self._told: set[str] = set()
        self._joining = 0
        """Words on their way into a run, or become a prompt of their own because it was over by then."""

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

    def submit(self, *, other_way: bool = False) -> None:
        """Sends what is typed: a prompt, a command, or, while a run goes on, a word to it; `other_way` is not that of
        the setting `queue.enter`."""
        repl = self._repl
        if repl.menu.wants_enter and not other_way and repl.menu.take():
            lacks = self._lacks(repl.editor.shown)
            if lacks or not repl.editor.shown.startswith("/"):
                return  # completed, and the person goes on
        repl.menu.close()
        pictures = repl.editor.pictures
        text = repl.editor.take().strip()
        if not text:
            return
        if (failed := repl.editor.history.failed) and failed not in self._told:
            self._told.add(failed)
            repl.tell(failed, "warning")
        if repl.app is None and text in ("/exit", "/quit"):
            repl.leave()
            return
        repl.front.change(st.unflash(repl.front.state))
        self.send(text, other_way=other_way, pictures=pictures)

    def send(self, text: str, *, other_way: bool = False, pictures: Sequence[Image] = ()) -> None:
        """Sends a text as if it had been typed."""
        repl = self._repl
        if repl.app is None:
            self.early.append((text, pictures))
        elif not text.strip("! "):
            repl.editor.prepend(text)
            repl.ui.notify_self("what stands after ! is run by the shell; there was nothing")
        elif text.startswith("!"):
            if _CD.match(text):
                repl.ui.notify_self(f"cd is for that command alone; zot stays in {repl.app.runtime.cwd}")
            repl.begin(self._shell(repl.app, text.lstrip("!").strip(), keep=not text.startswith("!!")), "shell")
        elif lacks := self._lacks(text):
            repl.editor.prepend(f"{text.strip()} ", pictures)
            repl.ui.notify_self(lacks)
        elif repl.app.is_idle or repl.app.is_command(text):
            self._tell_if_it_waits(repl.app, text)
            repl.begin(self._prompt(repl.app, text, pictures), "prompt")
        else:
            steers = (repl.app.runtime.settings.values.queue.enter == "steer") is not other_way
            kind: Any = "steer" if steers else "follow_up"
            waiting = (*repl.front.state.waiting, Waiting(kind=kind, text=text))
            repl.front.change(replace(repl.front.state, waiting=waiting))
            self._joining += 1
            repl.begin(self._join(repl.app, text, kind, pictures), kind)

    def _lacks(self, text: str) -> str:
        """Why the command that `text` is alone cannot run: it requires arguments. "" for any other text."""
        app = self._repl.app
        match = _BARE.fullmatch(text)
        row = app.runtime.commands.row(match[1]) if app is not None and match is not None else None
        if match is None or row is None or not row.item.requires_arguments:
            return ""
        return f"/{match[1]} needs arguments: /{match[1]} {row.item.argument_hint}".rstrip()

    def _tell_if_it_waits(self, app: App, text: str) -> None:
        """Says so when a command begins only once the run is over, or ends it."""
        row = app.runtime.commands.row(text[1:].split(maxsplit=1)[0]) if app.is_command(text) else None
        if row is None or app.is_idle or row.item.busy == "run":
            return
        name, key = row.item.name, self._repl.keymap.hint("app.abort")
        waits = f"/{name} waits until the run is over{f'; {key} ends it' if key else ''}"
        self._repl.ui.notify_self(waits if row.item.busy == "wait" else f"/{name} ends the run")

    def take_back(self) -> None:
        """What is queued comes back into the editor."""
        repl = self._repl
        if repl.app is None:
            return
        texts: list[str] = []
        pictures: list[Image] = []
        for message in repl.app.runtime.queues.give_back():
            if isinstance(message, UserMessage):
                texts.append(text_of(message.content))
                pictures += [block for block in message.content if isinstance(block, Image)]
            else:
                repl.app.runtime.queues.put("next_turn", message)
        known = [one.text for one in repl.front.state.waiting]
        repl.front.change(replace(repl.front.state, waiting=()))
        texts = texts or known
        if texts:
            repl.editor.prepend("\n".join(texts), pictures)

    async def _prompt(self, app: App, text: str, pictures: Sequence[Image]) -> None:
        repl = self._repl
        try:
            end = await app.prompt(text, pictures)
        except Exception:
            self._cut_off(app, text, pictures)
            raise
        said = exits.reason_of(end.stop, end.failure) if end is not None else ""
        if end is not None and end.stop in ("aborted", "blocked") and not end.messages:
            repl.editor.prepend(text, pictures)  # it never began: what was typed comes back
        repl.front.fold()
        if app.is_idle or not app.is_command(text):  # a command that ends while a run goes on is not the run's end
            repl.front.change(st.ended(repl.front.state))
        if said:
            if end is not None and end.failure is not None and end.failure.kind == "auth":
                said += " Here: `/login` stores a key, `/model` chooses another model."
            repl.tell(said, "warning" if end is not None and end.stop == "aborted" else "error")
        if end is not None and end.failure is not None and end.failure.kind == "session":
            self._cut_off(app, text, pictures)
        if app.is_idle and not self._joining and (app.runtime.queues or repl.front.state.waiting):
            self.take_back()
        while end is not None and end.failure is not None:
            end = await rescue.offered(repl, app, end.failure)
            if end is not None and (said := exits.reason_of(end.stop, end.failure)):
                repl.front.change(st.ended(repl.front.state))
                repl.tell(said, "error")

    def _cut_off(self, app: App, text: str, pictures: Sequence[Image]) -> None:
        """The prompt's work failed, as on a full disk: what has not arrived in the session comes back."""
        repl = self._repl
        if not app.is_idle and app.is_command(text):
            return  # a command failed, and the run beside it goes on
        repl.front.fold()
        repl.front.change(st.ended(repl.front.state))
        self.take_back()
        arrived = any(isinstance(m, UserMessage) and text_of(m.content) == text for m in app.runtime.session.messages())
        if not arrived and not app.is_command(text):
            repl.editor.prepend(text, pictures)

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
            end = await (app.follow_up(text, pictures) if kind == "follow_up" else app.steer(text, pictures))
        except Exception:
            self.take_back()
            raise
        finally:
            self._joining -= 1
        if app.is_idle and repl.front.state.waiting:
            self.take_back()  # the run was over by then, and the prompt that it became failed
        else:
            waits = text_of(lane[-1].content) if lane and lane[-1] is not last else ""
            repl.front.change(st.requeued(repl.front.state, text, waits))
        if end is not None and end.stop == "blocked":
            repl.editor.prepend(text, pictures)

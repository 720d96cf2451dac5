"""Events of what a person sends: prompts and shell commands of their own."""

from __future__ import annotations

from typing import Literal

from zot_core.events.base import Block, Gate, Handled, OnError, Question
from zot_core.types.content import Image
from zot_core.types.record import record

__all__ = ["BashResult", "InputEvent", "ShellOperations", "UserBashEvent"]


@record(kw_only=True)
class InputEvent(Gate):
    """Sent when a prompt arrives: after slash commands were looked up, before skills and templates expand.

    `delivery` says how it will join a run that is going on; None when nothing runs. `Handled` ends it without a model
    call, `Block` refuses it with a reason for the person.
    """

    text: str
    images: tuple[Image, ...] = ()
    source: Literal["interactive", "rpc", "extension"] = "interactive"
    delivery: Literal["steer", "follow_up"] | None = None
    rewritable = frozenset({"text", "images"})
    stops = frozenset({Block, Handled})


@record(kw_only=True)
class BashResult:
    """The whole outcome of a person's shell command, from a plugin that ran it itself."""

    output: str
    exit_code: int | None = 0
    cancelled: bool = False
    truncated: bool = False


class ShellOperations:
    """Base of what a plugin answers to run shell commands elsewhere: `async exec(command, cwd, **options)`."""

    __slots__ = ()


@record(kw_only=True)
class UserBashEvent(Question):
    """Sent when a person runs `!command` or `!!command`, before it runs. A broken handler blocks it."""

    command: str
    cwd: str
    exclude_from_context: bool = False
    answer = (ShellOperations, BashResult)
    stops = frozenset({Block})
    on_error = OnError.BLOCK
    modes = "R I"

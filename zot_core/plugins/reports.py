"""What the pipeline says about handlers, in sentences that name the line to write. Calls no handler."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from zot_core.events import event_class
from zot_core.events.base import Block, Event, Fact, Gate, Handled, Question
from zot_core.plugins.budget import Budget, OverBudget
from zot_core.plugins.chain import Link
from zot_core.plugins.diagnostics import Diagnostic, Diagnostics, Level
from zot_core.plugins.errors import WrongAnswer
from zot_core.plugins.trace import AnswerKind, CallRecord, Trace
from zot_core.types.safe_text import error_text

SLOW = 0.05
"""Seconds that a sync handler may hold up the event loop before its plugin is named."""
_HERE = str(Path(__file__).parent)


def described(error: BaseException) -> str:
    """The error in a line: its type and its text; an error of zot's own is its text."""
    return str(error) if type(error).__module__.startswith("zot_core.") else error_text(error)


def plugin_traceback(error: BaseException) -> str:
    """The traceback as text, without the frames of the pipeline above the plugin's."""
    frames = error.__traceback__
    while frames is not None and frames.tb_next is not None and frames.tb_frame.f_code.co_filename.startswith(_HERE):
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames))


def in_place(event: Any, field: str) -> str:
    """Said when a handler changed a copy and answered nothing."""
    said = f"changed event.{field} in place, which nobody sees"
    if isinstance(event, Gate) and field in event.rewritable:
        return f"{said}; write: return event.replace({field}={{**event.{field}, ...}})"
    return f"{said}; {event.hook} does not let {field} be changed"


def wrong_answer(event: Gate | Question, answer: Any) -> str:
    """Said when a handler answered what its hook does not take."""
    takes = ["nothing"]
    if isinstance(event, Question):
        takes += [cls.__name__ for cls in event.answer]
    elif event.rewritable:
        takes.append(f"event.replace({', '.join(f'{name}=...' for name in sorted(event.rewritable))})")
    takes += sorted(f"{stop.__name__}(...)" for stop in event.stops)
    return f"{event.hook} takes {' or '.join(takes)} as an answer, not {type(answer).__name__}"


def plugin_error(plugin: str, hook: str, error: BaseException) -> Any:
    """The event that tells the others that `plugin` broke."""
    cls = event_class("plugin_error")
    return cls(plugin=plugin, hook_name=hook, message=described(error), traceback=plugin_traceback(error))


class Reports:
    """Writes what handlers did into diagnostics and trace."""

    def __init__(self, diagnostics: Diagnostics, trace: Trace) -> None:
        self._diagnostics = diagnostics
        self._trace = trace

    def error(self, plugin: str, hook: str, error: BaseException) -> bool:
        """A failure; False if the same was reported before. Failures that zot found itself need no traceback."""
        text = "" if isinstance(error, WrongAnswer | OverBudget) else plugin_traceback(error)
        return self._diagnostics.report(Diagnostic("error", plugin, hook, described(error), text))

    def say(self, link: Link, message: str, level: Level = "warning") -> None:
        """Something that the plugin's author should know."""
        self._diagnostics.report(Diagnostic(level, link.owner, link.mark.hook, message))

    def slow(self, link: Link) -> None:
        """A sync handler took more than SLOW."""
        self.say(link, f"holds everything up for more than {SLOW * 1000:.0f} ms; make it async or use a thread")

    def warner(self, link: Link, budget: Budget) -> Callable[[], None]:
        """What to call when a handler passes the first limit of its budget."""
        return lambda: self.say(link, f"is taking more than {budget[0]:g} s")

    def ignored(self, link: Link, event: Event, answer: Any, began: float) -> None:
        """An answer that nobody asked for; an observer's is its own affair, a decision about a Fact is a mistake."""
        if isinstance(event, Fact) and isinstance(answer, Block | Handled | Event):
            self.say(link, f"{event.hook} only tells; the answer {type(answer).__name__} is ignored")
        self.call(link, "none" if answer is None else "ignored", began)

    def call(self, link: Link, kind: AnswerKind, began: float, changed: tuple[str, ...] = (), error: str = "") -> None:
        """One call for the trace; one that answered nothing only if everything is traced."""
        if kind != "none" or self._trace.everything:
            self._trace.add(CallRecord(link.mark.hook, link.owner, kind, changed, perf_counter() - began, error))

"""`hookimpl` says what is wrong where it is written, and the tables agree with the events."""

from __future__ import annotations

import functools
import subprocess
import sys

import pytest

from zot_core.events import LANE_OF, LANES, class_name, event_class
from zot_core.events.base import Fact, Gate, Question
from zot_core.hooks.contributions import CONTRIBUTIONS
from zot_core.hooks.markers import HookError, hookimpl, marks_of
from zot_core.types.specs import resolve


def test_bare_takes_the_functions_name_and_an_argument_names_the_hook():
    @hookimpl
    async def tool_call(event, ctx): ...

    @hookimpl("tool_call", observe=True)
    def watch(event): ...

    assert marks_of(tool_call).hook == marks_of(watch).hook == "tool_call"
    assert marks_of(tool_call).is_async and marks_of(tool_call).takes == ("event", "ctx")
    assert marks_of(watch).observe and not marks_of(tool_call).observe
    assert marks_of(watch).where.startswith(__file__)
    assert marks_of(len) is None


def _generator(event):
    yield


async def _async_generator(event):
    yield


async def _coroutine():
    return []


@pytest.mark.parametrize(
    ("hook", "function", "options", "message"),
    [
        ("tool_cal", lambda event: None, {}, "there is no hook 'tool_cal' (did you mean 'tool_call'?)"),
        ("tool_call", lambda evnt: None, {}, "no parameter 'evnt' (did you mean 'event'?)"),
        ("tool_call", lambda event, session: None, {}, "no parameter 'session'"),
        ("tool_call", lambda *args: None, {}, "instead of *args"),
        ("tools", lambda ctx: None, {}, "no parameter 'ctx'; a function may name any of: session"),
        ("tool_call", lambda event: None, {"observes": True}, "no option 'observes' (did you mean 'observe'?)"),
        ("tool_call", lambda event: None, {"tryfirst": True, "trylast": True}, "both tryfirst and trylast"),
        ("tool_call", lambda event: None, {"on_error": "continue"}, "laxer is not"),
        ("tool_call", lambda event: None, {"on_error": "block", "observe": True}, "decides nothing"),
        ("tools", lambda: None, {"observe": True}, "tools is a contribution and takes no observe"),
        ("tool_call", lambda event: None, {"preview_safe": True}, "an option of before_agent_start, not of tool_call"),
        ("input", lambda event: None, {"mutates_messages": True}, "an option of context and context_with_system"),
        ("tool_call", _generator, {}, "it cannot yield"),
        ("tool_call", _async_generator, {}, "it cannot yield"),
        ("tools", _coroutine, {}, "must be a plain function"),
        ("tools", _async_generator, {}, "no parameter 'event'"),
        ("tools", int, {}, "hookimpl marks functions"),
    ],
)
def test_what_cannot_work_is_refused_with_its_place(hook, function, options, message):
    with pytest.raises(HookError) as caught:
        hookimpl(hook, **options)(function)
    assert message in str(caught.value)
    if function is not int:
        assert str(caught.value).startswith(f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}: ")


def test_what_can_work_is_not_refused():
    hookimpl("tool_call")(lambda event, extra=1: None)
    hookimpl("tools")(lambda: None)
    hookimpl("tools")(lambda session: iter(()))

    def counted(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)

        return wrapper

    @hookimpl
    @counted
    def tool_call(event): ...

    @counted
    @hookimpl("input")
    def other(event): ...

    assert marks_of(tool_call).takes == ("event",) and marks_of(other).hook == "input"

    class Methods:
        @hookimpl
        @staticmethod
        def input(event): ...

        @hookimpl
        @classmethod
        def turn_start(cls, event): ...

    assert marks_of(Methods.input).takes == marks_of(Methods.turn_start).takes == ("event",)


def test_every_hook_has_a_class_of_its_name_and_one_kind():
    for lane, hooks in LANES.items():
        for hook in hooks:
            cls = event_class(hook)
            assert cls.__name__ == class_name(hook) and cls.hook == hook and LANE_OF[hook] == lane
            assert len({Fact, Gate, Question} & set(cls.__mro__)) == 1, hook
            assert "hook" not in cls.__slots__, "a field of that name would hide the event's hook"
            for name in getattr(cls, "rewritable", ()):
                assert name in cls.__dataclass_fields__, (hook, name)
    assert not LANE_OF.keys() & CONTRIBUTIONS.keys()


def test_every_contribution_names_types_that_exist():
    for name, contribution in CONTRIBUTIONS.items():
        assert contribution.name == name and contribution.doc and contribution.equal_names
        for item in contribution.items:
            assert isinstance(resolve(item), type)


def test_the_mark_costs_neither_pluggy_nor_an_event_lane():
    code = (
        "import sys; from zot_core.hooks.markers import hookimpl; hookimpl('tool_call')(lambda event: None);"
        "print([m for m in sys.modules if m in ('pluggy', 'asyncio', 'pydantic', 'zot_core.events.tool')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

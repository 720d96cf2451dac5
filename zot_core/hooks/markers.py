"""`hookimpl`, the mark of a function that implements a hook; checks it where it is written.

pluggy's own marker refuses further options and registers a misspelt hook silently; this one says what is wrong with
file, line and nearest spelling. Imports no event lane and not pluggy: every plugin pays for this module.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final, Literal, TypeVar, overload

from zot_core.events import LANE_OF
from zot_core.hooks.contributions import CONTRIBUTIONS
from zot_core.types.failure import ZotError
from zot_core.types.record import record

F = TypeVar("F", bound=Callable[..., Any])

ATTRIBUTE: Final = "zot_impl"
_OPTIONS: Final = ("observe", "tryfirst", "trylast", "on_error", "preview_safe", "mutates_messages")
_ONLY_FOR: Final = {
    "preview_safe": frozenset({"before_agent_start"}),
    "mutates_messages": frozenset({"context", "context_with_system"}),
}


class HookError(ZotError):
    """A function cannot implement the hook that it names; the message has file, line and what to write instead."""


@record
class Mark:
    """What `hookimpl` knows of a function: its hook, its options, which of the hook's parameters it takes and in which
    order (`by_keyword` when it cannot take them by position), and where it was written."""

    hook: str
    attribute: str
    takes: tuple[str, ...]
    by_keyword: bool
    is_async: bool
    file: str
    line: int
    observe: bool = False
    tryfirst: bool = False
    trylast: bool = False
    on_error: Literal["block"] | None = None
    preview_safe: bool = False
    mutates_messages: bool = False

    @property
    def where(self) -> str:
        """`file:line`."""
        return f"{self.file}:{self.line}"


_marks: dict[str, dict[str, list[Mark]]] = {}
"""Module -> qualified name -> marks, to find at registration those that something took the place of."""


@overload
def hookimpl(function: F, /) -> F: ...
@overload
def hookimpl(
    hook: str | None = None,
    /,
    *,
    observe: bool = False,
    tryfirst: bool = False,
    trylast: bool = False,
    on_error: Literal["block"] | None = None,
    preview_safe: bool = False,
    mutates_messages: bool = False,
) -> Callable[[F], F]: ...
def hookimpl(hook: Any = None, /, **options: Any) -> Any:
    """Marks a function as the implementation of a hook.

    Bare, `@hookimpl`, it takes the function's name; `@hookimpl("tool_call", observe=True)` names the hook. `observe`:
    told the event as sent, whatever the chain decides; the answer is ignored. `tryfirst`, `trylast`: before or after
    all plain implementations. `on_error="block"`: a failure of this function counts as a refusal, even where the event
    goes on. `preview_safe` (`before_agent_start` only): may be asked for a preview.

    Raises HookError for an unknown hook or option, parameters that the hook does not have, or a kind of function that
    it cannot call.
    """
    if hook is None or isinstance(hook, str):

        def decorate(function: Any) -> Any:
            return _mark(function, hook, options)

        return decorate
    return _mark(hook, None, options)


def marks_of(function: Any) -> Mark | None:
    """The mark of `function` (a plain or bound function, static or class method), or None."""
    mark = getattr(function, ATTRIBUTE, None)
    return mark if isinstance(mark, Mark) else None


def make_mark(function: Callable[..., Any], hook: str, options: dict[str, Any]) -> Mark:
    """Checks that `function` can implement `hook` with `options` and says how to call it. Raises HookError."""
    code = _code_of(function)
    where = f"{code.co_filename}:{code.co_firstlineno}" if code else repr(function)
    name = getattr(function, "__name__", type(function).__name__)
    _check_name(hook, where)
    _check_options(hook, options, where)
    parameters = ("event", "ctx") if hook in LANE_OF else ("session",)
    takes, by_keyword = _parameters(function, code, hook, parameters, where)
    flags = code.co_flags if code else 0
    _check_function_kind(hook, flags, where)
    return Mark(
        hook=hook,
        attribute=name,
        takes=takes,
        by_keyword=by_keyword,
        is_async=bool(flags & inspect.CO_COROUTINE),
        file=code.co_filename if code else "",
        line=code.co_firstlineno if code else 0,
        **options,
    )


def lost_marks(module: str, prefix: str, lookup: Callable[[str], Any]) -> list[Mark]:
    """Marks of functions written in `module` under `prefix` (a class's qualified name and a dot, or "") that `lookup`
    no longer finds under their name, because something else took it: a submodule, a variable, a second function."""
    lost = []
    for qualified, marks in _marks.get(module, {}).items():
        name = qualified.removeprefix(prefix)
        if not qualified.startswith(prefix) or "." in name:
            continue
        now = marks_of(lookup(name))
        lost += [mark for mark in marks if now is None or (not prefix and now is not mark)]
    return lost


def forget_marks(module: str) -> None:
    """Drops what is remembered of `module` and its submodules, when a reload has replaced them."""
    for name in [name for name in _marks if name == module or name.startswith(module + ".")]:
        del _marks[name]


def nearest(word: str, known: Any) -> str:
    """` (did you mean 'x'?)` for the nearest of `known`, or nothing."""
    import difflib  # only on the way to an error; costs 2 ms

    found = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {found[0]!r}?)" if found else ""


def _mark(function: Any, hook: str | None, options: dict[str, Any]) -> Any:
    target = function.__func__ if isinstance(function, staticmethod | classmethod) else function
    if not callable(target) or isinstance(target, type) or not hasattr(target, "__code__"):
        raise HookError(f"hookimpl marks functions, not {target!r}")
    mark = make_mark(target, hook or target.__name__, options)
    setattr(target, ATTRIBUTE, mark)
    _remember(target, mark)
    return function


def _remember(function: Any, mark: Mark) -> None:
    qualified = function.__qualname__
    if "<locals>" in qualified:
        return
    names = _marks.setdefault(function.__module__, {})
    top = [old for key, row in names.items() for old in row if "." not in key]
    if "." not in qualified and any(old.line >= mark.line for old in top):
        names.clear()  # a module runs from the top down, so this one is being run anew
    row = names.setdefault(qualified, [])
    if "." in qualified:
        row.clear()
    row.append(mark)


def _check_name(hook: str, where: str) -> None:
    if hook not in LANE_OF and hook not in CONTRIBUTIONS:
        raise HookError(f"{where}: there is no hook {hook!r}{nearest(hook, (*LANE_OF, *CONTRIBUTIONS))}")


def _check_options(hook: str, options: dict[str, Any], where: str) -> None:
    for option in options:
        if option not in _OPTIONS:
            raise HookError(f"{where}: hookimpl has no option {option!r}{nearest(option, _OPTIONS)}")
    given = {option for option, value in options.items() if value}
    if {"tryfirst", "trylast"} <= given:
        raise HookError(f"{where}: {hook} cannot be both tryfirst and trylast")
    if options.get("on_error") not in (None, "block"):
        raise HookError(f'{where}: on_error can only be "block": stricter than the event is allowed, laxer is not')
    strange = sorted(given - {"tryfirst", "trylast"})
    if hook in CONTRIBUTIONS and strange:
        raise HookError(f"{where}: {hook} is a contribution and takes no {', '.join(strange)}")
    if {"observe", "on_error"} <= given:
        raise HookError(f"{where}: an observer of {hook} decides nothing, so on_error has no meaning with observe=True")
    for option, hooks in _ONLY_FOR.items():
        if option in given and hook not in hooks:
            raise HookError(f"{where}: {option} is an option of {' and '.join(sorted(hooks))}, not of {hook}")


def _check_function_kind(hook: str, flags: int, where: str) -> None:
    if hook in CONTRIBUTIONS:
        if flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            raise HookError(
                f"{where}: {hook} is a contribution and must be a plain function; what has to wait belongs into "
                "session_start or a provider's discover"
            )
    elif flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR):
        raise HookError(f"{where}: a handler of {hook} answers with return; it cannot yield")


def _parameters(
    function: Any, code: Any, hook: str, known: tuple[str, ...], where: str
) -> tuple[tuple[str, ...], bool]:
    """Which of `known` the function takes, in its own order, and whether they must be passed by keyword."""
    if code is None:  # a callable object or a built-in: it is given everything, by position
        return known, False
    positional, keyword_only, required = _signature(function, code)
    names = (*positional, *keyword_only)
    strange = [name for name in names if name not in known and name in required]
    if strange:
        listed = ", ".join(known)
        near = nearest(strange[0], known)
        raise HookError(f"{where}: {hook} has no parameter {strange[0]!r}{near}; a function may name any of: {listed}")
    takes = tuple(name for name in names if name in known)
    if not takes and code.co_flags & inspect.CO_VARARGS and hook in LANE_OF:
        raise HookError(f"{where}: name the parameters of {hook} that you want ({', '.join(known)}) instead of *args")
    return takes, takes != positional[: len(takes)]


def _signature(function: Any, code: Any) -> tuple[tuple[str, ...], tuple[str, ...], set[str]]:
    inner = _unwrap(function)
    count, keywords = code.co_argcount, code.co_kwonlyargcount
    positional = code.co_varnames[:count]
    keyword_only = code.co_varnames[count : count + keywords]
    optional = set(positional[count - len(inner.__defaults__ or ()) :]) | set(inner.__kwdefaults__ or ())
    tail = inner.__qualname__.rsplit("<locals>.", 1)[-1]
    if positional and (hasattr(function, "__self__") or ("." in tail and positional[0] in ("self", "cls"))):
        positional = positional[1:]
    return positional, keyword_only, {*positional, *keyword_only} - optional


def _unwrap(function: Any) -> Any:
    """The function under `functools.wraps` and method objects: its names are the ones that the author wrote."""
    for _ in range(32):
        inner = getattr(function, "__wrapped__", None) or getattr(function, "__func__", None)
        if inner is None:
            break
        function = inner
    return function


def _code_of(function: Any) -> Any:
    return getattr(_unwrap(function), "__code__", None)

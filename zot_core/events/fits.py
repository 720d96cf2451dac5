"""Whether a handler's rewrite has the types that its event declares, in words for the plugin's author.

The declaration is the only source: each rewritable field's annotation becomes a test, made with the first rewrite of
that kind of event. Knows no event.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Test = Callable[[Any], bool]

_tests: dict[type[Any], dict[str, tuple[Test, str, bool]]] = {}
"""Event class -> rewritable field -> its test, the words for what fits, and whether a list is made a tuple."""


def fitted(event: Any, changed: Any) -> tuple[Any, str]:
    """`changed` with lists made tuples where tuples are declared, and what is wrong with it, or ""."""
    cls = type(event)
    tests = _tests.get(cls)
    if tests is None:
        hints = get_type_hints(cls)
        tests = _tests[cls] = {
            name: (_test(hints[name]), _words(hints[name]), _is_tuple(hints[name])) for name in cls.rewritable
        }
    for name, (fits, words, is_tuple) in tests.items():
        value = getattr(changed, name)
        if value is getattr(event, name):
            continue
        if is_tuple and type(value) is list:
            value = tuple(value)
            changed = changed.replace(**{name: value})
        if not fits(value):
            return changed, f"{name} must be {words}, not {_found(value)}"
    return changed, ""


def _test(hint: Any) -> Test:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda value: True
    if origin in (Union, types.UnionType):
        tests = [_test(arg) for arg in args]
        return lambda value: any(fits(value) for fits in tests)
    if origin is Literal:
        return lambda value: value in args
    if origin is tuple:
        item = _test(args[0])
        return lambda value: isinstance(value, tuple) and all(item(one) for one in value)
    if origin is not None and issubclass(origin, Mapping):
        key, held = (_test(arg) for arg in args)
        return lambda value: isinstance(value, Mapping) and all(key(k) and held(v) for k, v in value.items())
    kind = origin or hint
    return lambda value: isinstance(value, kind)


def _is_tuple(hint: Any) -> bool:
    return get_origin(hint) is tuple


def _words(hint: Any) -> str:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(_words(arg) for arg in args)
    if origin is tuple:
        return f"a tuple of {_words(args[0])}"
    if origin is Literal:
        return " or ".join(map(repr, args))
    if hint is type(None):
        return "None"
    if origin is not None and issubclass(origin, Mapping):
        return f"a mapping of {_words(args[0])} to {_words(args[1])}"
    return "anything" if hint is Any else str(getattr(hint, "__name__", hint))


def _found(value: Any) -> str:
    if isinstance(value, tuple) and value:
        return f"a tuple of {', '.join(sorted({type(item).__name__ for item in value}))}"
    return type(value).__name__

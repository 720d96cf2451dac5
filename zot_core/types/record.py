"""`record`: a frozen dataclass with slots whose generated methods cost nothing until an instance is made.

zot has some two hundred of them and a start uses a few dozen; `dataclass(frozen=True)` compiles up to seven methods for
each class when it is defined, half a millisecond a class, which was a third of the time to the first request. Here the
methods that need not be fast are shared, and `__init__` is compiled with the first instance. Everything else is the
standard library's: `fields`, `replace`, `asdict`, `field(...)`, `match` and type checkers see a frozen dataclass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
def record(cls: type[T], /) -> type[T]: ...
@overload
def record(*, kw_only: bool = False, eq: bool = True) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field, Field))
def record(cls: Any = None, /, *, kw_only: bool = False, eq: bool = True) -> Any:
    """Like `dataclass(frozen=True, slots=True)`, with the same meaning of `kw_only` and `eq`.

    Has no `order`, no `InitVar` and no `field(init=False)`.
    """
    if cls is None:
        return lambda cls: _record(cls, kw_only, eq)
    return _record(cls, kw_only, eq)


def _record(cls: Any, kw_only: bool, eq: bool) -> Any:
    if not cls.__doc__:
        cls.__doc__ = cls.__name__  # else dataclass makes one of the signature, which costs more than all the rest
    cls = dataclass(init=False, repr=False, eq=False, kw_only=kw_only, slots=True)(cls)
    cls.__dataclass_params__.frozen = True

    def __init__(self: Any, *args: Any, **values: Any) -> None:
        cls.__init__ = _compiled_init(cls)
        cls.__init__(self, *args, **values)

    methods = [__init__, _repr, _setattr, _delattr, _getstate, _setstate]
    if eq:
        methods += [_eq, _hash]
    for method in methods:
        name = f"__{method.__name__.strip('_')}__"
        if name not in vars(cls) or (name == "__hash__" and cls.__hash__ is None):
            setattr(cls, name, method)
    return cls


def _compiled_init(cls: Any) -> Any:
    """`__init__` as a person would write it: setting attributes in a loop is several times slower."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_unset": MISSING}
    positional, body = ["self"], list[str]()
    keywords: list[str] = []
    for one in fields(cls):
        name, value, default = one.name, one.name, ""
        if one.default is not MISSING:
            known[f"_default_{name}"], default = one.default, f"=_default_{name}"
        elif one.default_factory is not MISSING:
            known[f"_make_{name}"], default = one.default_factory, "=_unset"
            value = f"_make_{name}() if {name} is _unset else {name}"
        (keywords if one.kw_only else positional).append(name + default)
        body.append(f" _set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append(" self.__post_init__()")
    parameters = ", ".join([*positional, *(["*", *keywords] if keywords else [])])
    exec("\n".join([f"def __init__({parameters}):", *(body or [" pass"])]), known)
    known["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
    return known["__init__"]


def _repr(self: Any) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({shown})"


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    names = [one.name for one in fields(self) if one.compare]
    return [getattr(self, name) for name in names] == [getattr(other, name) for name in names]


def _hash(self: Any) -> int:
    hashed = [one.name for one in fields(self) if (one.compare if one.hash is None else one.hash)]
    return hash(tuple([getattr(self, name) for name in hashed]))


def _setattr(self: Any, name: str, value: Any) -> None:
    if _is_frozen(self, name):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _delattr(self: Any, name: str) -> None:
    if _is_frozen(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _is_frozen(self: Any, name: str) -> bool:
    """Attributes that a plain subclass adds are its own business."""
    return name in self.__dataclass_fields__ or "__dataclass_fields__" in vars(type(self))


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)

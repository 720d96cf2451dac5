"""`record` is a frozen dataclass with slots in all that a program can see of it, but for when its methods are made."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any, ClassVar

import pytest

from zot_core.types.record import record


@record
class Point:
    """A record of two."""

    x: int
    y: int = 0
    unit: ClassVar[str] = "cm"


@dataclass(frozen=True, slots=True)
class StandardPoint:
    """The same by the standard library."""

    x: int
    y: int = 0


@record(kw_only=True)
class Login:
    """With all that a field can have."""

    name: str
    key: str = field(default="", repr=False)
    seen: list[str] = field(default_factory=list, compare=False)
    more: Mapping[str, Any] = field(default_factory=dict, hash=False)


@record(eq=False)
class Thing:
    """Equal to itself only."""

    name: str


@record
class Nothing:
    """No fields."""


@record
class Checked:
    """With a check."""

    count: int

    def __post_init__(self) -> None:
        if self.count < 0:
            raise ValueError("negative")


def test_arguments_are_those_of_a_dataclass() -> None:
    assert (Point(1).y, Point(1, 2).y, Point(y=3, x=1).y) == (0, 2, 3)
    assert Nothing() == Nothing()
    for wrong in ({}, {"x": 1, "z": 2}):
        with pytest.raises(TypeError, match=r"Point.__init__\(\)"):
            Point(**wrong)
    with pytest.raises(TypeError, match="positional"):
        Login("Ann")  # type: ignore[misc]


def test_defaults_are_made_for_each_instance() -> None:
    one, other = Login(name="a"), Login(name="b")
    one.seen.append("today")
    assert (one.seen, other.seen, other.more) == (["today"], [], {})
    assert Login(name="a", seen=["x"]).seen == ["x"]


def test_nothing_can_be_changed() -> None:
    point = Point(1)
    for name in ("x", "z"):
        with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
            setattr(point, name, 2)
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x  # type: ignore[misc]
    assert not hasattr(point, "__dict__")


def test_a_plain_subclass_may_have_attributes_of_its_own() -> None:
    class Named(Point):
        def __init__(self, x: int) -> None:
            super().__init__(x)
            self.label = "p"

    named = Named(4)
    assert (named.x, named.y, named.label) == (4, 0, "p")
    with pytest.raises(FrozenInstanceError):
        named.x = 5  # type: ignore[misc]


def test_a_dataclass_may_inherit_from_it() -> None:
    @dataclass(frozen=True, slots=True)
    class Named(Point):
        label: str = "p"

    assert repr(Named(1)).endswith("Named(x=1, y=0, label='p')")
    assert Named(1, 2, "q") == Named(1, 2, "q") != Named(1, 2)


def test_equality_hash_and_repr_are_those_of_a_dataclass() -> None:
    assert Point(1, 2) == Point(1, 2) != Point(2, 1)
    assert Point(1) != StandardPoint(1)
    assert hash(Point(1, 2)) == hash(StandardPoint(1, 2))
    assert repr(Point(1)) == repr(StandardPoint(1)).removeprefix("Standard")
    assert Thing("a") != Thing("a")
    assert len({Thing("a"), Thing("a"), Point(1), Point(1)}) == 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(Point([]))  # type: ignore[arg-type]


def test_options_of_fields_hold() -> None:
    login = Login(name="Ann", key="secret", seen=["x"])
    assert repr(login) == "Login(name='Ann', seen=['x'], more={})"
    assert login == Login(name="Ann", key="secret", seen=["y"])
    assert hash(login) == hash(Login(name="Ann", key="secret", more={"a": 1}))


def test_own_methods_win() -> None:
    @record
    class Own:
        a: int

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

    assert (repr(Own(1)), Own(1) == 3, hash(Own(1))) == ("own", True, 7)


def test_post_init_is_called_by_each_way_to_an_instance() -> None:
    with pytest.raises(ValueError, match="negative"):
        Checked(-1)
    with pytest.raises(ValueError, match="negative"):
        replace(Checked(1), count=-1)


def test_the_standard_library_takes_it_for_a_dataclass() -> None:
    assert is_dataclass(Point) and Point.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert [one.name for one in fields(Point)] == ["x", "y"]
    assert replace(Point(1), y=2) == Point(1, 2)
    assert asdict(Login(name="Ann")) == {"name": "Ann", "key": "", "seen": [], "more": {}}
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_instances_can_be_copied_and_pickled() -> None:
    point = Point(1, 2)
    assert copy.copy(point) == copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point


def test_init_is_compiled_with_the_first_instance_and_then_stays() -> None:
    @record
    class Late:
        a: int = 1

    before = Late.__init__
    assert "_default_a" not in before.__globals__
    assert Late() == Late(1)
    after = Late.__init__
    assert after is not before and after.__code__.co_varnames == ("self", "a")
    assert Late(2).a == 2 and Late.__init__ is after


def test_a_class_compiles_nothing_when_it_is_defined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataclasses, "_create_fn", None, raising=False)
    monkeypatch.setattr(dataclasses, "_FuncBuilder", None, raising=False)

    with pytest.raises(TypeError):

        @dataclass(frozen=True)
        class Standard:
            a: int

    @record
    class Ours:
        a: int

    assert Ours(1).a == 1

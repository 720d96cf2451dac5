"""Names and who owns them: tools, commands and everything else that plugins register. Knows no plugin object.

Every row is kept. A policy says which row a name means; the others are shadowed and come back when the winner leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, Literal, Protocol, TypeVar

from zot_core.plugins.diagnostics import Diagnostic, Diagnostics, Level
from zot_core.types.failure import ZotError
from zot_core.types.record import record

T = TypeVar("T")

RESERVED_TOOLS = frozenset({"tool_search"})


class Owner(Protocol):
    """What a registry needs to know of a plugin; LoadedPlugin has it."""

    @property
    def name(self) -> str: ...
    @property
    def tier(self) -> int: ...
    @property
    def position(self) -> int: ...
    @property
    def kind(self) -> Literal["built-in", "python", "extension"]: ...


class NameRefused(ZotError):
    """A name that may not be registered by this plugin."""


@record(eq=False)
class Row(Generic[T]):
    """One registration: who, under which name, what, and when (`number` counts up)."""

    owner: Owner
    name: str
    item: T
    number: int

    @property
    def rank(self) -> tuple[int, int, str, int]:
        """The row's place among those of its name; the smaller goes first."""
        return (self.owner.tier, self.owner.position, self.owner.name, self.number)


class Policy(Protocol):
    """What becomes of equal names."""

    def key(self, name: str) -> str:
        """Names with equal keys are equal."""

    def refuse(self, owner: Owner, name: str) -> str | None:
        """Why `owner` may not have `name`, or None."""

    def arrange(self, rows: list[Row[T]]) -> dict[str, Row[T]]:
        """From rows of one key, sorted by rank: the names that they go by. A row under no name is shadowed."""


class FirstWins:
    """The first by rank has the name."""

    def __init__(self, *, casefold: bool = False, reserved: frozenset[str] = frozenset()) -> None:
        self._casefold = casefold
        self._reserved = reserved

    def key(self, name: str) -> str:
        return name.casefold() if self._casefold else name

    def refuse(self, owner: Owner, name: str) -> str | None:
        return f"the name {name} is reserved" if self.key(name) in self._reserved else None

    def arrange(self, rows: list[Row[T]]) -> dict[str, Row[T]]:
        return {rows[0].name: rows[0]}


class ToolPolicy(FirstWins):
    """A Python plugin's tool stands before a built-in of its name, an extension's never; else the first by rank."""

    def refuse(self, owner: Owner, name: str) -> str | None:
        if name in RESERVED_TOOLS and owner.kind != "built-in":
            return f"the tool name {name} is reserved"
        return None

    def arrange(self, rows: list[Row[T]]) -> dict[str, Row[T]]:
        if any(row.owner.kind == "built-in" for row in rows):
            order = ("python", "built-in", "extension")
            rows = sorted(rows, key=lambda row: (order.index(row.owner.kind), row.rank))
        return {rows[0].name: rows[0]}


class CommandPolicy(FirstWins):
    """A built-in command keeps its name. Commands of Python plugins that clash all stay, as `name:1`, `name:2`; the
    bare name is the first's if no built-in has it. An extension's is used only if no other is. Case is ignored."""

    def __init__(self) -> None:
        super().__init__(casefold=True)

    def arrange(self, rows: list[Row[T]]) -> dict[str, Row[T]]:
        own = [row for row in rows if row.owner.kind == "built-in"]
        python = [row for row in rows if row.owner.kind == "python"]
        first = (own or python or rows)[0]
        names = {first.name: first}
        if len(python) > 1 or (own and python):
            names |= {f"{row.name}:{number}": row for number, row in enumerate(python, 1)}
        return names


class Registry(Generic[T]):
    """A table of names with owners. `what` is the word for an item in messages; `version` grows with every change."""

    def __init__(self, what: str, policy: Policy, diagnostics: Diagnostics | None = None) -> None:
        self._what = what
        self._policy = policy
        self._diagnostics = diagnostics
        self._rows: dict[str, list[Row[T]]] = {}
        self._names: dict[str, Row[T]] | None = {}
        self._subscribers: list[Callable[[], None]] = []
        self._number = 0
        self.version = 0

    def add(self, owner: Owner, name: str, item: T) -> Row[T]:
        """Registers `item`. A clash is reported, and answers with a row all the same. Raises NameRefused."""
        if problem := self._policy.refuse(owner, name):
            raise NameRefused(f"{problem}; {owner.name} cannot register it")
        self._number += 1
        row = Row(owner, name, item, self._number)
        rows = self._rows.setdefault(self._policy.key(name), [])
        before = list(rows)
        rows.append(row)
        rows.sort(key=lambda one: one.rank)
        self._changed()
        if before:
            self._report(row, before)
        return row

    def remove(self, row: Row[T]) -> None:
        """Takes a row away; what it shadowed comes back. Nothing happens if it is gone already."""
        key = self._policy.key(row.name)
        rows = self._rows.get(key, [])
        if any(one is row for one in rows):
            rows[:] = [one for one in rows if one is not row]
            if not rows:
                del self._rows[key]
            self._changed()

    def remove_owner(self, owner: str) -> None:
        """Takes away everything that the plugin `owner` registered."""
        for row in [row for row in self.rows() if row.owner.name == owner]:
            self.remove(row)

    def get(self, name: str) -> T | None:
        """The item that `name` means, or None."""
        row = self.row(name)
        return row.item if row else None

    def row(self, name: str) -> Row[T] | None:
        """The row that `name` means, or None."""
        if self._names is None:
            self._names = {self._policy.key(known): row for known, row in self._meant()}
        return self._names.get(self._policy.key(name))

    def names(self) -> list[str]:
        """Every name that means something, as registered, sorted."""
        return sorted(name for name, _ in self.items())

    def items(self) -> Iterator[tuple[str, Row[T]]]:
        """Names and rows in the order of rank."""
        return iter(self._meant())

    def _meant(self) -> list[tuple[str, Row[T]]]:
        named = [(name, row) for rows in self._rows.values() for name, row in self._policy.arrange(rows).items()]
        return sorted(named, key=lambda pair: (pair[1].rank, pair[0]))

    def rows(self) -> list[Row[T]]:
        """Every row, shadowed ones too, in the order of rank."""
        return sorted((row for rows in self._rows.values() for row in rows), key=lambda row: row.rank)

    def shadowed(self) -> list[tuple[Row[T], Row[T]]]:
        """Rows that go by no name, with the row that has theirs."""
        found = []
        for rows in self._rows.values():
            seen = self._policy.arrange(rows)
            winner = next(iter(seen.values()))
            found += [(row, winner) for row in rows if not any(row is one for one in seen.values())]
        return found

    def subscribe(self, function: Callable[[], None]) -> Callable[[], None]:
        """Calls `function` after every change until the answer is called."""
        self._subscribers.append(function)

        def off() -> None:
            if function in self._subscribers:
                self._subscribers.remove(function)

        return off

    def _changed(self) -> None:
        self._names = None
        self.version += 1
        for subscriber in tuple(self._subscribers):
            subscriber()

    def _report(self, row: Row[T], before: list[Row[T]]) -> None:
        if self._diagnostics is None:
            return
        names = {name: one for name, one in self._meant() if any(one is each for each in (row, *before))}
        mine = [name for name, one in names.items() if one is row]
        winner = next(iter(self._policy.arrange(self._rows[self._policy.key(row.name)]).values()))
        level: Level = "warning"
        if winner is not row:
            other = f"the built-in {self._what}" if winner.owner.kind == "built-in" else f"{winner.owner.name}'s"
            stays = f"it goes by {', '.join(mine)}" if mine else "it is not used"
            message = f"its {self._what} {row.name} has the name of {other}; {stays}"
            level = "info" if row.owner.kind == "extension" else "warning"
        else:
            loser = next(iter(self._policy.arrange(before).values())).owner
            other = f"the built-in {self._what}" if loser.kind == "built-in" else f"{loser.name}'s {self._what}"
            message = f"its {self._what} {row.name} takes the place of {other}"
        self._diagnostics.report(Diagnostic(level, row.owner.name, "", message))

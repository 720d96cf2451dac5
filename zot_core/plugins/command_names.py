"""The registry of slash commands: one that has aliases is listed once and found by each of its names.

To the rules for clashes an alias is a name like any other. Knows what a CommandSpec is called and nothing more of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from zot_core.plugins.diagnostics import Diagnostics
from zot_core.plugins.registry import CommandPolicy, Owner, Registry, Row
from zot_core.types.specs import CommandSpec


class CommandRegistry(Registry[CommandSpec]):
    """Commands by name and by alias."""

    def __init__(self, diagnostics: Diagnostics | None = None) -> None:
        super().__init__("command", CommandPolicy(), diagnostics)
        self._aliases: dict[int, list[Row[CommandSpec]]] = {}
        """By the number of the command's own row."""
        self._extra: set[int] = set()

    def add(self, owner: Owner, name: str, item: CommandSpec) -> Row[CommandSpec]:
        """Registers a command under its name and its aliases."""
        row = super().add(owner, name, item)
        names = {alias.casefold(): alias for alias in item.aliases if alias.casefold() != name.casefold()}
        for alias in names.values():
            self._extra.add(self._number + 1)  # before the row is seen
            self._aliases.setdefault(row.number, []).append(super().add(owner, alias, item))
        return row

    def remove(self, row: Row[CommandSpec]) -> None:
        """Takes a command away, its aliases too."""
        super().remove(row)
        for alias in self._aliases.pop(row.number, ()):
            super().remove(alias)

    def items(self) -> Iterator[tuple[str, Row[CommandSpec]]]:
        """Names and rows in the order of rank, without aliases."""
        return (pair for pair in self._meant() if pair[1].number not in self._extra)

    def aliases(self) -> list[tuple[str, Row[CommandSpec]]]:
        """The aliases that mean their command, in the order of rank."""
        return [pair for pair in self._meant() if pair[1].number in self._extra]

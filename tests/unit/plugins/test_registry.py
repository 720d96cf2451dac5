"""Equal names: who has them, who is shadowed, who comes back, and what is said."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from zot_core.plugins.command_names import CommandRegistry
from zot_core.plugins.diagnostics import Diagnostics
from zot_core.plugins.rank import BUILTIN, EXPLICIT, PROJECT, USER
from zot_core.plugins.registry import CommandPolicy, FirstWins, NameRefused, Registry, ToolPolicy
from zot_core.types.specs import CommandSpec


@dataclass(frozen=True)
class Plugin:
    name: str
    tier: int = USER
    position: int = 0

    @property
    def kind(self):
        return "extension" if self.name.startswith("ext:") else "built-in" if self.tier == BUILTIN else "python"


READ = Plugin("read", BUILTIN)
MINE = Plugin("mine", USER)
OURS = Plugin("ours", PROJECT)
EXT = Plugin("ext:e", EXPLICIT)
EXT2 = Plugin("ext:f", USER)


def test_the_first_by_rank_has_the_name_and_the_second_comes_back():
    registry = Registry("flag", FirstWins())
    registry.add(MINE, "x", "mine")
    row = registry.add(OURS, "x", "ours")
    assert registry.get("x") == "ours" and registry.names() == ["x"]
    assert [(lost.item, won.item) for lost, won in registry.shadowed()] == [("mine", "ours")]
    registry.remove(row)
    registry.remove(row)
    assert registry.get("x") == "mine" and registry.shadowed() == []
    registry.remove_owner("mine")
    assert registry.get("x") is None and registry.rows() == []


@pytest.mark.parametrize(
    ("owners", "winner"),
    [
        ([READ, MINE], "mine"),
        ([READ, EXT], "read"),
        ([READ, EXT, MINE], "mine"),
        ([MINE, EXT], "ext:e"),
        ([MINE, EXT2, OURS], "ours"),
        ([EXT2, EXT], "ext:e"),
    ],
)
def test_tools(owners, winner):
    for order in (owners, owners[::-1]):
        registry = Registry("tool", ToolPolicy())
        for owner in order:
            registry.add(owner, "read", owner.name)
        assert registry.get("read") == winner
        assert len(registry.shadowed()) == len(owners) - 1


def test_tool_search_is_reserved():
    registry = Registry("tool", ToolPolicy())
    with pytest.raises(NameRefused, match="tool_search is reserved"):
        registry.add(MINE, "tool_search", 1)
    registry.add(READ, "tool_search", 1)


@pytest.mark.parametrize(
    ("owners", "names"),
    [
        ([MINE], {"x": "mine"}),
        ([MINE, OURS], {"x": "ours", "x:1": "ours", "x:2": "mine"}),
        ([READ, MINE], {"x": "read", "x:1": "mine"}),
        ([READ, EXT], {"x": "read"}),
        ([EXT, MINE], {"x": "mine"}),
        ([EXT2, EXT], {"x": "ext:e"}),
    ],
)
def test_commands(owners, names):
    registry = Registry("command", CommandPolicy())
    for owner in owners:
        registry.add(owner, "x", owner.name)
    assert {name: row.item for name, row in registry.items()} == names
    for name, item in names.items():
        assert registry.get(name.upper()) == item


def test_commands_ignore_case():
    registry = Registry("command", CommandPolicy())
    registry.add(EXT, "Deploy", 1)
    registry.add(EXT2, "deploy", 2)
    assert registry.names() == ["Deploy"] and registry.get("DEPLOY") == 1


def test_clashes_are_said():
    diagnostics = Diagnostics()
    registry = Registry("tool", ToolPolicy(), diagnostics)
    registry.add(READ, "read", 1)
    registry.add(EXT, "read", 2)
    registry.add(MINE, "read", 3)
    registry.add(MINE, "other", 3)
    assert [(row.level, row.plugin, row.message) for row in diagnostics.rows] == [
        ("info", "ext:e", "its tool read has the name of the built-in tool; it is not used"),
        ("warning", "mine", "its tool read takes the place of the built-in tool"),
    ]


def test_changes_are_counted_and_told():
    registry, told = Registry("flag", FirstWins()), []
    off = registry.subscribe(lambda: told.append(registry.version))
    registry.add(MINE, "x", 1)
    off()
    registry.add(MINE, "y", 1)
    assert told == [1] and registry.version == 2


def test_an_alias_is_found_and_not_listed():
    registry = CommandRegistry()
    spec = CommandSpec(name="resume", handler=print, aliases=("sessions", "Resume"))
    row = registry.add(READ, "resume", spec)
    assert registry.names() == ["resume"]
    assert registry.get("SESSIONS") is spec
    assert [(name, one.item.name) for name, one in registry.aliases()] == [("sessions", "resume")]
    registry.remove(row)
    assert registry.get("sessions") is None


def test_an_alias_clashes_as_a_name_does():
    diagnostics = Diagnostics()
    registry = CommandRegistry(diagnostics)
    own = CommandSpec(name="resume", handler=print, aliases=("sessions",))
    registry.add(READ, "resume", own)
    theirs = CommandSpec(name="sessions", handler=print)
    registry.add(EXT, "sessions", theirs)
    assert registry.get("sessions") is own and registry.names() == ["resume"]
    mine = CommandSpec(name="Sessions", handler=print)
    registry.add(MINE, "Sessions", mine)
    assert registry.get("sessions") is own and registry.get("sessions:1") is mine
    assert registry.names() == ["Sessions:1", "resume"]
    assert [row.message for row in diagnostics.rows] == [
        "its command sessions has the name of the built-in command; it is not used",
        "its command Sessions has the name of the built-in command; it goes by Sessions:1",
    ]
    registry.remove_owner(READ.name)
    assert registry.get("sessions") is mine

"""A list that stays open: what is typed, marked and done with its entries, without a terminal."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from zot_core.ui import Keybindings, Picker, RowAction, SelectItem
from zot_core.ui.keys import LISTS

KEYS = Keybindings({**LISTS, "app.session.rename": ("ctrl+r",)})
FRUIT = [
    SelectItem(value=1, label="apple", description="red"),
    SelectItem(value=2, label="pear", search="williams"),
    SelectItem(value=3, label="plum"),
]


def picker(taken: list[Any], *actions: RowAction, **options: Any) -> Picker:
    return Picker(
        "Which?",
        FRUIT,
        lambda item: taken.append(item.value),
        lambda: taken.append(None),
        actions=actions,
        keybindings=KEYS,
        **options,
    )


def press(made: Picker, *keys: str) -> None:
    async def story() -> None:
        for key in keys:
            if (answer := made.handle_key(key)) is not None:
                await answer

    asyncio.run(story())


def test_letters_find_what_is_shown_and_what_is_not() -> None:
    taken: list[Any] = []
    made = picker(taken)
    press(made, *"WILLI")
    assert [item.value for item in made.list.matching] == [2]
    press(made, "enter", "esc")
    assert taken == [2, None]


def test_an_action_is_given_the_marked_entry_and_the_list_stays() -> None:
    taken: list[Any] = []
    done: list[Any] = []

    async def rename(item: Any) -> None:
        await asyncio.sleep(0)
        done.append(item.value)
        made.status = f"renamed {item.text}"

    made = picker(taken, RowAction(id="app.session.rename", text="rename", run=rename))
    press(made, "down", "ctrl+r")
    assert (taken, done) == ([], [2])
    assert "renamed pear" in made.render(60)
    press(made, "down")
    assert "renamed pear" not in made.render(60)


def test_an_action_of_a_plugin_has_the_keys_it_names_and_says_them() -> None:
    done: list[Any] = []
    made = picker([], RowAction(id="mine.eat", keys=("f5",), text=lambda: f"eat {len(done)}", run=done.append))
    assert "enter take · f5 eat 0 · type to search · esc cancel" in made.render(80)
    press(made, "f5")
    assert [item.value for item in done] == [1]
    assert "f5 eat 1" in made.render(80)[-1]


def test_without_an_entry_only_what_needs_none_is_done() -> None:
    done: list[Any] = []
    made = picker(
        [],
        RowAction(id="a", keys=("f5",), text="eat", run=done.append),
        RowAction(id="b", keys=("f6",), text="plant", run=done.append, needs_row=False),
    )
    made.items = []
    made.empty = "the bowl is empty"
    assert made.render(60) == ["Which?", "  the bowl is empty", "f6 plant · esc cancel"]
    press(made, "f5", "f6", "enter")
    assert done == [None]


def test_other_entries_keep_the_mark_and_what_was_typed() -> None:
    made = picker([])
    press(made, "p", "down")
    assert made.list.selected == FRUIT[1]
    made.items = [SelectItem(value=9, label="grape"), *FRUIT]
    assert made.list.selected == FRUIT[1]
    assert made.list.filter == "p"
    made.items = FRUIT[:1]
    assert made.list.selected == FRUIT[0]


def test_it_is_no_higher_than_its_screen() -> None:
    many = [SelectItem(value=number) for number in range(50)]
    tui: Any = SimpleNamespace(rows=16)
    made = picker([], tui=tui, detail=lambda item: f"number {item.value}")
    made.items = many
    press(made, *["down"] * 20)
    lines = made.render(40)
    assert "› 21" in lines  # of the new ones, counted from the one that was marked
    assert len(lines) <= 16 - 6
    tui.rows = 60
    assert len(made.render(40)) == 10 + 4

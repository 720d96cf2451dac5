"""The footer: everything where there is room, and the model and its window longest where there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from zot_cli.repl.chrome import working_line, working_of
from zot_cli.repl.footer import Facts, footer_lines
from zot_cli.repl.look import default_look
from zot_cli.repl.numbers import amount, duration, money
from zot_cli.repl.spans import line_width, plain
from zot_cli.repl.state import State
from zot_core.types.usage import Usage

LOOK = default_look("dark")
FACTS = Facts(
    cwd="~/work/shop",
    branch="main",
    model="anthropic/claude-sonnet-4-5",
    level="high",
    tokens=30_000,
    window=200_000,
    cost=0.4217,
    used=Usage(input=900_000, output=34_500, cache_read=300_000),
    session="prices",
)


def shown(width: int, facts: Facts = FACTS, **statuses: str) -> list[str]:
    lines = footer_lines(facts, statuses, width, LOOK)
    assert all(line_width(line) <= width for line in lines)
    return [plain(line) for line in lines]


def changed(**changes: Any) -> Facts:
    return replace(FACTS, **changes)


def test_with_room_everything_is_in_one_line() -> None:
    assert shown(140) == [
        "~/work/shop (main) · prices · anthropic/claude-sonnet-4-5 · high · 15% of 200k · ↑1.2M ↓34.5k · $0.42"
    ]


@pytest.mark.parametrize(
    ("width", "first"),
    [
        (80, "~/work/shop (main) · prices · anthropic/claude-sonnet-4-5 · high · 15% of 200k"),
        (76, "…/shop (main) · prices · anthropic/claude-sonnet-4-5 · high · 15% of 200k"),
        (70, "~/work/shop (main) · anthropic/claude-sonnet-4-5 · high · 15% of 200k"),
        (66, "…/shop (main) · anthropic/claude-sonnet-4-5 · high · 15% of 200k"),
        (58, "…/shop · anthropic/claude-sonnet-4-5 · high · 15% of 200k"),
        (50, "anthropic/claude-sonnet-4-5 · high · 15% of 200k"),
        (44, "anthropic/claude-sonnet-4-5 · 15% of 200k"),
        (40, "anthropic/claude-sonnet-4… · 15% of 200k"),
        (20, "anthr… · 15% of 200k"),
    ],
)
def test_what_gives_way_and_in_which_order(width: int, first: str) -> None:
    assert shown(width)[0] == first


def test_what_has_no_room_moves_into_a_second_line_and_gives_way_to_what_plugins_say() -> None:
    assert shown(80)[1] == "↑1.2M ↓34.5k · $0.42"
    assert shown(80, jail="jail")[1] == "↑1.2M ↓34.5k · $0.42 · jail"
    said = "x" * 55
    assert shown(80, jail=said)[1] == f"↑1.2M ↓34.5k · $0.42 · {said}"
    assert shown(70, jail=said)[1] == f"$0.42 · {said}"
    assert shown(60, jail=said)[1] == said


def test_warnings_come_first() -> None:
    facts = changed(warnings=("1 plugin failed: /plugins", "nothing compacts by itself: /compact"))
    assert shown(80, facts)[1] == "! 1 plugin failed: /plugins · ! nothing compacts by itself: /compact · $0.42"
    assert shown(140, facts, jail="jail")[1].endswith("/compact · jail")
    (style, _), *_ = footer_lines(facts, {}, 80, LOOK)[1]
    assert style == LOOK.style("warning")


def test_a_full_window_is_coloured() -> None:
    def style(tokens: int) -> str:
        return next(
            style
            for line in footer_lines(changed(tokens=tokens), {}, 140, LOOK)
            for style, said in line
            if "% of" in said
        )

    assert style(170_000) == LOOK.style("warning") != style(150_000)


def test_little_is_known_before_the_session_is_open() -> None:
    assert shown(80, Facts(cwd="~/x", model="starting")) == ["~/x · starting"]
    assert shown(80, Facts(cwd="~/x")) == ["~/x · no model"]
    assert shown(80, changed(used=Usage(), cost=0.0, subagents=0.5, level="off", session="", branch="")) == [
        "~/work/shop · anthropic/claude-sonnet-4-5 · 15% of 200k · $0 (+0.50)"
    ]


@given(
    some.integers(20, 160),
    some.builds(
        Facts,
        cwd=some.text(max_size=60),
        branch=some.text(max_size=30),
        model=some.text(max_size=60),
        level=some.sampled_from(["", "off", "high"]),
        tokens=some.integers(0, 10**6),
        window=some.sampled_from([0, 200_000]),
        session=some.text(max_size=80),
        warnings=some.tuples(some.text(max_size=90)),
    ),
    some.dictionaries(some.text(max_size=5), some.text(max_size=90), max_size=3),
)
def test_no_line_is_too_wide(width: int, facts: Facts, statuses: dict[str, str]) -> None:
    for line in footer_lines(facts, statuses, width, LOOK):
        assert line_width(line) <= width


def test_numbers() -> None:
    assert [amount(n) for n in (0, 999, 1000, 12_345, 128_000, 999_499, 999_500, 1_000_000, 1_250_000)] == [
        "0", "999", "1k", "12.3k", "128k", "999k", "1M", "1M", "1.2M",
    ]  # fmt: skip
    assert [money(d) for d in (0.0012, 0.1, 12.345)] == ["$0.0012", "$0.10", "$12.35"]
    assert [duration(s, 1) for s in (1.25, 59.4, 59.9, 61.0, 3600.0)] == [
        "1.2 s", "59.4 s", "1 min 0 s", "1 min 1 s", "60 min 0 s",
    ]  # fmt: skip


def test_the_working_row_says_how_long_and_what_it_used() -> None:
    state = State(running=True, since=10.0, run_usage=Usage(input=1200, output=80, cost=0.02))
    working = working_of(state, 75.4, "*", "Working", "esc to end")
    assert plain(working_line(working, LOOK)) == "* Working  1 min 5 s · ↑1.2k ↓80 · $0.0200 · esc to end"
    assert plain(working_line(working_of(State(since=10.0), 9.0, "", "Compacting", ""), LOOK)) == "Compacting  0 s"

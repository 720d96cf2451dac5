"""Tables in a terminal: no word is broken while blanks, dots or slashes will do."""

from __future__ import annotations

import pytest

from zot_cli.commands.tables import GAP, fitted_widths, wrapped


@pytest.mark.parametrize("width", [40, 60, 79, 139])
def test_a_table_fits_its_window(width: int) -> None:
    lines = [["NAME", "ORIGIN", "TEXT"], ["tool_read", "zot_plugins.tool_read.plugin", "reads " * 30]]
    widths = fitted_widths(lines, width)
    assert sum(widths) + GAP * 2 <= width
    if width >= 60:
        assert widths[0] >= len("tool_read") and widths[1] >= len("zot_plugins.tool_read.plugin")


def test_a_table_with_room_is_as_wide_as_its_text() -> None:
    assert fitted_widths([["A", "B"], ["one two", "three"]], 80) == [7, 5]


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 8, ["one two", "three"]),
        ("zot_plugins.tool_read.plugin", 22, ["zot_plugins.tool_read.", "plugin"]),
        ("/tmp/a-long-folder/file.py", 20, ["/tmp/a-long-folder/", "file.py"]),
        ("see a_very_long_name_here now", 12, ["see", "a_very_long_", "name_here", "now"]),
        ("short", 20, ["short"]),
        ("", 5, [""]),
    ],
)
def test_text_is_broken_where_it_may_be(text: str, width: int, lines: list[str]) -> None:
    assert wrapped(text, width).split("\n") == lines

"""Rows for people and programs: a table in a terminal, plain columns in a pipe, JSON where asked for.

Rows are dictionaries with the same keys; text in them is foreign and is cleaned here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from zot_cli.plain import clean, one_line
from zot_cli.stdio import is_terminal

Row = Mapping[str, Any]


def show_rows(rows: Sequence[Row], columns: Sequence[str], *, as_json: bool = False, empty: str = "") -> None:
    """Shows `columns` of `rows`; JSON has all their keys. Without rows a terminal and a pipe get `empty` on stderr."""
    if as_json:
        show_json(rows)
    elif not rows:
        sys.stderr.write(f"{empty}\n" if empty else "")
    elif is_terminal(1):
        _rich(rows, columns)
    else:
        _plain(rows, columns)


def show_json(value: Any) -> None:
    """`value` as indented JSON; what JSON does not know becomes text."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, default=str) + "\n")


def heading(text: str) -> None:
    """A line over the rows that follow."""
    sys.stdout.write(f"{clean(text)}\n")


def _cell(value: Any) -> str:
    if value is None or value == () or value == []:
        return ""
    if isinstance(value, (list, tuple)):
        return one_line(", ".join(str(item) for item in value), 200)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return one_line(str(value), 200)


def _plain(rows: Sequence[Row], columns: Sequence[str]) -> None:
    cells = [[_cell(row.get(column)) for column in columns] for row in rows]
    widths = [max(len(line[index]) for line in [[*columns], *cells]) for index in range(len(columns))]
    for line in [[column.upper() for column in columns], *cells]:
        padded = [text.ljust(width) for text, width in zip(line, widths, strict=True)]
        sys.stdout.write("  ".join(padded).rstrip() + "\n")


def _rich(rows: Sequence[Row], columns: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(row.get(column))) for column in columns))
    Console().print(table)

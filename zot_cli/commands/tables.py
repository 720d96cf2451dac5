"""Rows for people and programs: a table in a terminal, plain columns in a pipe, JSON where asked for.

Rows are dictionaries with the same keys; text in them is foreign and is cleaned here.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from zot_cli.plain import clean, one_line
from zot_cli.stdio import is_terminal

Row = Mapping[str, Any]
GAP = 2
_OBEYED = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What JSON need not escape and a terminal obeys."""
LONGEST_WORD = 28
"""Columns that a word may ask for before it is broken, after a dot, a slash or an underscore if it has one."""


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
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    sys.stdout.write(_OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


def heading(text: str) -> None:
    """A line over the rows that follow."""
    sys.stdout.write(f"{clean(text)}\n")


def _cell(value: Any, width: int = 2000) -> str:
    if value is None or value == () or value == []:
        return ""
    if isinstance(value, (list, tuple)):
        return one_line(", ".join(str(item) for item in value), width)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return one_line(str(value), width)


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

    cells = [[_cell(row.get(column), 400) for column in columns] for row in rows]
    width = os.get_terminal_size(1).columns or 80
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    widths = fitted_widths([[*columns], *cells], width - 1)
    for column, wide in zip(columns, widths, strict=True):
        table.add_column(column.upper(), width=wide, overflow="fold")
    for line in cells:
        table.add_row(*(Text(wrapped(text, wide)) for text, wide in zip(line, widths, strict=True)))
    Console(width=width).print(table)


def fitted_widths(lines: Sequence[Sequence[str]], width: int) -> list[int]:
    """The columns' widths in a table of `width`: the widest give way first, as long as no word need be broken."""
    from rich.cells import cell_len

    columns = list(zip(*lines, strict=True))
    widths = [max(map(cell_len, column)) for column in columns]
    words = [max(cell_len(word) for text in column for word in text.split() or [""]) for column in columns]
    least = [min(word, LONGEST_WORD) for word in words]
    room = width - GAP * (len(widths) - 1)
    # First only blanks are broken at, then words that are very long, and in a narrow window whatever must be.
    for floors in (words, least, [1] * len(widths)):
        while sum(widths) > room:
            wide = [index for index, (had, floor) in enumerate(zip(widths, floors, strict=True)) if had > floor]
            if not wide:
                break
            widths[max(wide, key=lambda index: widths[index])] -= 1
    return widths


def wrapped(text: str, width: int) -> str:
    """`text` in lines of `width`, broken at blanks; a word that is too long after `/` or `.`, else after `_` or `-`."""
    from rich.cells import cell_len

    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(joined) <= width:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        for part in _parts(word, width):
            if lines[-1] and cell_len(lines[-1] + part) > width:
                lines.append("")
            lines[-1] += part
    return "\n".join(lines)


def _parts(word: str, width: int) -> list[str]:
    parts = re.findall(r"[^/.]+[/.]*|[/.]+", word)
    return [piece for part in parts for piece in ([part] if len(part) <= width else re.findall(r"[^_-]*[_-]*", part))]

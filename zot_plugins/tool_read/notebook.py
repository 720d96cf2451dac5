"""A Jupyter notebook as text: its cells in order, each with its outputs. Pictures in outputs are named, not shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from zot_core.toolkit.text import as_seen, without_controls
from zot_core.toolkit.truncation import format_size

NOTEBOOK_BYTES = 32 << 20
"""A notebook file larger than this is read as the JSON text that it is."""


def cells_as_text(data: bytes) -> str | None:
    """The notebook's text, or None if `data` is no notebook."""
    try:
        notebook = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(notebook, Mapping):
        return None
    cells = notebook.get("cells")
    if cells is None and isinstance(notebook.get("worksheets"), Sequence):  # the format before 2015
        cells = [
            cell for sheet in notebook["worksheets"] if isinstance(sheet, Mapping) for cell in _list(sheet, "cells")
        ]
    if not isinstance(cells, list):
        return None
    lines: list[str] = []
    for number, cell in enumerate(cells, 1):
        if isinstance(cell, Mapping):
            lines += _cell(number, cell)
    return "\n".join(lines) + "\n" if lines else "(a notebook without cells)\n"


def _cell(number: int, cell: Mapping[str, Any]) -> Iterator[str]:
    kind = str(cell.get("cell_type", "cell"))
    ran = cell.get("execution_count", cell.get("prompt_number"))
    yield f"--- cell {number}: {kind}{f' [{ran}]' if ran is not None else ''} ---"
    yield _joined(cell.get("source", cell.get("input", ""))).rstrip("\n")
    outputs = [output for output in _list(cell, "outputs") if isinstance(output, Mapping)]
    if outputs:
        yield f"--- output of cell {number} ---"
        for output in outputs:
            yield _output(output).rstrip("\n")
    yield ""


def _output(output: Mapping[str, Any]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        trace = "\n".join(map(str, _list(output, "traceback")))
        return without_controls(trace) or f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
    if "text" in output and "data" not in output:
        return as_seen(_joined(output["text"]))
    found = output.get("data", output)
    data = found if isinstance(found, Mapping) else {}
    texts = [name for name in ("text/plain", "text/markdown", "text/latex", "text/html") if name in data]
    said = [without_controls(_joined(data[texts[0]]))] if texts else []
    for name, value in data.items():
        if str(name).startswith(("image/", "application/", "video/", "audio/")):
            said.append(f"[{name}, {format_size(len(_joined(value)))}, not shown]")
    return "\n".join(said) or "[an output without text]"


def _list(value: Mapping[str, Any], name: str) -> list[Any]:
    found = value.get(name)
    return found if isinstance(found, list) else []


def _joined(value: Any) -> str:
    """Text that notebooks keep whole or as a list of lines."""
    if isinstance(value, list):
        return "".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value)

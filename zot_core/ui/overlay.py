"""Where an overlay stands: from its options and the terminal's size to a rectangle. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from zot_core.types.failure import UsageError
from zot_core.types.record import record

Anchor: TypeAlias = Literal[
    "center",
    "top-left",
    "top-center",
    "top-right",
    "left-center",
    "right-center",
    "bottom-left",
    "bottom-center",
    "bottom-right",
]
Size: TypeAlias = "int | str"
"""Cells, or a share of the terminal such as `"50%"`."""
_ANCHORS = frozenset(
    "center top-left top-center top-right left-center right-center bottom-left bottom-center bottom-right".split()  # noqa: SIM905
)
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")
WIDTH = 60
"""Columns of an overlay that says nothing of its width."""


@record(kw_only=True)
class OverlayOptions:
    """How an overlay is placed. Without a height it is as high as its lines are. `row` and `col` win over the anchor;
    `margin` keeps it off the edges, one number or (top, right, bottom, left); `visible(columns, rows)` may say that
    the terminal is too small for it."""

    anchor: Anchor = "center"
    width: Size | None = None
    height: Size | None = None
    min_width: int = 1
    max_width: Size | None = None
    min_height: int = 1
    max_height: Size | None = None
    margin: int | tuple[int, int, int, int] = 0
    offset_x: int = 0
    offset_y: int = 0
    row: Size | None = None
    col: Size | None = None
    visible: Callable[[int, int], bool] | None = None

    @classmethod
    def of(cls, options: OverlayOptions | Mapping[str, Any] | None) -> OverlayOptions:
        """Options as they are or as a mapping. Raises UsageError for a name, an anchor or a size that there is not."""
        found = options if isinstance(options, OverlayOptions) else _from(dict(options or {}))
        if found.anchor not in _ANCHORS:
            raise UsageError(f"an overlay has no anchor {found.anchor!r}; there are {', '.join(sorted(_ANCHORS))}")
        for name in ("width", "height", "max_width", "max_height", "row", "col"):
            _cells(name, getattr(found, name), 100)
        return found


@record
class Rectangle:
    """Where an overlay is, in cells."""

    left: int
    top: int
    width: int
    height: int


def width_in(options: OverlayOptions, columns: int) -> int:
    """The columns that an overlay has."""
    _, right, _, left = _margins(options)
    room = max(columns - left - right, 1)
    wanted = _cells("width", options.width, columns)
    width = max(WIDTH if wanted is None else wanted, options.min_width)
    most = _cells("max_width", options.max_width, columns)
    return max(min(width, room, most if most is not None else room), 1)


def place(options: OverlayOptions, columns: int, rows: int, lines: int) -> Rectangle:
    """Where an overlay of so many lines stands; never outside of the terminal."""
    top, right, bottom, left = _margins(options)
    width = width_in(options, columns)
    room = max(rows - top - bottom, 1)
    wanted = _cells("height", options.height, rows)
    most = _cells("max_height", options.max_height, rows)
    height = max(lines if wanted is None else wanted, options.min_height)
    height = max(min(height, room, most if most is not None else room), 1)
    anchor = options.anchor
    x = (
        left
        if "left" in anchor
        else columns - right - width
        if "right" in anchor
        else left + (columns - left - right - width) // 2
    )
    y = (
        top
        if "top" in anchor
        else rows - bottom - height
        if "bottom" in anchor
        else top + (rows - top - bottom - height) // 2
    )
    col, row = _cells("col", options.col, columns - width), _cells("row", options.row, rows - height)
    x = (x if col is None else col) + options.offset_x
    y = (y if row is None else row) + options.offset_y
    return Rectangle(
        max(left, min(x, columns - right - width)), max(top, min(y, rows - bottom - height)), width, height
    )


def _from(options: dict[str, Any]) -> OverlayOptions:
    unknown = options.keys() - OverlayOptions.__dataclass_fields__.keys()
    if unknown:
        known = ", ".join(OverlayOptions.__dataclass_fields__)
        raise UsageError(f"an overlay has no option {', '.join(sorted(unknown))}; there are {known}")
    margin = options.get("margin")
    if isinstance(margin, Mapping):
        options["margin"] = tuple(int(margin.get(side, 0)) for side in ("top", "right", "bottom", "left"))
    return OverlayOptions(**options)


def _margins(options: OverlayOptions) -> tuple[int, int, int, int]:
    margin = options.margin
    return (margin, margin, margin, margin) if isinstance(margin, int) else margin


def _cells(name: str, size: Size | None, whole: int) -> int | None:
    if size is None or isinstance(size, int):
        return size
    if size.isdecimal():
        return int(size)
    match = _PERCENT.fullmatch(size)
    if match is None:
        raise UsageError(f"an overlay's {name} is a number of cells or a share such as '50%', not {size!r}")
    return int(whole * float(match[1]) / 100)

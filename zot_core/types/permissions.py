"""Who tells plugins what tools may do. Knows no preset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zot_core.types.record import record


@record(kw_only=True)
class PermissionPreset:
    """What the plugin that watches over permissions enforces: `read(ctx)` answers the preset in force, by name."""

    read: Callable[[Any], str] | str
    """A function, or the dotted string `module:name` of one."""

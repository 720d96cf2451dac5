"""Small repairs of arguments that models send, made before they are validated. Nothing is guessed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def without_nulls(args: Any) -> Any:
    """Arguments that are null are taken as left out; many models fill in every optional field."""
    if isinstance(args, Mapping):
        return {name: value for name, value in args.items() if value is not None}
    return args

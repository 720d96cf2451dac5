"""Foreign objects as text: what a plugin, a tool or a library made may raise anything while it is looked at.

Knows no kind of object. Nothing here ever raises.
"""

from __future__ import annotations


def error_text(error: BaseException) -> str:
    """An error in a line: its type and what it says."""
    name = type(error).__name__
    text = object_text(error)
    return f"{name}: {text}" if text else name


def object_text(value: object) -> str:
    """`str(value)`, or what can be said instead."""
    try:
        return str(value)
    except (Exception, SystemExit):  # too many digits for a number, or a `__str__` of a plugin's own
        return hex(value) if isinstance(value, int) else f"<{type(value).__name__}>"

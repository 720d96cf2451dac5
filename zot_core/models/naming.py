"""What a person wrote for a model: its readings, what is near it, and how several are listed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from zot_core.types.specs import THINKING_LEVELS, ModelSpec, ThinkingLevel

MOST = 32
"""So many names are listed where none is near; of more a person reads none."""


def readings(name: str) -> list[tuple[str, ThinkingLevel | None]]:
    """`id:level` may also be an id: models of local servers have colons in their names."""
    head, colon, tail = name.rpartition(":")
    found: list[tuple[str, ThinkingLevel | None]] = [(name, None)]
    if colon and head:
        found.extend((head, level) for level in THINKING_LEVELS if level == tail.lower())
    return found


def near(name: str, known: Iterable[str], cutoff: float = 0.5) -> str:
    """`; did you mean a, b or c?`, else all that is known, if that is something and not too much."""
    from difflib import get_close_matches  # only when something was misspelt

    names = sorted(known)
    close = get_close_matches(name.lower(), names, n=3, cutoff=cutoff)
    if close:
        return f"; did you mean {either(close)}?"
    return f"; known are {', '.join(names)}" if 0 < len(names) <= MOST else ""


def either(names: Sequence[str]) -> str:
    """`a, b or c`."""
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def listed(models: Sequence[ModelSpec]) -> str:
    """Models by `provider/id`, at most eight."""
    names = sorted(f"{model.provider}/{model.id}" for model in models)
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def is_loopback(url: str) -> bool:
    """Whether an address is this machine's own."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return host in {"localhost", "::1", "0.0.0.0"} or host.startswith("127.") or host.endswith(".localhost")

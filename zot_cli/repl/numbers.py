"""Numbers as people read them: tokens, dollars, durations. Knows nothing of what is counted."""

from __future__ import annotations

from zot_core.types.usage import Usage


def amount(tokens: int) -> str:
    """Tokens in short: 950, 12.3k, 128k, 1.2M, 2M."""
    if tokens < 1000:
        return str(tokens)
    if tokens < 999_500:
        return f"{_short(tokens / 1000)}k"
    return f"{_short(tokens / 1_000_000)}M"


def arrows(used: Usage) -> str:
    """Tokens that went to models, and that came from them."""
    return f"↑{amount(used.input + used.cache_read + used.cache_write)} ↓{amount(used.output)}"


def money(dollars: float) -> str:
    """US dollars, with as many places as say something."""
    return f"${dollars:.2f}" if dollars >= 0.1 else f"${dollars:.4f}"


def duration(seconds: float, places: int = 0) -> str:
    """Seconds with so many places, from a minute on minutes and seconds."""
    if round(seconds) < 60:
        return f"{seconds:.{places}f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0") if number < 99.95 else f"{number:.0f}"

"""Anthropic's models. Prices in US dollars per million tokens, `cache_write` for a cache of five minutes.

A cache of an hour costs twice the input price to write. Of the levels, `off` is named where a model has to be told not
to think, and taken away where it always thinks; `xhigh` and `max` are there where the vendor names them. From the 5.5
generation on signatures are bound to all that was sent before them ("preserved thinking").
"""

from __future__ import annotations

from zot_core.types.specs import ModelSpec, Prices

_ADAPTIVE = {"thinking": "adaptive"}
_BOUND = {"thinking": "adaptive", "bindsThinking": True}
_BUDGET = {"thinking": "budget", "interleavedThinking": True}
_ALWAYS = {"off": None, "minimal": None, "xhigh": "xhigh", "max": "max"}
_BY_DEFAULT = {"off": "disabled", "minimal": None, "xhigh": "xhigh", "max": "max"}
_ON_REQUEST = {"minimal": None, "xhigh": "xhigh", "max": "max"}

MODELS = (
    # Window, limit, thinking, prices: https://platform.claude.com/docs/en/models/overview (the stored page that names
    # Fable 5.2, released 2026-11-09). Cache prices: https://github.com/archid21/rightsize/releases/tag/v0.10.2 and
    # https://docs.laozhang.ai/announcements/claude-fable-5-2-2026-11.md (2026-11-10)
    ModelSpec(
        id="claude-fable-5-2",
        provider="anthropic",
        name="Claude Fable 5.2",
        context_window=1_000_000,
        max_output=128_000,
        inputs=("text", "image"),
        reasoning=True,
        thinking_levels=_ALWAYS,
        prices=Prices(input=8.0, output=40.0, cache_read=0.2, cache_write=10.0),
        compat=_BOUND,
    ),
    # https://platform.claude.com/docs/en/models/overview and the migration guide of Opus 5.5 (released 2026-09-22).
    # Cache prices: https://github.com/kurofune/claudit/releases/tag/v1.8.2, checked with the vendor's on 2026-09-23
    ModelSpec(
        id="claude-opus-5-5",
        provider="anthropic",
        name="Claude Opus 5.5",
        context_window=1_000_000,
        max_output=128_000,
        inputs=("text", "image"),
        reasoning=True,
        thinking_levels=_ALWAYS,
        prices=Prices(input=4.0, output=20.0, cache_read=0.2, cache_write=5.0),
        compat=_BOUND,
    ),
    # https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5 (released 2026-09-28): refuses
    # `disabled`; its lowest setting, `between_tools`, still thinks where tools are, so here the lowest level is `low`.
    # Cache reads since 2026-10-07: https://github.com/kurofune/claudit/releases/tag/v1.9.2 (2026-10-24)
    ModelSpec(
        id="claude-sonnet-5-5",
        provider="anthropic",
        name="Claude Sonnet 5.5",
        context_window=1_000_000,
        max_output=128_000,
        inputs=("text", "image"),
        reasoning=True,
        thinking_levels=_ALWAYS,
        prices=Prices(input=2.0, output=10.0, cache_read=0.1, cache_write=2.5),
        compat=_BOUND,
    ),
    # https://platform.claude.com/docs/en/models/haiku-5-5/overview (released 2026-10-07): a prompt above 100,000 tokens
    # costs five times as much, all of it. `disabled`: https://docs.apiyi.com/en/live/2026-11/claude-thinking-guide-refresh
    ModelSpec(
        id="claude-haiku-5-5",
        provider="anthropic",
        name="Claude Haiku 5.5",
        context_window=1_000_000,
        max_output=128_000,
        inputs=("text", "image"),
        reasoning=True,
        thinking_levels=_BY_DEFAULT,
        prices=Prices(input=0.1, output=0.5, cache_read=0.01, cache_write=0.125),
        compat={**_BOUND, "longPrompts": {"above": 100_000, "times": 5}},
    ),
    # https://platform.claude.com/docs/en/models/opus-5/overview (released 2026-07-24)
    ModelSpec(
        id="claude-opus-5",
        provider="anthropic",
        name="Claude Opus 5",
        context_window=1_000_000,
        max_output=128_000,
        inputs=("text", "image"),
        reasoning=True,
        thinking_levels=_BY_DEFAULT,
        prices=Prices(input=5.0, output=25.0, cache_read=0.5, cache_write=6.25),
        compat=_ADAPTIVE,
    ),
    # Window, limit, price: https://platform.claude.com/docs/en/models (the stored page that names Opus 5.5, September
    # 2026). Levels, `disabled`: https://docs.anyfast.ai/guides/model-api/anthropic/claude-sonnet-5. Cache reads at a
    # tenth and writes at 1.25 of the input price: https://docs.rs/synaps/0.10.2/synaps_cli/pricing/ (2026-10-10)
    ModelSpec(
        id="claude-sonnet-5",
        provider="anthropic",
        name="Claude Sonnet 5",
        context_window=1_000_000,
        max_output=128_000,
        inputs=("text", "image"),
        reasoning=True,
        thinking_levels=_BY_DEFAULT,
        prices=Prices(input=2.0, output=10.0, cache_read=0.2, cache_write=2.5),
        compat=_ADAPTIVE,
    ),
    # Window, limit: https://platform.claude.com/docs/en/models/opus-5/migration-guide (July 2026).
    # Prices: https://platform.claude.com/docs/en/about-claude/pricing (the stored page that names Fable 5.1, September
    # 2026), which also has Haiku 4.5's
    ModelSpec(
        id="claude-opus-4-8",
        provider="anthropic",
        name="Claude Opus 4.8",
        context_window=1_000_000,
        max_output=128_000,
        inputs=("text", "image"),
        reasoning=True,
        thinking_levels=_ON_REQUEST,
        prices=Prices(input=5.0, output=25.0, cache_read=0.5, cache_write=6.25),
        compat=_ADAPTIVE,
    ),
    # https://platform.claude.com/docs/en/models (the stored page of September 2026); takes a budget, no effort. Cache
    # prices by the vendor's standard factors, 0.1 and 1.25
    ModelSpec(
        id="claude-haiku-4-5",
        provider="anthropic",
        name="Claude Haiku 4.5",
        context_window=200_000,
        max_output=64_000,
        inputs=("text", "image"),
        reasoning=True,
        prices=Prices(input=1.0, output=5.0, cache_read=0.1, cache_write=1.25),
        compat=_BUDGET,
    ),
)

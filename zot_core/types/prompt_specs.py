"""Specs of what prompts and conversations are made of: sections of the system prompt, expansions, summaries.

Part of `zot_core.types.specs`, which is where everybody imports them from.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from zot_core.types.record import record

Ref: TypeAlias = str
Json: TypeAlias = Mapping[str, Any]


@record(kw_only=True)
class PromptSection:
    """A part of the system prompt. `context_file` sections carry the `path` that they were read from."""

    name: str
    text: str
    kind: Literal["context_file", "skills", "section"] = "section"
    path: str = ""


@record(kw_only=True)
class PromptSource:
    """Where sections of the system prompt come from. `read()`, or `read(ctx)` where `with_ctx` asks for it, is called
    before each run; what it returns is compared with what it returned before, and a difference makes the prompt be
    prepared anew."""

    name: str
    read: Callable[..., Sequence[PromptSection]]
    with_ctx: bool = False


@record(kw_only=True)
class ExpansionName:
    """A name that an Expansion knows, without its `/`, for menus and for what is said of a misspelt one."""

    name: str
    description: str = ""
    argument_hint: str = ""


@record(kw_only=True)
class Expansion:
    """What prompts that begin with `/` and name no command may become, as skills and prompt templates do.

    `expand(text, ctx) -> str | None` is asked after `input` with the whole prompt; None says that it is not meant. It
    may be async. `names(ctx) -> Sequence[ExpansionName]` lists what it knows now.
    """

    name: str
    expand: Callable[..., Any] | Ref
    names: Callable[..., Sequence[ExpansionName]] | Ref


@record(kw_only=True)
class Summary:
    """What takes the place of the older part of a conversation; `usage` is what it cost to write."""

    text: str
    usage: Any = None
    details: Json | None = None


@record(kw_only=True)
class Summarizer:
    """Who writes the summaries of compactions.

    `summarize` is `async def summarize(preparation, ctx, instructions: str, signal) -> Summary`; the preparation
    (zot_core.compaction.cutting) holds the messages that the summary will stand for and the summary that went before.
    Raises RunFailed when it cannot be had; then nothing is stored.
    """

    name: str
    summarize: Callable[..., Awaitable[Summary]] | Ref

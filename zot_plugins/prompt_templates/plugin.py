"""Contributes prompt templates as expansions; nothing of them is imported before `/x` is typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zot_core import hookimpl
from zot_core.types.specs import Expansion, ExpansionName, SessionFacts, resolve


@hookimpl
def expansions(session: SessionFacts) -> list[Expansion]:
    """`/NAME` for each `prompts/NAME.md`."""

    def expand(text: str, ctx: Any) -> str | None:
        return resolve("zot_plugins.prompt_templates.templates:expand")(text, ctx, session.home)  # type: ignore[no-any-return]

    def names(ctx: Any) -> Sequence[ExpansionName]:
        return resolve("zot_plugins.prompt_templates.templates:names")(ctx, session.home)  # type: ignore[no-any-return]

    return [Expansion(name="prompt_templates", expand=expand, names=names)]

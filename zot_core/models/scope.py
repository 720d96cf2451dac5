"""The models that a person goes through: patterns of the line or the settings, and the models that they mean. Pure.

A pattern is a glob on `provider/id`, or on the id where that means nothing or has no slash, with `:level` to pin how
much the model thinks. `*` stands for slashes too, because ids have some.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase

from zot_core.models.naming import near, readings
from zot_core.types.record import record
from zot_core.types.specs import ModelSpec, ThinkingLevel


@record(kw_only=True)
class ScopedModel:
    """A model of the scope; `level` is set when a pattern pinned it."""

    model: ModelSpec
    level: ThinkingLevel | None = None

    @property
    def name(self) -> str:
        """`provider/id`."""
        return f"{self.model.provider}/{self.model.id}"


def scope_of(
    patterns: Iterable[str], models: Sequence[ModelSpec], aside: Callable[[ModelSpec], bool] = lambda model: False
) -> tuple[list[ScopedModel], list[str]]:
    """The models that the patterns mean, in their order, each once as its first pattern has it; and the patterns that
    mean none. Of the models that a bare id means, those that `aside` names count only where there are no others."""
    found: dict[tuple[str, str], ScopedModel] = {}
    unmatched: list[str] = []
    for pattern in patterns:
        matching, level = _matching(pattern, models, aside)
        if not matching:
            unmatched.append(pattern)
        for model in matching:
            found.setdefault((model.provider, model.id), ScopedModel(model=model, level=level))
    return list(found.values()), unmatched


def unmatched_words(pattern: str, models: Iterable[ModelSpec]) -> str:
    """What to tell a person whose pattern means no model."""
    names = {f"{model.provider}/{model.id}" if "/" in pattern else model.id for model in models}
    return f"no model fits {pattern!r}{near(readings(pattern)[-1][0], names, 0.7)}"


def _matching(
    pattern: str, models: Sequence[ModelSpec], aside: Callable[[ModelSpec], bool]
) -> tuple[list[ModelSpec], ThinkingLevel | None]:
    for text, level in readings(pattern):
        wanted = text.lower()
        whole = [model for model in models if fnmatchcase(f"{model.provider}/{model.id}".lower(), wanted)]
        if "/" in wanted and whole:
            return whole, level
        found = [model for model in models if fnmatchcase(model.id.lower(), wanted)]
        if found:
            return [model for model in found if not aside(model)] or found, level
    return [], None

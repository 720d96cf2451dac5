"""The system prompt: its base, assembled from data, and its epochs, through which plugins may change it.

Must not read files: context files and skills come as sections.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from zot_core.agent.cancel import Aborted, Signal, interruptible
from zot_core.events.agent import PrepareSystemPromptEvent, SystemPromptOptions
from zot_core.types.messages import new_id
from zot_core.types.specs import PromptSection, ToolSpec

if TYPE_CHECKING:
    from zot_core.agent.config import TurnConfig
    from zot_core.agent.sink import Sink

IDENTITY = (
    "You are zot, a coding agent that works in a person's terminal. You read, change and run what is in their project "
    "with the tools below, and you say what you did in few words."
)
MAX_PASSES = 8
"""After so many passes that were discarded the next one holds, come what may: a handler that raises the epoch in its
own pass must not keep a person waiting for ever."""


def options_for(
    tools: Mapping[str, ToolSpec],
    sections: Iterable[PromptSection] = (),
    *,
    cwd: str,
    custom_prompt: str | None = None,
    append: Sequence[str] = (),
) -> SystemPromptOptions:
    """The options of a base prompt from the active tools and the sections that sources brought."""
    sections = tuple(sections)
    specs = [tools[name] for name in sorted(tools)]
    return SystemPromptOptions(
        custom_prompt=custom_prompt,
        selected_tools=tuple(spec.name for spec in specs),
        tool_snippets={spec.name: spec.prompt_snippet for spec in specs if spec.prompt_snippet},
        prompt_guidelines=tuple(dict.fromkeys(line for spec in specs for line in spec.prompt_guidelines)),
        append_system_prompt=tuple(append),
        cwd=cwd,
        context_files=tuple((s.path or s.name, s.text) for s in sections if s.kind == "context_file"),
        skills=tuple(s.name for s in sections if s.kind == "skills"),
    )


def build_base(
    options: SystemPromptOptions,
    sections: Iterable[PromptSection] = (),
    *,
    date: str,
    identity: str = IDENTITY,
    guidelines: Sequence[str] = (),
) -> str:
    """The base prompt. A custom prompt takes the place of identity, tools and guidelines, of nothing else.

    `date` is a day, not a time, and stands with the cwd at the end: what changes must come last for caches to hold.
    `guidelines` come before those of the tools.
    """
    parts: list[str] = []
    if options.custom_prompt is not None:
        parts.append(options.custom_prompt)
    else:
        parts.append(identity)
        snippets = [(name, options.tool_snippets.get(name)) for name in options.selected_tools]
        parts.append(_list("Available tools", (f"{name}: {text}" for name, text in snippets if text)))
        parts.append(_list("Guidelines", dict.fromkeys((*guidelines, *options.prompt_guidelines))))
    sections = tuple(sections)
    files = dict(options.context_files)
    files.update((s.path or s.name, s.text) for s in sections if s.kind == "context_file")
    if files:
        intro = "Instructions of the project and its people. They hold for all work here; later ones win."
        texts = (f'<context_file path="{path}">\n{text.strip()}\n</context_file>' for path, text in files.items())
        parts.append("\n\n".join((f"# Project context\n\n{intro}", *texts)))
    parts.append("\n".join(s.text for s in sections if s.kind == "skills"))
    parts.extend(s.text for s in sections if s.kind == "section")
    parts.extend(options.append_system_prompt)
    parts.append(f"Current date: {date}\nCurrent working directory: {options.cwd}")
    return "\n\n".join(stripped for part in parts if (stripped := part.strip()))


def _list(title: str, lines: Iterable[str]) -> str:
    items = [f"- {line.strip()}" for line in lines if line.strip()]
    return "\n".join((f"# {title}", *items)) if items else ""


class PromptState:
    """The prepared system prompt of a conversation and the epoch that it belongs to.

    Whoever changes what the prompt is made of (model, conversation, session, active tools with snippets or guidelines,
    skills, context files) calls `raise_epoch`; the next model call then waits for a new pass over the handlers.
    """

    __slots__ = ("_done", "_passing", "epoch", "text")

    def __init__(self) -> None:
        self.epoch = 0
        self.text = ""
        """The prompt of the last pass that was committed, for `ctx.system_prompt()`."""
        self._done = -1
        self._passing: Signal | None = None

    def raise_epoch(self, reason: str = "") -> None:
        """Makes the prompt be prepared anew; a pass that is under way is cancelled at once and its replies are dropped,
        even if the base stays the same."""
        self.epoch += 1
        if self._passing is not None:
            self._passing.abort(reason or "epoch")

    @property
    def is_prepared(self) -> bool:
        """Whether the prompt of this epoch is known already."""
        return self._done == self.epoch

    async def prepare(self, config: Callable[[], TurnConfig], sink: Sink, signal: Signal) -> tuple[TurnConfig, str]:
        """The configuration and the prompt that belongs to it; one pass over the handlers per epoch.

        Raises Aborted when `signal` is; then nothing is committed.
        """
        snapshot = config()
        passes = 0
        while not self.is_prepared:
            epoch = self.epoch
            self._passing = moved = Signal()
            if passes >= MAX_PASSES:
                self._passing = None
            try:
                with interruptible(signal), interruptible(moved):
                    text = await self._pass(snapshot, sink)
            except Aborted:
                if signal.aborted:
                    raise
            else:
                if signal.aborted:
                    raise Aborted(signal.reason)
                if self.epoch == epoch or passes >= MAX_PASSES:
                    self.text = text
                    self._done = self.epoch
            finally:
                self._passing = None
            passes += 1
            snapshot = config()
        return snapshot, self.text

    async def _pass(self, config: TurnConfig, sink: Sink) -> str:
        base = config.system
        if callable(base):
            built = base()
            base = await built if inspect.isawaitable(built) else built
        if not sink.wants("prepare_system_prompt"):
            return base
        event = PrepareSystemPromptEvent(
            system_prompt=base,
            session_id=config.session_id,
            agent_run_id=new_id(),
            cwd=config.cwd,
            provider=config.model.provider,
            model=config.model.id,
        )
        return (await sink.gate(event)).event.system_prompt

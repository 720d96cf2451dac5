"""What a run is given before each model call: model, tools, system prompt, and the doors that a turn may use.

Must not know how a run goes; it asks here each time, so that a change holds from the next call on.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from zot_core.agent.cancel import Signal
from zot_core.agent.config import Fitted, TurnConfig, Update
from zot_core.agent.prompt import build_base, options_for
from zot_core.ctx.context import ToolCtx
from zot_core.types.content import Text

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from zot_core.runtime.runtime import Runtime
    from zot_core.types.content import ToolCall
    from zot_core.types.failure import Failure
    from zot_core.types.specs import PromptSection, ToolSpec


SHORT = 1000
"""So many characters fit in any case, in lines too."""


def _fit(name: str, content: Fitted) -> Fitted | Awaitable[Fitted]:
    if sum(len(block.text) for block in content if isinstance(block, Text)) <= SHORT:
        return content
    from zot_core.toolkit.fitting import fitted  # not needed for a first request

    return fitted(name, content)


class Turns:
    """The configurations of one session's turns."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._sections: tuple[PromptSection, ...] | None = None
        self._prompt_shape: Any = None

    def config(self) -> TurnConfig:
        """The configuration of the next model call. Raises RunFailed when no model is chosen."""
        model = self._runtime.choice.require()
        tools = self._runtime.toolbox.active()
        sections = self._prompt_sections()
        options = options_for(
            tools,
            sections,
            cwd=self._runtime.cwd,
            custom_prompt=self._runtime.app.custom_prompt,
            append=self._runtime.app.options.append_system_prompt,
        )
        # What the prompt says decides its epoch: a tool that it does not mention may come and go within one.
        told = (options.tool_snippets, options.prompt_guidelines, options.custom_prompt, options.append_system_prompt)
        shape = (told, sections, model.provider, model.id)
        if shape != self._prompt_shape:
            if self._prompt_shape is not None:
                self._runtime.state.prompt.raise_epoch("prompt")
            self._prompt_shape = shape
        return TurnConfig(
            model=model,
            api=model.api,
            stream=self._runtime.choice.stream,
            tool_context=self._tool_context,
            tools=tools,
            thinking=self._runtime.choice.thinking,
            system=lambda: build_base(options, sections, date=datetime.date.today().isoformat()),
            options=options,
            session_id=self._runtime.session.id,
            cwd=self._runtime.cwd,
            max_steps=self._runtime.app.options.max_steps or self._runtime.settings.values.max_steps,
            activate_tools=self._activate,
            find_tool=self._find_tool,
            on_overflow=self._make_room,
            fit=_fit,
        )

    def refresh_prompt(self) -> None:
        """Lets the next model call look at context files and other sources again."""
        self._sections = None

    def _prompt_sections(self) -> tuple[PromptSection, ...]:
        if self._sections is None:
            found: list[PromptSection] = []
            for plugin, source in self._runtime.prompt_sources:
                try:
                    found.extend(source.read(self._runtime.context(plugin)) if source.with_ctx else source.read())
                except Exception as error:  # a plugin's reader; the others' sections stay
                    self._runtime.host.pipeline.broken(plugin, "prompt_sources", error)
            self._sections = tuple(found)
        return self._sections

    def _tool_context(self, call: ToolCall, update: Update, signal: Signal) -> ToolCtx:
        return ToolCtx(self._runtime, self._runtime.toolbox.owner_of(call.name), call.id, signal, update)

    async def _make_room(self, failure: Failure) -> bool:
        return await self._runtime.compactor.on_overflow(failure)

    async def _activate(self, names: tuple[str, ...]) -> tuple[str, ...]:
        added = self._runtime.toolbox.activate(names)
        if added and self._runtime.sink.wants("tool_activated"):
            from zot_core.events.tool import ToolActivatedEvent

            await self._runtime.sink.tell(ToolActivatedEvent(tool_names=added))
        return added

    async def _find_tool(self, name: str) -> ToolSpec | None:
        tool = self._runtime.toolbox.find(name)
        if tool is not None:
            await self._activate((name,))
        return tool

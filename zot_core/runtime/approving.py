"""Asking a person whether a tool call may run: builds the preview, tells plugins, asks one at a time.

Whether to ask is not decided here; that is the permission plugin's.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from typing import TYPE_CHECKING

from zot_core.ctx.asking import blocked
from zot_core.ctx.null_ui import Approved
from zot_core.types.specs import resolve

if TYPE_CHECKING:
    from zot_core.ctx.protocols import Approval, FrontUi
    from zot_core.events.tool import ToolCallEvent
    from zot_core.runtime.runtime import Runtime

PREVIEW_LIMIT = 20_000
"""Characters of a call's arguments that a preview shows when the tool has no preview of its own."""


class Approvals:
    """The queue of questions of one session."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._turn = asyncio.Lock()

    async def ask(self, call: ToolCallEvent) -> Approval:
        """The person's answer; where nobody can be asked it is no, with the reason, and nothing is told."""
        runtime = self._runtime
        ui: FrontUi = runtime.front.ui
        preview = await self._preview(call)
        if not runtime.has_ui:
            return await ui.approve(call.call_id, call.tool_name, preview)
        async with self._turn:
            if runtime.runs.signal is not None and runtime.runs.signal.aborted:
                return Approved(allowed=False, reason="aborted by the user")
            if runtime.sink.wants("tool_confirmation_requested"):
                from zot_core.events.tool import ToolConfirmationRequestedEvent

                event = ToolConfirmationRequestedEvent(call_id=call.call_id, tool_name=call.tool_name, preview=preview)
                await runtime.sink.tell(event)
            asked = ui.approve(call.call_id, call.tool_name, preview)
            approved: Approval = await blocked(runtime.bus.emit, [f"Run {call.tool_name}?"], asked)
            return approved

    async def _preview(self, call: ToolCallEvent) -> str:
        spec = self._runtime.toolbox.get(call.tool_name)
        if spec is not None and spec.preview is not None:
            try:
                args = resolve(spec.arguments).model_validate(dict(call.args)) if spec.arguments else dict(call.args)
                said = resolve(spec.preview)(args)
                return str(await said if inspect.isawaitable(said) else said)
            except Exception as error:  # the tool's own preview; the arguments are shown instead
                self._runtime.host.pipeline.broken(self._runtime.toolbox.owner_of(call.tool_name), "preview", error)
        text = json.dumps(dict(call.args), ensure_ascii=False, default=str)
        return text if len(text) <= PREVIEW_LIMIT else f"{text[:PREVIEW_LIMIT]}… ({len(text)} characters)"

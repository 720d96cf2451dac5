"""Compaction of a session: asks plugins, has the summary written, checks it, and only then stores it.

Where to cut is `zot_core.compaction`'s, when to compact and who writes the summary is a plugin's. Whatever goes wrong
leaves the conversation as it was.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Literal

from zot_core import events
from zot_core.agent.cancel import Aborted, Signal, interruptible
from zot_core.compaction.cutting import Preparation, Row, prepare, problem
from zot_core.compaction.estimate import message_tokens
from zot_core.events.base import Block
from zot_core.events.session import Compaction
from zot_core.plugins.chain import dispatching
from zot_core.plugins.errors import WouldDeadlock
from zot_core.session.codec import encode_usage
from zot_core.session.context import context_message
from zot_core.types.failure import Failure, RunFailed, UsageError
from zot_core.types.safe_text import error_text
from zot_core.types.specs import Summarizer, resolve

if TYPE_CHECKING:
    from zot_core.runtime.runtime import Runtime

Reason = Literal["manual", "threshold", "overflow"]

KEEP_TOKENS = 20_000
"""About how many tokens of the newest messages stay as they are, in tokens: pi's default."""
KEEP_PART = 0.25
"""The most of a window that stays: a small one must not be filled by what was kept."""
BOUNDARIES = ("turn_end", "agent_start", "agent_before_settle")
"""Handlers of these may compact within a run: every call has its result there."""


class Compactor:
    """The compactions of one Runtime."""

    def __init__(self, runtime: Runtime, summarizers: list[tuple[str, Summarizer]]) -> None:
        self._runtime = runtime
        self._summarizers = summarizers
        self.keep_tokens = KEEP_TOKENS

    async def run(self, reason: Reason = "manual", instructions: str = "") -> bool:
        """Compacts once nothing runs, or at once at a boundary of the run; False when a plugin refused it.

        Raises WouldDeadlock elsewhere within a run, UsageError when there is nothing to compact or nobody writes
        summaries, RunFailed when the summary could not be had.
        """
        runs = self._runtime.runs
        if not runs.inside():
            return await runs.exclusive(lambda signal: self._compact(reason, instructions, signal))
        if not (set(dispatching()[:1]) & set(BOUNDARIES)):
            raise WouldDeadlock(
                "a compaction cannot begin in the middle of a turn; begin it in a handler of turn_end or agent_start, "
                "or use ctx.compact(), which waits until the run is over"
            )
        return await self._compact(reason, instructions, runs.signal or Signal())

    async def on_overflow(self, failure: Failure) -> bool:
        """Makes room after a model refused the conversation as too long; False when that was not possible."""
        if not self._summarizers:
            return False
        try:
            return await self._compact("overflow", "", self._runtime.runs.signal or Signal())
        except (RunFailed, UsageError):
            return False  # told already; the model's own refusal is what the run ends with

    async def _compact(self, reason: Reason, instructions: str, signal: Signal) -> bool:
        runtime, sink = self._runtime, self._runtime.sink
        rows = self._rows()
        preparation = self._prepare(rows, reason)
        compaction: Compaction | None = None
        event = events.SessionBeforeCompactEvent(
            preparation=preparation,
            branch_entries=tuple(runtime.session.branch()) if sink.wants("session_before_compact") else (),
            custom_instructions=instructions,
            reason=reason,
            will_retry=reason == "overflow",
            signal=signal,
        )
        if sink.wants("session_before_compact"):
            outcome = await sink.gate(event)
            if isinstance(outcome.stop, Block):
                cause = outcome.stop.reason or f"refused by {outcome.plugin}"
                await self._rejected(reason, cause)
                return False
            compaction = outcome.event.compaction
        given = compaction is not None
        try:
            if compaction is None:
                with interruptible(signal):
                    compaction = await self._written(preparation, instructions, signal)
            wrong = problem(rows, compaction.summary, compaction.first_kept_entry_id)
            if wrong:
                raise RunFailed(Failure(kind="provider", message=wrong))
        except Aborted:
            await self._failed(reason, "", given, aborted=True)
            return False
        except RunFailed as error:
            await self._failed(reason, error.failure.message, given)
            raise
        await self._store(compaction, reason, given)
        return True

    def _rows(self) -> list[Row]:
        entries = self._runtime.session.context_entries()
        rows = [(entry.id, context_message(entry)) for entry in entries if entry.kind != "compaction"]
        return [(entry_id, message) for entry_id, message in rows if message is not None]

    def _prepare(self, rows: list[Row], reason: Reason) -> Preparation:
        if not self._summarizers and not self._runtime.host.pipeline.intercepts("session_before_compact"):
            raise UsageError("no loaded plugin writes summaries, so nothing can be compacted")
        usage = self._runtime.context_usage()
        first = next(iter(self._runtime.session.context_entries()), None)
        previous = str(first.data.get("summary", "")) if first is not None and first.kind == "compaction" else ""
        whole = sum(message_tokens(message) for _, message in rows)
        keep = min(self.keep_tokens, int(usage.window * KEEP_PART) or self.keep_tokens)
        if whole <= keep and reason != "threshold":
            keep = whole // 4  # asked for, or refused as too long: something has to go
        found = prepare(rows, keep_tokens=keep, tokens_before=usage.tokens, previous_summary=previous)
        if found is None:
            raise UsageError("there is nothing to compact yet")
        return found

    async def _written(self, preparation: Preparation, instructions: str, signal: Signal) -> Compaction:
        if not self._summarizers:
            raise RunFailed(Failure(kind="internal", message="no loaded plugin writes summaries"))
        plugin, summarizer = self._summarizers[0]
        runtime = self._runtime
        try:
            answer = resolve(summarizer.summarize)(preparation, runtime.context(plugin), instructions, signal)
            answer = await answer if inspect.isawaitable(answer) else answer
        except (RunFailed, asyncio.CancelledError):
            raise
        except Exception as error:  # the plugin's own code; the conversation stays as it was
            runtime.host.pipeline.broken(plugin, "summarizers", error)
            message = f"plugin {plugin} could not write the summary: {error_text(error)}"
            raise RunFailed(Failure(kind="internal", message=message)) from error
        return Compaction(
            summary=answer.text,
            first_kept_entry_id=preparation.first_kept_entry_id,
            tokens_before=preparation.tokens_before,
            usage=answer.usage,
            details=answer.details,
        )

    async def _store(self, compaction: Compaction, reason: Reason, given: bool) -> None:
        runtime = self._runtime
        session = runtime.session
        fields: dict[str, object] = {
            "summary": compaction.summary,
            "first_kept_entry_id": compaction.first_kept_entry_id,
            "tokens_before": compaction.tokens_before,
            "tokens_after": self._tokens_after(compaction),
        }
        if compaction.usage is not None:
            fields["usage"] = encode_usage(compaction.usage)
        if compaction.details:
            fields["details"] = dict(compaction.details)
        entry = session.append("compaction", fields)
        runtime.state.messages[:] = session.messages()
        if runtime.sink.wants("session_compact"):
            await runtime.sink.tell(
                events.SessionCompactEvent(
                    accepted=True,
                    reason=reason,
                    compaction_entry=entry,
                    from_plugin=given,
                    will_retry=reason == "overflow",
                )
            )

    def _tokens_after(self, compaction: Compaction) -> int:
        rows = self._rows()
        start = next(place for place, row in enumerate(rows) if row[0] == compaction.first_kept_entry_id)
        return len(compaction.summary) // 4 + sum(message_tokens(message) for _, message in rows[start:])

    async def _rejected(self, reason: Reason, cause: str) -> None:
        self._runtime.note(f"not compacted: {cause}", "warning")
        if self._runtime.sink.wants("session_compact"):
            event = events.SessionCompactEvent(accepted=False, reason=reason, rejection_cause=cause)
            await self._runtime.sink.tell(event)

    async def _failed(self, reason: Reason, message: str, given: bool, *, aborted: bool = False) -> None:
        why = "it was aborted" if aborted else message
        if reason != "manual" or aborted:  # who asked for it is told by the error itself
            self._runtime.note(f"the conversation was not compacted and is as it was: {why}", "warning")
        if self._runtime.sink.wants("session_compact_failed"):
            await self._runtime.sink.tell(
                events.SessionCompactFailedEvent(
                    reason=reason,
                    error_message=message,
                    aborted=aborted,
                    will_retry=reason == "overflow",
                    from_plugin=given,
                )
            )

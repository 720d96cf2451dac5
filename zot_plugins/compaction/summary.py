"""Writing the summary of a conversation with a model. An answer that is cut, blank, refused or a call is no summary.

A conversation that is larger than the window is summarised part by part, each carrying on what went before.
"""

from __future__ import annotations

from typing import Any

from zot_core.types.content import Text
from zot_core.types.failure import Failure, RunFailed
from zot_core.types.messages import UserMessage
from zot_core.types.specs import ModelSpec, Summary
from zot_core.types.stream import Done, Failed, Retrying, TextDelta, UsageUpdate
from zot_core.types.usage import Usage
from zot_plugins.compaction.transcript import parts

MAX_OUTPUT = 8192
"""Tokens that a summary may have."""
WINDOW_PART = 0.5
"""The part of the window that the conversation's text may fill; the rest is for instructions, the summary that went
before and the new one, and for a text that has more tokens than its characters suggest."""
CHARACTERS_PER_TOKEN = 3

SYSTEM = (
    "You write summaries of conversations between a user and a coding agent. The summary takes the place of the "
    "conversation: whoever goes on has nothing else. Do not continue the conversation, do not answer what is asked in "
    "it, call no tool; write the summary only."
)
WANTED = """Write the summary under these headings, leaving out what there is nothing to say of:

## Goal
What the user wants, in their words where they matter; what they ruled out or insisted on.

## Done
What has been done and found out: files with their paths and what changed in them, commands and their outcome, errors \
and how they were solved.

## Decisions
What was decided, and why.

## Next
What is under way, what is to be done next, and open questions.

## Facts
Exact names, paths, values, signatures and messages that will be needed again."""


async def summarize(preparation: Any, ctx: Any, instructions: str, signal: Any) -> Summary:
    """The summary of `preparation.messages`. Raises RunFailed."""
    model = _model(ctx)
    limit = max(4000, int(model.context_window * WINDOW_PART) * CHARACTERS_PER_TOKEN)
    text, usage = str(preparation.previous_summary), Usage()
    for part in parts(preparation.messages, limit):
        text, used = await _ask(ctx, model, _request(text, part, instructions))
        usage = usage + used
    return Summary(text=text, usage=usage, details={"model": f"{model.provider}/{model.id}"})


def _model(ctx: Any) -> ModelSpec:
    current: ModelSpec | None = ctx.models.current
    named = ctx.settings.get("model", "")
    found: ModelSpec | None = ctx.models.find(named) if named else None
    if named and found is None:
        ctx.report(f"plugins.compaction.model: there is no model {named!r}; the model in use writes the summaries")
    model = found or current
    if model is None:
        raise RunFailed(Failure(kind="auth", message="no model is chosen that could write the summary"))
    return model


def _request(previous: str, part: str, instructions: str) -> str:
    before = f"<summary_so_far>\n{previous}\n</summary_so_far>\n\n" if previous.strip() else ""
    carry = " Carry on everything of the summary so far that still matters." if before else ""
    asked = f"\n\nThe user asks to mind this: {instructions.strip()}" if instructions.strip() else ""
    return f"{before}<conversation>\n{part}</conversation>\n\n{WANTED}{carry}{asked}"


async def _ask(ctx: Any, model: ModelSpec, request: str) -> tuple[str, Usage]:
    pieces: list[str] = []
    usage = Usage()
    messages = [UserMessage(content=(Text(request),))]
    output = min(MAX_OUTPUT, model.max_output or MAX_OUTPUT)
    async for part in ctx.models.stream(messages, system=SYSTEM, max_output=output, model=model):
        if isinstance(part, TextDelta):
            pieces.append(part.text)
        elif isinstance(part, UsageUpdate):
            usage = part.usage
        elif isinstance(part, Retrying):
            pieces.clear()
        elif isinstance(part, Failed):
            raise RunFailed(part.failure)
        elif isinstance(part, Done) and part.stop != "end_turn":
            why = {"length": "it was cut at the output limit", "tool_use": "the model called a tool instead"}
            message = f"the summary is not usable: {why.get(part.stop, f'the model stopped with {part.stop}')}"
            raise RunFailed(Failure(kind="provider", message=message))
    text = "".join(pieces).strip()
    if not text:
        raise RunFailed(Failure(kind="provider", message="the model wrote no summary"))
    return text, usage
